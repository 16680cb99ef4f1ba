package autograd

import (
	"slices"

	"privrec/internal/tensor"
)

// Factor holds one use of a parameter in a step whose Tape keeps examples Apart. The gradient of the parameter is the
// sum of its factors' contributions. Each row of a factor belongs to one example, so the gradient of an example is the
// same sum over its rows alone.
//
// A product has Left (n, rows of the parameter from First on) and Right (n, its columns); it contributes LeftᵀRight. A
// look-up has no Left; row i of Right belongs to row Rows[i] of the parameter. Without Left and Rows all rows belong to
// the parameter's only row, as those of a bias do.
type Factor struct {
	Param       *Param
	Left, Right tensor.Matrix
	First       int
	Rows        []int32
}

// Factors returns the factors that Backward kept of a step with Apart set, in the order of the backward pass, look-ups
// last. They belong to the tape and are valid until Reset.
func (t *Tape) Factors() []Factor { return t.factors }

// apart reports whether x is a parameter whose gradient must not be formed.
func (x *Node) apart() bool { return x.t.Apart && x.leaf }

// keep records a use of the parameter w.
func (t *Tape) keep(w *Node, left, right tensor.Matrix, first int) {
	t.factors = append(t.factors, Factor{Param: w.param, Left: left, Right: right, First: first})
}

// keepLookups records the look-ups of a step. It fails if an operation formed the gradient of a parameter, since its
// examples can no longer be told apart.
func (t *Tape) keepLookups() {
	for i := range t.grads.n {
		e := &t.grads.entries[i]
		if e.leaf != nil && e.leaf.hasG {
			failf("backward", []*Node{e.leaf}, "an operation on %s cannot keep examples apart", e.p.Name)
		}
		e.lookups = slices.DeleteFunc(e.lookups, func(p lookup) bool { return !p.node.hasG })
		for _, p := range e.lookups {
			t.factors = append(t.factors, Factor{Param: e.p, Right: p.node.G, Rows: p.idx})
		}
	}
}

// keepable panics if examples are to be kept apart and the rows are taken in chunks.
func (c *tied) keepable(leaf *Node) {
	if leaf.apart() {
		failf("tiedCrossEntropy", []*Node{leaf}, "%d rows of %d classes are too many to keep examples apart", c.h.Rows,
			c.e.Rows)
	}
}

// keepTiles records the gradient of the logits, one factor for each tile of classes.
func (c *tied) keepTiles(leaf *Node) {
	if c.h.Rows == 0 {
		return
	}
	for k := range c.nt {
		m, _, v0 := c.tileOf(k)
		leaf.t.keep(leaf, m, c.h, c.lo+v0)
	}
}
