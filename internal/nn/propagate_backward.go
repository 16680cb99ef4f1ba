package nn

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// The gradient goes back as in Horner's scheme. With g[l] the gradient at X[l]
// from all layers above and gZ that at Z,
//
//	g[Layers] = a[Layers] gZ;   h[l] = g[l] through the normalisation of layer l
//	g[l-1]    = a[l-1] gZ + A~' h[l],   A~' = diag(right) A' diag(left)
//
// so that each layer costs one product. h[l] overwrites X[l], which nothing else
// needs once its own row of h is known.

// backward adds the gradients of both tables to their leaves.
func (w *work) backward(t *autograd.Tape, leaves [2]*autograd.Node, dy tensor.Matrix) {
	w.collect(dy)
	layers := w.call.Layers
	w.lastBack()
	for l := layers - 1; l >= 1; l-- {
		if w.short {
			w.roundedBack(l)
		} else {
			w.layerBack(l)
		}
	}
	var grads [2]tensor.Matrix
	for side := range grads {
		grads[side] = t.Buffer(w.size(Side(side)), w.cols)
	}
	w.tableBack(grads)
	for side, leaf := range leaves {
		if leaf.Needs() {
			leaf.GiveGrad(grads[side])
		}
	}
}

// collect adds up the gradient of the output by node of the batch.
func (w *work) collect(dy tensor.Matrix) {
	w.grad = grown(w.grad, len(w.batch), w.cols)
	clear(w.grad.Data)
	// By columns, so that the order of sums does not depend on the workers.
	tensor.Parallel(w.cols, max(collectCols, (w.cols+3)/4), func(_, lo, hi int) {
		for k, v := range w.at {
			o := (int(w.slot[w.spot(v)]) - 1) * w.cols
			tensor.Add(w.grad.Data[o+lo:o+hi], dy.Data[k*dy.Stride+lo:k*dy.Stride+hi])
		}
	})
}

// collectCols is the least number of columns that a core handles: a cache line.
const collectCols = 16

// lastBack replaces the last layer by its h.
func (w *work) lastBack() {
	a := tensor.Float(w.call.Weights[w.call.Layers])
	one := func(v int32, g []tensor.Float) {
		x, inv := w.last(v)
		if w.call.NormalizeRows {
			throughNorm(x, g, a, inv)
		} else {
			tensor.ScaleTo(a, x, g)
		}
	}
	if w.frontier {
		tensor.Parallel(len(w.batch), rowGrain, func(_, lo, hi int) {
			for k := lo; k < hi; k++ {
				one(w.batch[k], tensor.Row(w.grad, k))
			}
		})
		return
	}
	m := w.table(w.call.Layers - 1)
	tensor.Parallel(m.Rows, rowGrain, func(_, lo, hi int) {
		for s := lo; s < hi; s++ {
			if k := int(w.slot[s]) - 1; k >= 0 {
				one(w.batch[k], tensor.Row(w.grad, k))
			} else {
				clear(tensor.Row(m, s))
			}
		}
	})
}

// throughNorm replaces a normalised row x = v/|v| by a times the gradient at v, where g is the gradient at x: a inv (g
// - (g·x) x), with inv = 1/|v|.
func throughNorm(x, g []tensor.Float, a, inv tensor.Float) {
	tensor.ScaleAdd(a*inv, g, -a*inv*tensor.Dot(g, x), x)
}

// source returns the rows of h of the layer above layer l as they flow to a side, with the edges and the factors.
func (w *work) source(l int, side Side) (p tensor.Pattern, factors []tensor.Float, h origin) {
	other := 1 - side
	if l+1 == w.call.Layers && w.frontier {
		lo, hi := 0, w.users
		if other == ItemSide {
			lo, hi = w.users, len(w.batch)
		}
		return w.reach.edges[side], w.weight[lo:hi], origin{table: tensor.RowsView(w.top, lo, hi)}
	}
	p, factors = w.inner[side], w.leftAt[other]
	if w.short && l+1 < w.call.Layers {
		return p, factors, shortOnes(w.copied(l + 1))[other]
	}
	return p, factors, origin{table: w.half(w.table(l), other)}
}

// layerBack replaces layer l, 1 <= l < Layers, by its h.
func (w *work) layerBack(l int) {
	var only *reach
	if w.frontier && l == w.call.Layers-1 {
		only = &w.reach
	}
	dst, normalize, block := w.table(l-1), w.call.NormalizeRows, chunkRows
	if normalize {
		block = blockRows
	}
	tensor.Parallel(len(w.chunks), 1, func(c, _, _ int) {
		ch := w.chunks[c]
		p, factors, h := w.source(l, ch.side)
		right, base, mine := w.rightAt[ch.side], w.first(ch.side), w.half(dst, ch.side)
		var stack [blockFloats]tensor.Float
		scratch := stack[:]
		if normalize && blockRows*w.cols > len(scratch) {
			scratch = make([]tensor.Float, blockRows*w.cols)
		}
		at := ch.lo // places before it are done
		for lo, hi := only.run(base, ch.lo, ch.hi, block); lo < hi; lo, hi = only.run(base, hi, ch.hi, block) {
			clear(tensor.RowsView(mine, at, lo).Data)
			at = hi
			sum := tensor.RowsView(mine, lo, hi)
			if normalize {
				sum = tensor.From(hi-lo, w.cols, scratch)
			}
			h.gather(p, lo, hi, right, factors, sum)
			for k := range hi - lo {
				g, spot := tensor.Row(sum, k), base+lo+k
				w.addOutput(l, spot, g)
				if normalize {
					throughNorm(tensor.Row(mine, lo+k), g, 1, w.inv[l][spot])
				}
			}
		}
		clear(tensor.RowsView(mine, at, ch.hi).Data)
	})
}

// addOutput adds to g the gradient at layer l that comes directly from Z, for the node of a spot.
func (w *work) addOutput(l, spot int, g []tensor.Float) {
	if k := int(w.slot[spot]) - 1; k >= 0 {
		tensor.Axpy(tensor.Float(w.call.Weights[l]), tensor.Row(w.grad, k), g)
	}
}

// tableBack computes the gradients of the tables.
func (w *work) tableBack(grads [2]tensor.Matrix) {
	tensor.Parallel(len(w.chunks), 1, func(c, _, _ int) {
		ch := w.chunks[c]
		p, factors, h := w.source(0, ch.side)
		right, base, nodes := w.rightAt[ch.side], w.first(ch.side), w.nodeAt[ch.side]
		step := chunkRows
		if w.call.NormalizeRows {
			step = blockRows
		}
		for lo := ch.lo; lo < ch.hi; lo += step {
			hi := min(lo+step, ch.hi)
			if w.call.NormalizeRows && w.moved {
				tensor.Fetch(w.tables[ch.side], nodes[lo:hi])
			}
			w.aggregate(ch.side, p, lo, hi, right, factors, h, grads[ch.side])
			for k, node := range nodes[lo:hi] {
				v, y := base+int(node), tensor.Row(grads[ch.side], int(node))
				w.addOutput(0, base+lo+k, y)
				if w.call.NormalizeRows {
					x, inv := w.row0(v), float64(w.inv[0][v])
					dot := float64(tensor.Dot(y, x))
					tensor.ScaleAdd(tensor.Float(-inv*inv*inv*dot), x, tensor.Float(inv), y)
				}
			}
		}
	})
}
