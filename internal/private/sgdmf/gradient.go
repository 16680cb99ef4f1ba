package sgdmf

import (
	"slices"

	"privrec/internal/tensor"
)

// part holds one user's negative gradient with respect to V, on a few rows of the table.
type part struct {
	rows   []int32
	values []tensor.Float // (rows, d)
}

// worker computes users' gradients. It is for one goroutine.
type worker struct {
	*solver
	u    []tensor.Float // (1+d)
	own  []int32        // the user's rows of the table
	some []int32        // and those that the user contributes to this step
	has  []uint32       // of a row: the last user who has it, by their number
	user uint32
}

func newWorker(f *factors) *worker {
	return &worker{solver: newSolver(f), u: make([]tensor.Float, 1+f.c.Dim), has: make([]uint32, len(f.items))}
}

// gradient writes the descent direction of one user's loss, half its negative gradient by V with the user's vector
// held fixed:
//
//	v_j: (1 - u·w_j) u'            for the contributed items
//	v_j: -w0 times (u·w_j) u'      for the items of negatives that the user does not have
//
// where u' is u without its first value, and times makes up for the items that were not drawn. It is 0 for a user whose
// vector cannot be solved for. own and some are items
// of the data; negatives are rows of the table, ascending.
func (w *worker) gradient(p *part, own, some, negatives []int32, times float64) {
	f, d := w.f, w.f.c.Dim
	w.own, w.some = f.rows(own, w.own), f.rows(some, w.some)
	p.rows, p.values = p.rows[:0], p.values[:0]
	if !w.solve(w.own, w.u) {
		return // no rows: the gradient is 0
	}
	if w.user++; w.user == 0 {
		clear(w.has)
		w.user = 1
	}
	for _, r := range w.own {
		w.has[r] = w.user
	}
	p.values = slices.Grow(p.values, (len(w.some)+len(negatives))*d)
	add := func(r int32, by tensor.Float) {
		p.rows = append(p.rows, r)
		p.values = p.values[:len(p.values)+d]
		tensor.ScaleTo(by, p.values[len(p.values)-d:], w.u[1:])
	}
	for _, r := range w.some {
		add(r, 1-tensor.Dot(w.u, tensor.Row(f.w, int(r))))
	}
	weight := -tensor.Float(f.c.Unobserved * times)
	for _, r := range negatives {
		if w.has[r] != w.user {
			add(r, weight*tensor.Dot(w.u, tensor.Row(f.w, int(r))))
		}
	}
}
