package nn

import (
	"unsafe"

	"privrec/internal/tensor"
)

// origin holds the rows that a product gathers from: those of a table, or their two-byte copy.
type origin struct {
	table tensor.Matrix
	copy  tensor.Bfloat16
	short bool // the copy
}

// whole returns both sides of a table as origins.
func whole(tables [2]tensor.Matrix) (o [2]origin) {
	for side, m := range tables {
		o[side].table = m
	}
	return o
}

// shortOnes returns both sides of a copy as origins.
func shortOnes(copies [2]tensor.Bfloat16) (o [2]origin) {
	for side, b := range copies {
		o[side] = origin{copy: b, short: true}
	}
	return o
}

// gather runs Gather of a pattern over the rows of o.
func (o origin) gather(p tensor.Pattern, lo, hi int, left, right []tensor.Float, dst tensor.Matrix) {
	if o.short {
		p.GatherBfloat16(lo, hi, left, right, o.copy, dst)
	} else {
		p.Gather(lo, hi, left, right, o.table, dst)
	}
}

// gatherTo runs GatherTo of a pattern over the rows of o.
func (o origin) gatherTo(p tensor.Pattern, lo, hi int, left, right []tensor.Float, dst tensor.Matrix, to []int32) {
	if o.short {
		p.GatherBfloat16To(lo, hi, left, right, o.copy, dst, to)
	} else {
		p.GatherTo(lo, hi, left, right, o.table, dst, to)
	}
}

// copied returns the copy of layer l, with undefined content: by node for layer 0, else by
// place. In the backward it is that of h[l].
func (p *plan) copied(l int) [2]tensor.Bfloat16 {
	for len(p.copies) <= l {
		p.copies = append(p.copies, [2]tensor.Bfloat16{tensor.NewBfloat16(p.graph.Users, p.cols),
			tensor.NewBfloat16(p.graph.Items, p.cols)})
	}
	return p.copies[l]
}

// valueBytes returns the number of bytes that a product reads per value.
func (w *work) valueBytes() int {
	if w.short {
		return 2
	}
	return int(unsafe.Sizeof(tensor.Float(0)))
}

// entries returns the rows that the first product gathers from: the tables, or copies, which it makes.
func (w *work) entries() [2]origin {
	if !w.short {
		return whole(w.tables)
	}
	copies := w.copied(0)
	for side, b := range copies {
		tensor.Parallel(b.Rows, rowGrain, func(_, lo, hi int) { b.Round(lo, tensor.RowsView(w.tables[side], lo, hi)) })
	}
	return shortOnes(copies)
}

// roundedLayer computes the copy of layer l < Layers from the layer before. For the nodes of the batch it also computes
// the layer itself, into dst.
func (w *work) roundedLayer(l int, src [2]origin, dst tensor.Matrix, only *reach) {
	copies := w.copied(l)
	w.eachBlock(only, func(ch chunk) func(lo, hi int, sum tensor.Matrix) {
		p, factors := w.into(l, ch.side)
		from, to, left, mine := src[1-ch.side], copies[ch.side], w.leftAt[ch.side], w.half(dst, ch.side)
		slot := w.slot[w.first(ch.side):]
		return func(lo, hi int, sum tensor.Matrix) {
			from.gather(p, lo, hi, left, factors, sum)
			to.Round(lo, sum)
			for k, s := range slot[lo:hi] {
				if s != 0 {
					copy(tensor.Row(mine, lo+k), tensor.Row(sum, k))
				}
			}
		}
	}, func(chunk, int, int) {})
}

// roundedBack computes the copy of h[l], 1 <= l < Layers, over that of layer l.
func (w *work) roundedBack(l int) {
	var only *reach
	if w.frontier && l == w.call.Layers-1 {
		only = &w.reach
	}
	copies := w.copied(l)
	w.eachBlock(only, func(ch chunk) func(lo, hi int, sum tensor.Matrix) {
		p, factors, h := w.source(l, ch.side)
		to, right, base := copies[ch.side], w.rightAt[ch.side], w.first(ch.side)
		return func(lo, hi int, sum tensor.Matrix) {
			h.gather(p, lo, hi, right, factors, sum)
			for k := range hi - lo {
				w.addOutput(l, base+lo+k, tensor.Row(sum, k))
			}
			to.Round(lo, sum)
		}
	}, func(ch chunk, lo, hi int) { copies[ch.side].Zero(lo, hi) })
}

// eachBlock calls in parallel, for each chunk, the function that of returns, with some of the chunk's rows lo to hi and
// memory for them, few enough to stay in the nearest cache. It calls skip with the rows between that only leaves out.
func (w *work) eachBlock(only *reach, of func(ch chunk) func(lo, hi int, sum tensor.Matrix),
	skip func(ch chunk, lo, hi int)) {
	w.sums = grown(w.sums, len(w.chunks)*blockRows, w.cols)
	tensor.Parallel(len(w.chunks), 1, func(c, _, _ int) {
		ch := w.chunks[c]
		base, block := w.first(ch.side), of(ch)
		sums := tensor.RowsView(w.sums, c*blockRows, (c+1)*blockRows)
		at := ch.lo // rows before it are done
		for lo, hi := only.run(base, ch.lo, ch.hi, blockRows); lo < hi; lo, hi = only.run(base, hi, ch.hi, blockRows) {
			skip(ch, at, lo)
			block(lo, hi, tensor.RowsView(sums, 0, hi-lo))
			at = hi
		}
		skip(ch, at, ch.hi)
	})
}
