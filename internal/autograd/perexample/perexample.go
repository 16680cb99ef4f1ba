// Package perexample computes the lengths of the gradients of single examples, and weighted sums of these
// gradients, from one backward pass over a batch. No gradient of a single example need exist.
//
// The gradient of a weight matrix is a sum of outer products, LeftᵀRight, and the rows of both belong to examples.
// The squared length of one example's part is the sum over its rows i, j of (left_i·left_j)(right_i·right_j)
// (Goodfellow, "Efficient per-example gradient computations", 2015; Li et al., "Large language models can be
// strong differentially private learners", ICLR 2022, section 4). Where an example has so many rows that its part
// is cheaper to form, it is formed in scratch memory (Bu et al., "Scalable and efficient training of large
// convolutional neural networks with differential privacy", NeurIPS 2022). A table that is looked up and is an
// output too has both kinds of parts, and their inner product. The weighted sum takes the factors again, so there is
// no second backward pass (Bu et al., "Differentially private optimization on large model at small cost", ICML 2023).
package perexample

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Gradients holds the gradients of the single examples of one step, in factored form. It is valid until the tape's
// Reset.
type Gradients struct {
	n      int // examples
	tape   *autograd.Tape
	params []*param
	of     map[*autograd.Param]*param
}

// param holds a parameter with its factors.
type param struct {
	*autograd.Param
	blocks []block // products; those of one block add up in the same rows
	rows   []use   // look-ups and sums
}

// block holds the products that contribute to the same rows of a parameter.
type block struct {
	first, rows int // of the parameter
	uses        []use
}

// use holds a factor with the rows of every example.
type use struct {
	autograd.Factor
	off []int32 // example k has the rows off[k] to off[k+1]
}

// Of returns the gradients of a step whose tape kept examples apart. A layout says which rows belong to which example:
// example k has rows layout[k] to layout[k+1]. Give one layout for each number of rows that factors have, such as one
// by nodes and one by samples; a factor takes the layout that ends at its number of rows. Of fails on a factor that
// fits none.
func Of(t *autograd.Tape, layouts ...[]int32) (*Gradients, error) {
	g := &Gradients{tape: t, of: map[*autograd.Param]*param{}, n: -1}
	for _, l := range layouts {
		if len(l) < 1 || g.n >= 0 && len(l) != g.n+1 {
			return nil, fmt.Errorf("per-example gradients: layouts of %d and of %d examples", g.n, len(l)-1)
		}
		g.n = len(l) - 1
	}
	for _, f := range t.Factors() {
		u := use{Factor: f}
		for _, l := range layouts {
			if int(l[g.n]) == f.Right.Rows {
				u.off = l
				break
			}
		}
		if u.off == nil {
			return nil, fmt.Errorf("per-example gradients: %s is used in %d rows, which no layout has", f.Param.Name,
				f.Right.Rows)
		}
		g.add(u)
	}
	return g, nil
}

func (g *Gradients) add(u use) {
	p := g.of[u.Param]
	if p == nil {
		p = &param{Param: u.Param}
		g.of[u.Param], g.params = p, append(g.params, p)
	}
	if u.Left.Cols == 0 {
		p.rows = append(p.rows, u)
		return
	}
	for i := range p.blocks {
		if b := &p.blocks[i]; b.first == u.First && b.rows == u.Left.Cols {
			b.uses = append(b.uses, u)
			return
		}
	}
	p.blocks = append(p.blocks, block{first: u.First, rows: u.Left.Cols, uses: []use{u}})
}

// AddTo adds the gradients of all examples, each times its weight, to sums by parameter. sum returns the matrix of
// a parameter, of its shape.
func (g *Gradients) AddTo(weights []tensor.Float, sum func(p *autograd.Param) tensor.Matrix) {
	for _, p := range g.params {
		to := sum(p.Param)
		for i := range p.blocks {
			b := &p.blocks[i]
			rows := tensor.RowsView(to, b.first, b.first+b.rows)
			for _, u := range b.uses {
				tensor.Gemm(true, false, 1, u.Left, g.weighted(u, weights), 1, rows)
			}
		}
		for _, u := range p.rows {
			for k, w := range weights {
				for i := u.off[k]; i < u.off[k+1]; i++ {
					tensor.Axpy(w, tensor.Row(u.Right, int(i)), tensor.Row(to, u.row(i)))
				}
			}
		}
	}
}

// row returns the row of the parameter that row i of a look-up or a sum belongs to.
func (u *use) row(i int32) int {
	if u.Rows == nil {
		return 0
	}
	return int(u.Rows[i])
}

// weighted returns u.Right with every row times its example's weight.
func (g *Gradients) weighted(u use, weights []tensor.Float) tensor.Matrix {
	m := g.tape.Buffer(u.Right.Rows, u.Right.Cols)
	tensor.Parallel(g.n, 8, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			for i := int(u.off[k]); i < int(u.off[k+1]); i++ {
				row := tensor.Row(m, i)
				copy(row, tensor.Row(u.Right, i))
				tensor.Scale(weights[k], row)
			}
		}
	})
	return m
}
