package ngcf

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// backward turns the gradient dy of what rows returned into the gradients of the leaves: the
// tables, then W1, b1, W2, b2 of every layer.
func (n *network) backward(leaves []*autograd.Node, dy tensor.Matrix, dropout bool) {
	m, d := n.m, n.m.c.Dim
	last, keep := m.c.Layers-1, n.keep(dropout)
	n.ours = n.ours[:0]
	for side := range n.top {
		n.ours = cutBlocks(n.ours, side, len(n.top[side].nodes))
	}
	n.rowsBack(last, n.ours, leaves, func(s span) layerRows {
		t := &n.top[s.side]
		for k := s.lo; k < s.hi; k++ {
			g := tensor.Row(t.g, k)
			clear(g)
			t.addOutput(g, k, dy, (last+1)*d, (last+2)*d)
		}
		return layerRows{t.x, t.s, t.g, t.own, keep, n.keptOf(last, s.side, dropout), n.above[last][s.side]}
	})
	tensor.Parallel(2, 1, func(side, _, _ int) { n.top[side].meet(&n.top[1-side], m.lap.to[1-side]) })
	n.each(n.tiles, func(s span, _ *scratch) {
		t, g := &n.top[s.side], s.of(n.grad[s.side])
		clear(g.Data)
		from, to := t.within(s.lo, s.hi)
		for k := from; k < to; k++ {
			tensor.Add(tensor.Row(g, int(t.nodes[k])-s.lo), tensor.Row(t.g, k))
		}
		t.reach.AddRows(s.lo, s.hi, g, n.top[1-s.side].s)
		n.arrive(s, dy, last)
	})
	for l := last - 1; l >= 0; l-- {
		x := n.below(l)
		n.rowsBack(l, n.blocks, leaves, func(s span) layerRows {
			return layerRows{x[s.side], n.sum[l][s.side], n.grad[s.side], m.lap.own[s.side].Data, keep, n.keptOf(l, s.side, dropout), n.above[l][s.side]}
		})
		n.each(n.tiles, func(s span, w *scratch) {
			g, part := s.of(n.grad[s.side]), w.table(0, s.hi-s.lo)
			m.lap.back[1-s.side].MulRows(s.lo, s.hi, part, n.sum[l][1-s.side]) // from the other side's sums
			tensor.Add(g.Data, part.Data)
			n.arrive(s, dy, l)
		})
	}
	for side, g := range n.grad {
		leaves[side].GiveGrad(g)
	}
}

func (n *network) keptOf(l, side int, dropout bool) tensor.Bits {
	if !dropout {
		return n.all1
	}
	return n.kept[l][side]
}

// arrive adds the gradient of the batch's own rows of layer l.
func (n *network) arrive(s span, dy tensor.Matrix, l int) {
	t, d := &n.top[s.side], n.m.c.Dim
	from, to := t.within(s.lo, s.hi)
	for k := from; k < to; k++ {
		t.addOutput(tensor.Row(n.grad[s.side], int(t.nodes[k])), k, dy, l*d, (l+1)*d)
	}
}
