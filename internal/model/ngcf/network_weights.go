package ngcf

import (
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// The gradients of weights are sums over rows. To keep rounding errors down, and bits the same for any
// number of cores, rows are added up in shares that their number alone decides, and then share by share:
// of matrices, over the halves of blocks of blockRows rows; of biases, over sumRows rows.
const (
	blockRows = 1024
	halfRows  = blockRows / 2
	sumRows   = 128
)

// cutBlocks appends ranges of a side's rows that a core processes in backward: the halves of blocks. The last block
// stays whole if it is shorter than the others, because sumRows may not fit its halves.
func cutBlocks(spans []span, side, rows int) []span {
	for lo := 0; lo < rows; {
		hi := lo + halfRows
		if lo%blockRows == 0 && rows < lo+blockRows {
			hi = rows
		}
		spans = append(spans, span{side, lo, hi})
		lo = hi
	}
	return spans
}

// halves returns where a share ends within a range, and where the second one ends.
func (s span) halves() [2]int {
	if rows := s.hi - s.lo; rows > halfRows {
		return [2]int{s.lo + rows/2, s.hi}
	}
	return [2]int{s.hi, s.hi}
}

// shares holds the shares of a layer. Range k has two of either matrix and blockRows/sumRows of the biases.
type shares struct {
	weights []tensor.Float // (2 ranges, 2 d d)
	biases  tensor.Matrix  // (ranges blockRows/sumRows, d)
}

// layerRows holds tables of all rows of a layer: of the layer before, S, the gradient; the diagonal of Lap.
type layerRows struct {
	x, s, g     tensor.Matrix
	own         []tensor.Float
	keep        tensor.Float
	kept, above tensor.Bits
}

// rowsBack runs backward through rows of layer l+1, range by range; of returns the tables of one. It replaces the
// gradient at these rows by that at the same rows of the layer before, without the part that flows over edges, and S by
// its gradient. It adds to the gradients of the layer's weights.
func (n *network) rowsBack(l int, spans []span, leaves []*autograd.Node, of func(s span, w *scratch) layerRows) {
	d := n.m.c.Dim
	if len(spans) == 0 {
		return
	}
	n.shares.resize(len(spans), d)
	tensor.Parallel(len(spans), 1, func(k, _, _ int) {
		w := n.take()
		n.rangeBack(l, k, spans[k], of(spans[k], w), w)
		n.give(w)
	})
	n.shares.collect(spans, d, leaves[2+4*l:][:4])
}

func (h *shares) resize(ranges, d int) {
	size, groups := 4*ranges*d*d, ranges*blockRows/sumRows
	h.weights = slices.Grow(h.weights[:0], size)[:size]
	h.biases = tensor.From(groups, d, slices.Grow(h.biases.Data[:0], groups*d)[:groups*d])
}

// rangeBack runs backward through the rows of range k.
func (n *network) rangeBack(l, k int, s span, r layerRows, w *scratch) {
	const groups = blockRows / sumRows
	sums := tensor.RowsView(n.shares.biases, k*groups, (k+1)*groups)
	clear(sums.Data)
	lo := s.lo
	for half, hi := range s.halves() {
		if lo == hi {
			break
		}
		x, sum, g := tensor.RowsView(r.x, lo, hi), tensor.RowsView(r.s, lo, hi), tensor.RowsView(r.g, lo, hi)
		tensor.LeakyBack(g, slope, r.keep, r.kept.Row(lo), r.above.Row(lo))
		for i := lo; i < hi; i++ {
			tensor.Add(tensor.Row(sums, i%blockRows/sumRows), tensor.Row(r.g, i))
		}
		p := w.table(0, hi-lo)
		tensor.Mul(p.Data, x.Data, sum.Data)
		for m, in := range []tensor.Matrix{sum, p} {
			tensor.Gemm(true, false, 1, g, in, 0, n.shares.of(n.m.c.Dim, k, half, m))
		}
		for a := lo; a < hi; a += tileRows {
			b := min(hi, a+tileRows)
			one, two, g := w.table(1, b-a), w.table(2, b-a), tensor.RowsView(r.g, a, b)
			tensor.Gemm(false, false, 1, g, n.m.Sum[l].W.Value, 0, one)
			tensor.Gemm(false, false, 1, g, n.m.Bi[l].W.Value, 0, two)
			tensor.ScaledBack(r.own[a:b], tensor.RowsView(r.s, a, b), tensor.RowsView(r.x, a, b), one, two, g)
		}
		lo = hi
	}
}

// of returns the share of a half of range k in the gradient of W1 or W2.
func (h *shares) of(d, k, half, matrix int) tensor.Matrix {
	return tensor.From(d, d, h.weights[(4*k+2*half+matrix)*d*d:])
}

// shareGrain is the number of values of a matrix that a core adds up at a time.
const shareGrain = 1024

// collect adds the shares to the gradients of W1, b1, W2 and b2, in the order of the rows.
func (h *shares) collect(spans []span, d int, weights []*autograd.Node) {
	for m := range 2 {
		sum, bias := weights[2*m].AddGrad().Data, weights[2*m+1].AddGrad().Data
		tensor.Parallel(d*d, shareGrain, func(_, lo, hi int) {
			for k, s := range spans {
				for half := range 2 {
					if ends := s.halves(); half == 0 || ends[0] < ends[1] {
						tensor.Add(sum[lo:hi], h.of(d, k, half, m).Data[lo:hi])
					}
				}
			}
		})
		for k, s := range spans {
			for i := s.lo; i < s.hi; i += sumRows {
				tensor.Add(bias, tensor.Row(h.biases, k*blockRows/sumRows+i%blockRows/sumRows))
			}
		}
	}
}
