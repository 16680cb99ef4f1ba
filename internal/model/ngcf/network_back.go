package ngcf

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// backward turns the gradient dy of what rows returned into the gradients of the leaves: the
// tables, then W1, b1, W2, b2 of every layer.
func (n *network) backward(leaves []*autograd.Node, batch [2][]int32, dy tensor.Matrix, dropout bool) {
	m, d := n.m, n.m.c.Dim
	last := m.c.Layers - 1
	for side := range n.top {
		clear(n.top[side].g.Data)
		clear(n.grad[side].Data)
	}
	n.each(batch, func(side, k int, v int32) {
		t := &n.top[side]
		tensor.Add(tensor.Row(t.g, int(t.place[v])-1), tensor.Row(dy, k)[(last+1)*d:])
	})
	for side := range n.top {
		t := &n.top[side]
		eachBlock(len(t.nodes), func(lo, hi int) {
			n.layerBack(last, leaves[2+4*last:][:4], tensor.RowsView(t.x, lo, hi), tensor.RowsView(t.s, lo, hi), tensor.RowsView(t.g, lo, hi), t.own[lo:hi],
				&n.above[last][side], n.keptOf(last, side, dropout), lo)
		})
		for k, v := range t.nodes {
			tensor.Add(tensor.Row(n.grad[side], int(v)), tensor.Row(t.g, k))
		}
	}
	for side := range n.top {
		n.top[side].spread(n.grad[1-side])
	}
	n.arrive(batch, dy, last)
	for l := last - 1; l >= 0; l-- {
		x := n.below(l)
		for side := range x {
			own, s, g := m.lap.own[side].Data, n.sum[l][side], n.grad[side]
			eachBlock(g.Rows, func(lo, hi int) {
				n.layerBack(l, leaves[2+4*l:][:4], tensor.RowsView(x[side], lo, hi), tensor.RowsView(s, lo, hi), tensor.RowsView(g, lo, hi), own[lo:hi],
					&n.above[l][side], n.keptOf(l, side, dropout), lo)
			})
		}
		for side := range x {
			back, g := m.lap.back[1-side], n.grad[side] // from the other side's sums
			eachBlock(g.Rows, func(lo, hi int) {
				part := n.scratch(0, hi-lo)
				lapRows(back, lo, hi).MulDense(part, n.sum[l][1-side])
				tensor.Parallel(hi-lo, rowGrain, func(_, a, b int) {
					for i := a; i < b; i++ {
						tensor.Add(tensor.Row(g, lo+i), tensor.Row(part, i))
					}
				})
			})
		}
		n.arrive(batch, dy, l)
	}
	for side, g := range n.grad {
		leaves[side].GiveGrad(g)
	}
}

func (n *network) keptOf(l, side int, dropout bool) *bitRows {
	if !dropout {
		return nil
	}
	return &n.kept[l][side]
}

// arrive adds the gradient of the batch's own rows of layer l.
func (n *network) arrive(batch [2][]int32, dy tensor.Matrix, l int) {
	d := n.m.c.Dim
	n.each(batch, func(side, k int, v int32) {
		tensor.Add(tensor.Row(n.grad[side], int(v)), tensor.Row(dy, k)[l*d:(l+1)*d])
	})
}

