package protect

import (
	"errors"

	"privrec/internal/dataset"
	"privrec/internal/perturb"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/rng"
)

// slateWorker protects the slates of blocks for one goroutine.
type slateWorker struct {
	p      *filePerturber
	choose *chooser
	new    distinct
	secret *rng.Secret // nil: keyed
	base   rng.Stream
	stream rng.Stream
	count  int
	sum    []float64
	before []int32

	slateCounts
}

func (p *filePerturber) worker() (func(b *perturb.Block[int32]) error, error) {
	t := p.in.Length()
	w := &slateWorker{p: p, base: p.stream(), before: make([]int32, t)}
	if p.o.Secure {
		w.secret = &rng.Secret{}
	}
	if p.o.Replace != ReplaceRR {
		m := &Options{Method: p.o.Method}
		if p.near != nil {
			m.Vectors, w.sum = p.near.vectors, make([]float64, p.near.dim)
		}
		w.count = positions(t, p.o.Ratio)
		w.choose, w.new = newChooser(m, t, w.count), distinct{marks: make([]uint32, p.cat.Size)}
	}
	p.ws = append(p.ws, w)
	return w.protect, nil
}

// protect protects a block and counts the changes.
func (w *slateWorker) protect(b *perturb.Block[int32]) error {
	change, end := w.replacer(b), func() error { return nil }
	if rows, ok := b.State.(*local.ResponseRows); ok {
		change, end = func(_ int, row []int32) error { return rows.Row(row) }, rows.Close
	}
	for i := range b.Len() {
		row := b.Cells(i)
		copy(w.before, row)
		if err := change(i, row); err != nil {
			return err
		}
		w.Slates++
		for k, item := range row {
			if item != w.before[k] {
				w.Replaced++
			}
		}
	}
	return end()
}

// replacer replaces items of slate i of a block, which stand in a row.
func (w *slateWorker) replacer(b *perturb.Block[int32]) func(i int, row []int32) error {
	if w.count == 0 {
		return func(int, []int32) error { return nil }
	}
	urnOf, hint := func(int) urn { return w.p.urn }, "the catalogue is too small for this ratio"
	if w.p.o.Replace == ReplaceInBatch {
		around, user := fileBatch(b)
		urnOf, hint = func(i int) urn { return around.urn(user[i], w.p.o.OwnRows) },
			"--batch takes more slates together, of more users"
	}
	return func(i int, row []int32) error {
		d := dice{w.secret}
		if w.secret == nil {
			of := mechanism.Content(row)
			w.stream = w.base.Sub(b.First+uint64(i), of[0], of[1])
			d = dice{&w.stream}
		}
		err := swapItems(w.choose, &w.new, d, row, w.reference(b.ID(i, 0), row), urnOf(i))
		var few *errUrn
		if errors.As(err, &few) {
			return &dataset.Error{File: w.p.o.In, Line: b.Line(i), Msg: err.Error(), Hint: hint}
		}
		return err
	}
}

// reference returns the vector that the similarity of a slate's items is measured to; nil if it does not matter.
func (w *slateWorker) reference(user []byte, row []int32) (sum []float64) {
	known := true
	switch {
	case w.p.near == nil:
	case w.p.o.Reference == ReferenceSlate:
		sum, known = w.choose.reference(row)
	default:
		sum = w.sum
		known = w.p.near.reference(user, sum)
	}
	if !known {
		w.Blind++
	}
	return sum
}

// fileBatch returns the items of a block's slates by user, who are counted from 0, and the user
// of each slate.
func fileBatch(b *perturb.Block[int32]) (all *batch, of []int32) {
	all, of = &batch{at: map[int32][2]int{}}, make([]int32, b.Len())
	users, rows := map[string]int32{}, [][]int{}
	for i := range of {
		u, ok := users[string(b.ID(i, 0))]
		if !ok {
			u = int32(len(rows))
			users[string(b.ID(i, 0))], rows = u, append(rows, nil)
		}
		of[i], rows[u] = u, append(rows[u], i)
	}
	for u, list := range rows {
		from := len(all.items)
		for _, i := range list {
			all.items = append(all.items, b.Cells(i)...)
		}
		all.at[int32(u)] = [2]int{from, len(all.items)}
	}
	return all, of
}
