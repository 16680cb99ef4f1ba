package autograd

import "privrec/internal/tensor"

// GRUStates returns the states of a GRU cell after every step of some sequences, each from state 0 (N, d). gi (N, 3d)
// is the input's part of the gates, as in GRUGates; w (3d, d) and b (1, 3d) make the state's part of them, h·wᵀ + b.
// Rows start[p] to start[p+1] are step p, and start ends with N. The sequences stand longest first, so those with a
// step p+1 are the first ones of step p.
//
// The bits are those of one operation for each step and gate, but for the sign of zeros in gradients. A core takes some
// sequences through all their steps: it waits for no other, and the results of a step are in its cache when the next
// one reads them.
func (t *Tape) GRUStates(gi, w, b *Node, start []int, update bool) *Node {
	c := &gruAfter{gruStates: t.gruStates("gruStates", gi, w, b, start, 3*w.Cols()), update: update}
	c.gh, c.right = t.Buffer(gi.Rows(), 3*c.d), c.operand(w.V, true)
	c.run(c.forward, c.backward)
	return c.y.checked()
}

// gruAfter computes GRUStates.
type gruAfter struct {
	gruStates
	update bool
	gh     tensor.Matrix // the state's part of the gates (N, 3d)
	right  operand       // w in the direction of the pass
}

// gemmUncut is the least inner dimension that Gemm may cut, which gives other bits than a packed product.
const gemmUncut = 1024

// gruGrain is the number of sequences that a core takes at a time.
const gruGrain = 32

// gruStates holds what both forms of the cell need of a call.
type gruStates struct {
	t           *Tape
	gi, w, b, y *Node
	start       []int
	d           int
	whole       bool          // products may be cut: all sequences are taken at once
	gates       tensor.Matrix // r, z, c (N, 3d)
	zero        tensor.Matrix // the states before the first step
}

// gruStates checks the operands of an operation. inner is its widest inner dimension of a product.
func (t *Tape) gruStates(op string, gi, w, b *Node, start []int, inner int) gruStates {
	n, d := gi.Rows(), w.Cols()
	if gi.Cols() != 3*d || w.Rows() != 3*d || b.Rows() != 1 || b.Cols() != 3*d {
		fail(op, "gates are not three times as wide as the state", gi, w, b)
	}
	c := gruStates{t: t, gi: gi, w: w, b: b, start: start, d: d, whole: inner >= gemmUncut}
	if len(start) == 0 || start[0] != 0 || start[c.steps()] != n {
		failf(op, []*Node{gi}, "steps that do not cover %d rows", n)
	}
	for p := range c.steps() {
		if m := c.width(p); m < 0 || p > 0 && m > c.width(p-1) {
			failf(op, []*Node{gi}, "step %d of %d sequences", p, m)
		}
	}
	c.y = t.node(op, n, d, gi, w, b)
	c.gates, c.zero = t.Buffer(n, 3*d), t.BufferZero(c.width(0), d)
	gi.flat()
	return c
}

// run computes the states of all sequences by forward, and has their gradients computed by backward.
func (c *gruStates) run(forward func(lo, hi int), backward func()) {
	c.each(forward)
	if c.y.need {
		c.y.back = backward
	}
}

func (c *gruStates) steps() int { return len(c.start) - 1 }

// width returns the number of sequences that have step p.
func (c *gruStates) width(p int) int {
	if p == c.steps() {
		return 0
	}
	return c.start[p+1] - c.start[p]
}

// each calls f with ranges that cover the sequences.
func (c *gruStates) each(f func(lo, hi int)) {
	if c.whole {
		f(0, c.width(0))
		return
	}
	tensor.Parallel(c.width(0), gruGrain, func(_, lo, hi int) { f(lo, hi) })
}

// operand is the right operand of products with some rows at a time.
type operand struct {
	m          tensor.Matrix
	transposed bool
	packed     tensor.Packed
	whole      bool // Gemm packs it
}

// operand returns m as a right operand, transposed or not.
func (c *gruStates) operand(m tensor.Matrix, transposed bool) operand {
	o := operand{m: m, transposed: transposed, whole: c.whole}
	if c.whole {
		return o
	}
	k, n := m.Rows, m.Cols
	if transposed {
		k, n = n, k
	}
	o.packed = tensor.Pack(c.t.arena.take(tensor.PackedSize(k, n)), transposed, m)
	return o
}