// layerBack goes back through some rows of layer l+1, which are rows first, first+1, ... of
// their bits. It turns g, the gradient at the layer, into the gradient at the same rows of the
// layer before, without what comes over edges. It turns s, what the rows aggregated, into its
// gradient. It adds to the gradients of the weights.
func (n *network) layerBack(l int, weights []*autograd.Node, x, s, g tensor.Matrix, own []tensor.Float, above, kept *bitRows, first int) {
	rows := x.Rows
	p, dy, one, two := n.scratch(0, rows), n.scratch(1, rows), n.scratch(2, rows), n.scratch(3, rows)
	keep := tensor.Float(1 / (1 - n.m.c.MessageDropout))
	tensor.Parallel(rows, rowGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			tensor.Mul(tensor.Row(p, i), tensor.Row(x, i), tensor.Row(s, i))
			to, signs := tensor.Row(dy, i), above.row(first+i)
			copy(to, tensor.Row(g, i))
			if kept != nil {
				bits := kept.row(first + i)
				for k, v := range to {
					if bits[k/64]>>(k%64)&1 == 0 {
						to[k] = 0
					} else {
						to[k] = v * keep
					}
				}
			}
			for k, v := range to {
				if signs[k/64]>>(k%64)&1 == 0 {
					to[k] = v * slope
				}
			}
		}
	})
	for k, in := range []tensor.Matrix{s, p} {
		tensor.Gemm(true, false, 1, dy, in, 1, weights[2*k].AddGrad())
		addColumns(weights[2*k+1].AddGrad().Data, dy, tensor.Row(n.work[4], 0))
	}
	tensor.Gemm(false, false, 1, dy, n.m.Sum[l].W.Value, 0, one)
	tensor.Gemm(false, false, 1, dy, n.m.Bi[l].W.Value, 0, two)
	tensor.Parallel(rows, rowGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			a, b, si, gi, t := tensor.Row(one, i), tensor.Row(two, i), tensor.Row(s, i), tensor.Row(g, i), tensor.Row(p, i)
			tensor.Mul(gi, b, si)
			tensor.Mul(t, b, tensor.Row(x, i))
			tensor.Add(a, t)
			copy(si, a)
			tensor.Axpy(own[i], a, gi)
		}
	})
}

// sumRows is how many rows are added up before their sum joins the others, which keeps the
// rounding error of long columns down.
const sumRows = 128

// addColumns adds the sums of the columns of x to dst.
func addColumns(dst []tensor.Float, x tensor.Matrix, sum []tensor.Float) {
	for lo := 0; lo < x.Rows; lo += sumRows {
		clear(sum)
		for i := lo; i < min(x.Rows, lo+sumRows); i++ {
			tensor.Add(sum, tensor.Row(x, i))
		}
		tensor.Add(dst, sum)
	}
}

// spread hands the gradient of the nodes' sums, in s, over the edges and adds it to the
// neighbours' rows of g.
func (t *topRows) spread(g tensor.Matrix) {
	const cols = 16 // a cache line, the least that a core takes
	// By columns, so that the order of sums does not depend on the workers.
	tensor.Parallel(g.Cols, max(cols, (g.Cols+3)/4), func(_, lo, hi int) {
		for k := range t.nodes {
			from := tensor.Row(t.s, k)[lo:hi]
			for e := t.lap.Ptr[k]; e < t.lap.Ptr[k+1]; e++ {
				if w := t.lap.Val[e]; w != 0 {
					tensor.Axpy(w, from, tensor.Row(g, int(t.lap.Idx[e]))[lo:hi])
				}
			}
		}
	})
}

// all returns the final vectors of all nodes without dropout, (nodes, (L+1) d) a side. They
// lie in the memory of what a step keeps.
func (n *network) all() (z pair) {
	m, d, wide := n.m, n.m.c.Dim, (n.m.c.Layers+1)*n.m.c.Dim
	n.turn++
	m.lap.drop(false, 0, m.seed.Stream("ngcf.node"))
	var next [2]pair
	for side := range z {
		rows := m.params(side).Rows
		z[side] = tensor.From(rows, wide, n.slab[side][:rows*wide])
		for k := range next {
			next[k][side] = n.table(side, m.c.Layers+1+k)
		}
		for i := range rows {
			copy(tensor.Row(z[side], i)[:d], tensor.Row(m.params(side), i))
		}
	}
	x := n.below(0)
	for l := range m.Sum {
		for side, y := range next[l%2] {
			to, own := m.lap.to[side], m.lap.own[side].Data
			eachBlock(y.Rows, func(lo, hi int) {
				rows, sums, out := tensor.RowsView(x[side], lo, hi), n.scratch(2, hi-lo), tensor.RowsView(y, lo, hi)
				n.aggregate(lapRows(to, lo, hi), own[lo:hi], x[1-side], rows, sums)
				n.transform(l, rows, sums, out, nil, 0)
				final := tensor.ColsView(tensor.RowsView(z[side], lo, hi), (l+1)*d, (l+2)*d)
				tensor.NormalizeRows(final, out, 1, shortest, nil)
			})
		}
		x = next[l%2]
	}
	return z
}
