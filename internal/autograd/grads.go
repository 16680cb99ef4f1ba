package autograd

import (
	"math"
	"slices"

	"privrec/internal/tensor"
)

// Grads holds the gradients of one step by parameter. A parameter that was only looked up by row
// has a row-sparse gradient; a dense use makes it dense. Sums are taken in the order in which the
// step was recorded.
type Grads struct {
	entries []entry
	n       int // entries in use
	byParam map[*Param]int
}

type lookup struct {
	idx  []int32
	node *Node
}

type entry struct {
	p       *Param
	leaf    *Node // whole parameter on the tape
	lookups []lookup
	dense   tensor.Matrix
	rows    []int32       // sparse: ascending, unique
	vals    tensor.Matrix // sparse: one row for each of rows
	set     rowSet        // of rows
	place   []int32       // of a look-up's rows in rows
	state   int           // gradNone, gradDense, gradSparse
}

const (
	gradNone = iota
	gradDense
	gradSparse
)

func (g *Grads) reset() {
	for i := range g.n {
		e := &g.entries[i]
		*e = entry{p: nil, lookups: e.lookups[:0], rows: e.rows[:0], set: e.set, place: e.place}
	}
	clear(g.byParam)
	g.n = 0
}

func (g *Grads) entry(p *Param) *entry {
	i, ok := g.byParam[p]
	if !ok {
		i = g.n
		if i == len(g.entries) {
			g.entries = append(g.entries, entry{})
		}
		g.entries[i].p = p
		g.byParam[p] = i
		g.n++
	}
	return &g.entries[i]
}

// finish merges the gradients of look-ups: onto the dense gradient if there is one, else into one
// row-sparse gradient with each row once.
func (g *Grads) finish(t *Tape) {
	for i := range g.n {
		e := &g.entries[i]
		e.lookups = slices.DeleteFunc(e.lookups, func(p lookup) bool { return !p.node.hasG })
		switch {
		case e.leaf != nil && e.leaf.hasG:
			e.state, e.dense = gradDense, e.leaf.G
			for _, p := range e.lookups {
				w := e.dense.Cols
				t.columns(len(p.idx), w, job{kernel: scatterKernel, dst: e.dense.Data, a: p.node.dy(), idx: p.idx,
					w: w})
			}
		case len(e.lookups) > 0:
			e.state = gradSparse
			e.coalesce(t)
		}
	}
}

// Len returns the number of parameters that took part in the step, with or without a gradient.
func (g *Grads) Len() int { return g.n }

// Param returns the i-th parameter that took part in the step, in order of first use.
func (g *Grads) Param(i int) *Param { return g.entries[i].p }

// Dense returns the gradient of p if it is dense. The caller may change the matrix, to clip it or to
// add noise.
func (g *Grads) Dense(p *Param) (tensor.Matrix, bool) {
	if i, ok := g.byParam[p]; ok && g.entries[i].state == gradDense {
		return g.entries[i].dense, true
	}
	return tensor.Matrix{}, false
}

// Sparse returns the gradient of p if it is row-sparse: rows holds row numbers, ascending and unique,
// and vals holds their gradients in the same order. All other rows have gradient zero.
func (g *Grads) Sparse(p *Param) (rows []int32, vals tensor.Matrix, ok bool) {
	if i, ok := g.byParam[p]; ok && g.entries[i].state == gradSparse {
		return g.entries[i].rows, g.entries[i].vals, true
	}
	return nil, tensor.Matrix{}, false
}

// all calls f with every gradient's floats, in order of first use.
func (g *Grads) all(f func(x []tensor.Float)) {
	for i := range g.n {
		switch e := &g.entries[i]; e.state {
		case gradDense:
			f(e.dense.Data)
		case gradSparse:
			f(e.vals.Data)
		}
	}
}

// gradBlock is the number of floats of a gradient that a core handles at a time.
const gradBlock = 1 << 16

// Norm returns the Euclidean norm of all gradients together, accumulated in float64.
func (g *Grads) Norm() float64 {
	var s float64
	g.all(func(x []tensor.Float) {
		parts := make([]float64, (len(x)+gradBlock-1)/gradBlock)
		tensor.Parallel(len(x), gradBlock, func(k, lo, hi int) { parts[k] = tensor.SumSq(x[lo:hi]) })
		for _, p := range parts {
			s += p
		}
	})
	return math.Sqrt(s)
}

// Scale multiplies every gradient by alpha.
func (g *Grads) Scale(alpha float64) {
	g.all(func(x []tensor.Float) {
		tensor.Parallel(len(x), gradBlock, func(_, lo, hi int) { tensor.Scale(tensor.Float(alpha), x[lo:hi]) })
	})
}

// AddTo adds scale times these gradients to sum, which becomes dense in every parameter that has a
// gradient here. The order of calls is the order of summation. To get the same sum of per-example
// gradients for any number of workers, call AddTo in the order of the examples.
func (g *Grads) AddTo(sum *Grads, scale float64) {
	for i := range g.n {
		e := &g.entries[i]
		if e.state == gradNone {
			continue
		}
		d := sum.entry(e.p)
		if d.state == gradNone {
			if d.dense.Data == nil {
				d.dense = tensor.New(e.p.Value.Rows, e.p.Value.Cols)
			}
			d.state = gradDense
		}
		if e.state == gradDense {
			x, y := e.dense.Data, d.dense.Data
			tensor.Parallel(len(x), gradBlock,
				func(_, lo, hi int) { tensor.Axpy(tensor.Float(scale), x[lo:hi], y[lo:hi]) })
			continue
		}
		for k, r := range e.rows {
			tensor.Axpy(tensor.Float(scale), tensor.Row(e.vals, k), tensor.Row(d.dense, int(r)))
		}
	}
}

// Clear sets gradients back to zero and keeps its memory.
func (g *Grads) Clear() {
	g.all(func(x []tensor.Float) { clear(x) })
}
