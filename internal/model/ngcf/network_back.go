package ngcf

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// backward computes the gradients of the leaves (the tables, then W1, b1, W2, b2 of every layer) from dy, the gradient
// of the result of rows.
func (n *network) backward(leaves []*autograd.Node, dy tensor.Matrix, dropout bool) {
	m, d := n.m, n.m.c.Dim
	last, keep := m.c.Layers-1, n.keep(dropout)
	n.ours = n.ours[:0]
	for side := range n.top {
		n.ours = cutBlocks(n.ours, side, len(n.top[side].nodes))
	}
	n.rowsBack(last, n.ours, leaves, func(s span, _ *scratch) layerRows {
		t := &n.top[s.side]
		for k := s.lo; k < s.hi; k++ {
			g := tensor.Row(t.g, k)
			clear(g)
			t.addOutput(g, k, dy, (last+1)*d, (last+2)*d)
		}
		return layerRows{t.x, t.s, t.g, t.own, keep, n.keptOf(last, s.side, dropout), n.above[last][s.side]}
	})
	tensor.Parallel(2, 1, func(side, _, _ int) { n.top[side].meet(&n.top[1-side], m.lap.to[1-side]) })
	for l := last - 1; l >= 0; l-- {
		x := n.below(l)
		n.rowsBack(l, n.blocks, leaves, func(s span, w *scratch) layerRows {
			n.handDown(l+1, s, dy, w)
			return layerRows{x[s.side], n.sum[l][s.side], n.grad[s.side], m.lap.own[s.side].Data, keep,
				n.keptOf(l, s.side, dropout), n.above[l][s.side]}
		})
	}
	n.each(n.tiles, func(s span, w *scratch) { n.handDown(0, s, dy, w) })
	for side, g := range n.grad {
		leaves[side].GiveGrad(g)
	}
}

// handDown completes the gradient of some rows of layer l: it adds the part that flows over edges from the layer after,
// and the direct part of the rows of a batch.
func (n *network) handDown(l int, s span, dy tensor.Matrix, w *scratch) {
	for lo := s.lo; lo < s.hi; lo += tileRows {
		tile := span{s.side, lo, min(s.hi, lo+tileRows)}
		g, t := tile.of(n.grad[s.side]), &n.top[s.side]
		from, to := t.within(tile.lo, tile.hi)
		if l == n.m.c.Layers-1 {
			clear(g.Data)
			for k := from; k < to; k++ {
				tensor.Add(tensor.Row(g, int(t.nodes[k])-lo), tensor.Row(t.g, k))
			}
			t.reach.AddRows(tile.lo, tile.hi, g, n.top[1-s.side].s)
		} else {
			part := w.table(0, g.Rows)
			n.m.lap.mulBack(s.side, tile.lo, tile.hi, n.sum[l][1-s.side], part)
			tensor.Add(g.Data, part.Data)
		}
		for k := from; k < to; k++ {
			t.addOutput(tensor.Row(g, int(t.nodes[k])-lo), k, dy, l*g.Cols, (l+1)*g.Cols)
		}
	}
}

func (n *network) keptOf(l, side int, dropout bool) tensor.Bits {
	if !dropout {
		return n.all1
	}
	return n.kept[l][side]
}