// mul sets to to the product of a and the operand, or with add adds it.
func (o *operand) mul(a tensor.Matrix, add bool, to tensor.Matrix) {
	switch {
	case !o.whole:
		o.packed.Mul(a, add, to)
	case add:
		tensor.Gemm(false, o.transposed, 1, a, o.m, 1, to)
	default:
		tensor.Gemm(false, o.transposed, 1, a, o.m, 0, to)
	}
}

// at returns the rows of m that step p has of sequences lo to hi.
func (c *gruStates) at(m tensor.Matrix, p, lo, hi int) tensor.Matrix {
	return tensor.RowsView(m, c.start[p]+lo, c.start[p]+hi)
}

// before returns the states of sequences lo to hi before step p.
func (c *gruStates) before(p, lo, hi int) tensor.Matrix {
	if p == 0 {
		return tensor.RowsView(c.zero, lo, hi)
	}
	return c.at(c.y.V, p-1, lo, hi)
}

// forward computes the states of sequences lo to end.
func (c *gruAfter) forward(lo, end int) {
	for p := range c.steps() {
		hi := min(end, c.width(p))
		if hi <= lo {
			return
		}
		h, gh := c.before(p, lo, hi), c.at(c.gh, p, lo, hi)
		for i := range gh.Rows {
			copy(tensor.Row(gh, i), c.b.V.Data)
		}
		if p > 0 {
			c.right.mul(h, true, gh)
		}
		j := job{dst: c.at(c.y.V, p, lo, hi).Data, a: c.at(c.gi.V, p, lo, hi).Data, b: gh.Data, c: h.Data,
			d: c.at(c.gates, p, lo, hi).Data, w: c.d, flag: c.update}
		gruKernel(&j, 0, hi-lo)
	}
}

func (c *gruAfter) backward() {
	n := c.y.Rows()
	dgi, dgh, scratch := c.t.Buffer(n, 3*c.d), c.t.Buffer(n, 3*c.d), c.t.Buffer(c.width(0), c.d)
	c.right = c.operand(c.w.V, false)
	c.each(func(lo, hi int) { c.back(lo, hi, dgi, dgh, scratch) })
	for p := c.steps() - 1; p >= 0; p-- {
		if c.width(p) == 0 {
			continue
		}
		d := c.at(dgh, p, 0, c.width(p))
		if c.w.need && p > 0 {
			h := c.before(p, 0, c.width(p))
			if c.w.apart() {
				c.t.keep(c.w, d, h, 0)
			} else {
				g, beta := c.w.acc()
				tensor.Gemm(true, false, 1, d, h, beta, g)
			}
		}
		if c.b.need {
			c.t.colSums(d, c.b)
		}
	}
	if c.w.need && !c.w.apart() {
		c.w.accZero() // one step alone does not read w
	}
	if c.b.need && !c.b.apart() {
		c.b.accZero()
	}
	if c.gi.need {
		c.gi.give(dgi)
	}
}

// back writes the rows of dgi and dgh of sequences lo to end. It adds to the gradients of earlier states.
func (c *gruAfter) back(lo, end int, dgi, dgh, scratch tensor.Matrix) {
	for p := c.steps() - 1; p >= 0; p-- {
		hi := min(end, c.width(p))
		if hi <= lo {
			continue
		}
		h, d, dh := c.before(p, lo, hi), c.at(dgh, p, lo, hi), tensor.RowsView(scratch, lo, hi)
		j := job{a: c.at(c.y.G, p, lo, hi).Data, b: c.at(c.gh, p, lo, hi).Data, c: h.Data,
			d: c.at(c.gates, p, lo, hi).Data, dst: c.at(dgi, p, lo, hi).Data, e: d.Data, f: dh.Data, w: c.d,
			flag: c.update}
		gruBack(&j, 0, hi-lo)
		if p == 0 {
			return
		}
		to := c.at(c.y.G, p-1, lo, hi)
		if c.width(p) == c.width(p-1) { // the order of these sums decides bits
			tensor.Add(to.Data[:len(dh.Data)], dh.Data)
			c.right.mul(d, true, to)
		} else {
			c.right.mul(d, true, dh)
			tensor.Add(to.Data[:len(dh.Data)], dh.Data)
		}
	}
}
