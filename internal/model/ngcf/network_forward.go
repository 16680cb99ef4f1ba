package ngcf

import (
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// transform turns s, sums over neighbours of rows x, into S, which adds own[i] times row i, and sets y = LeakyReLU(S W1
// + b1 + (x ∘ S) W2 + b2), times keep where kept has a bit, else 0. It records the signs of LeakyReLU's argument in
// above.
func (n *network) transform(l int, own []tensor.Float, x, s, y tensor.Matrix, keep tensor.Float, kept,
	above tensor.Bits, w *scratch) {
	p, z := w.table(0, x.Rows), w.table(1, x.Rows)
	one, two := n.m.Sum[l], n.m.Bi[l]
	tensor.AddScaled(own, s, x, p)
	tensor.Gemm(false, true, 1, s, one.W.Value, 0, y)
	tensor.Gemm(false, true, 1, p, two.W.Value, 0, z)
	tensor.LeakyDrop(y, z, one.B.Value.Data, two.B.Value.Data, slope, keep, kept, above)
}

// message returns the random stream of a layer's dropout.
func (n *network) message(step, l, side int) rng.Stream {
	return n.m.seed.Stream("ngcf.message", uint64(step), uint64(l), uint64(side))
}

// draw writes, into the bits of rows from row k on, which values dropout keeps of the rows of nodes lo..hi.
func (n *network) draw(stream rng.Stream, lo, hi int, kept tensor.Bits, k int, w *scratch) {
	d := n.m.c.Dim
	first, end := lo*d&^(rng.Group-1), hi*d
	if d%64 == 0 {
		keepBits(kept.Words[k*kept.Stride:(k+hi-lo)*kept.Stride], stream, first, n.m.c.MessageDropout)
		return
	}
	drawn := w.bits[:wordsOf(end-first)]
	keepBits(drawn, stream, first, n.m.c.MessageDropout)
	for v := lo; v < hi; v++ {
		copyBits(kept.Row(k + v - lo).Words[:kept.Stride], drawn, v*d-first, d)
	}
}

// keepBits draws 64 len(dst) values of a dropout from number i of the stream on, a multiple of rng.Group: in bulk if
// Float is float32.
func keepBits(dst []uint64, s rng.Stream, i int, p float64) {
	if _, ok := any(tensor.Float(0)).(float32); ok {
		s.Skip(i)
		s.KeepBits(dst, p)
		return
	}
	s.Seek(s.Pos() + uint64(i))
	for w := range dst {
		dst[w] = 0
		for k := range 64 {
			if s.Float64() >= p {
				dst[w] |= 1 << k
			}
		}
	}
}

// copyBits sets the first n bits of dst to those of src from bit off on.
func copyBits(dst, src []uint64, off, n int) {
	for w := range wordsOf(n) {
		at, shift := off/64+w, off%64
		dst[w] = src[at] >> shift
		if shift > 0 && at+1 < len(src) {
			dst[w] |= src[at+1] << (64 - shift)
		}
	}
}

// forward computes layers 1..L-1 at all nodes, and layer L at the nodes of top.
func (n *network) forward(step int, dropout bool) {
	m, keep := n.m, n.keep(dropout)
	for l := range n.layer {
		x := n.below(l)
		n.each(n.tiles, func(t span, w *scratch) {
			s, kept := t.of(n.sum[l][t.side]), n.all1
			m.lap.mul(t.side, t.lo, t.hi, x[1-t.side], s)
			if dropout {
				kept = n.kept[l][t.side].Row(t.lo)
				n.draw(n.message(step, l, t.side), t.lo, t.hi, n.kept[l][t.side], t.lo, w)
			}
			n.transform(l, m.lap.own[t.side].Data[t.lo:t.hi], t.of(x[t.side]), s, t.of(n.layer[l][t.side]), keep, kept,
				n.above[l][t.side].Row(t.lo), w)
		})
	}
	last := m.c.Layers - 1
	x := n.below(last)
	n.ours = n.ours[:0]
	for side := range n.top {
		t := &n.top[side]
		n.kept[last][side], n.above[last][side] = resize(n.kept[last][side], len(t.nodes), m.c.Dim),
			resize(n.above[last][side], len(t.nodes), m.c.Dim)
		n.ours = cut(n.ours, side, len(t.nodes), topRowsTile)
	}
	n.each(n.ours, func(s span, w *scratch) {
		t, kept := &n.top[s.side], n.all1
		for k := s.lo; k < s.hi; k++ {
			v := int(t.nodes[k])
			copy(tensor.Row(t.x, k), tensor.Row(x[s.side], v))
			m.lap.mul(s.side, v, v+1, x[1-s.side], tensor.RowsView(t.s, k, k+1))
			t.own[k] = m.lap.own[s.side].Data[v]
			if dropout {
				n.draw(n.message(step, last, s.side), v, v+1, n.kept[last][s.side], k, w)
			}
		}
		if dropout {
			kept = n.kept[last][s.side].Row(s.lo)
		}
		n.transform(last, t.own[s.lo:s.hi], s.of(t.x), s.of(t.s), s.of(t.y), keep, kept,
			n.above[last][s.side].Row(s.lo), w)
	})
}

// keep returns the factor by which dropout multiplies the values that it keeps.
func (n *network) keep(dropout bool) tensor.Float {
	if !dropout {
		return 1
	}
	return tensor.Float(1 / (1 - n.m.c.MessageDropout))
}
