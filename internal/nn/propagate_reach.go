package nn

import (
	"slices"

	"privrec/internal/tensor"
)

// reach holds what lies one edge from the batch: the rows that the layer before the
// last needs, and the edges on which gradients come back to them.
type reach struct {
	edges [2]tensor.Pattern // rows: nodes of a side; columns: the batch's nodes of the other
	ptr   [2][]int64
	idx   [2][]int32
	need  []bool // by node (N): in the batch, or next to it
	rank  []int  // how many needed rows of a chunk's side come before the chunk
	rows  [2]int // how many of a side there are
}

// find fills r for the batch of w.
func (r *reach) find(w *work) error {
	n := w.graph.Nodes()
	if len(r.need) != n {
		r.need = make([]bool, n)
	}
	var errs [2]error
	tensor.Parallel(2, 1, func(side, _, _ int) { errs[side] = r.findSide(w, Side(side)) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	r.rank, r.rows = slices.Grow(r.rank[:0], len(w.chunks)), [2]int{}
	for _, c := range w.chunks {
		r.rank = append(r.rank, r.rows[c.side])
		base := w.first(c.side)
		for _, need := range r.need[base+c.lo : base+c.hi] {
			if need {
				r.rows[c.side]++
			}
		}
	}
	return nil
}

// findSide lists, for every node of a side, the batch's nodes next to it, in
// ascending order.
func (r *reach) findSide(w *work, side Side) (err error) {
	other := 1 - side
	lists, batch := w.plan.rows[other], w.batch[w.users:]
	if other == UserSide {
		batch = w.batch[:w.users]
	}
	// Counts go two places up, so that filling moves them into the place of offsets.
	n := w.size(side)
	ptr := slices.Grow(r.ptr[side][:0], n+2)[:n+2]
	clear(ptr)
	for _, v := range batch {
		for _, i := range lists.Row(int(v) - w.first(other)) {
			ptr[i+2]++
		}
	}
	for i := 2; i < len(ptr); i++ {
		ptr[i] += ptr[i-1]
	}
	total := int(ptr[n+1])
	idx := slices.Grow(r.idx[side][:0], total)[:total]
	for k, v := range batch {
		for _, i := range lists.Row(int(v) - w.first(other)) {
			idx[ptr[i+1]] = int32(k)
			ptr[i+1]++
		}
	}
	r.ptr[side], r.idx[side] = ptr, idx
	base := w.first(side)
	for i := range n {
		r.need[base+i] = ptr[i+1] > ptr[i] || w.slot[base+i] != 0
	}
	r.edges[side], err = tensor.NewPattern(len(batch), ptr[:n+1], idx)
	return err
}

// run returns the first run of needed rows in lo..end of the side that starts at
// node base, at most block rows, and an empty run at the end. A nil reach needs all
// rows.
func (r *reach) run(base, lo, end, block int) (from, to int) {
	if r == nil {
		return lo, min(end, lo+block)
	}
	for lo < end && !r.need[base+lo] {
		lo++
	}
	to = lo
	for to < end && to-lo < block && r.need[base+to] {
		to++
	}
	return lo, to
}
