package nn

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"privrec/internal/tensor"
)

// work holds one call of a propagation; the next call reuses its memory.
type work struct {
	*plan
	call     *Propagation
	tables   [2]tensor.Matrix // layer 0
	frontier bool
	placed   bool // layers from 1 are by place, else by node
	short    bool // products gather from two-byte copies

	entry  []tensor.Float   // right, times what normalises layer 0 (N)
	scaled []tensor.Float   // memory for that
	inv    [][]tensor.Float // what normalised the rows of each layer, in the order of its rows (N)
	errs   []error          // by chunk

	at     []int32        // nodes of the output's rows
	batch  []int32        // the distinct ones, ascending
	users  int            // how many of them are users
	slot   []int32        // by place of both sides: where in batch its node is plus one, 0 for none (N)
	weight []tensor.Float // left of batch
	top    tensor.Matrix  // under a frontier: layer Layers at batch
	topInv []tensor.Float
	grad   tensor.Matrix // gradient of Z at batch
	sums   tensor.Matrix // blockRows of each chunk, on their way into copies
	reach  reach
}

// normTiny is the norm below which a row counts as zero.
const normTiny = 1e-30

// within lowers the factor 1/norm of a row, so that no rounding (of the factor, of each product) makes the row longer
// than 1.
const within = 1 - 4/float64(uint64(1)<<(24+29*(unsafe.Sizeof(tensor.Float(0))/8)))

// invert returns the factor that scales x to norm 1, or 0 for a row that counts as zero.
func invert(x []tensor.Float) tensor.Float {
	norm := math.Sqrt(tensor.SumSq(x))
	if norm < normTiny {
		return 0
	}
	return tensor.Float(within / norm)
}

// start prepares layer 0. Its normalised rows are never stored: the factors of the first product carry the norms.
func (w *work) start() {
	n := w.graph.Nodes()
	for len(w.inv) <= w.call.Layers {
		w.inv = append(w.inv, nil)
	}
	w.entry = w.right
	if !w.call.NormalizeRows {
		return
	}
	for l := range w.inv {
		if len(w.inv[l]) != n {
			w.inv[l] = make([]tensor.Float, n)
		}
	}
	if len(w.scaled) != n {
		w.scaled = make([]tensor.Float, n)
	}
	w.entry = w.scaled
	w.nodes(func(v int, x []tensor.Float) {
		w.inv[0][v] = invert(x)
		w.entry[v] = w.right[v] * w.inv[0][v]
	})
}

// nodes calls f with every node and its row of layer 0, in parallel.
func (w *work) nodes(f func(v int, x []tensor.Float)) {
	tensor.Parallel(w.graph.Nodes(), rowGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			f(v, w.row0(v))
		}
	})
}

// row0 returns row v of layer 0 as stored in the tables.
func (w *work) row0(v int) []tensor.Float {
	if v < w.graph.Users {
		return tensor.Row(w.tables[UserSide], v)
	}
	return tensor.Row(w.tables[ItemSide], v-w.graph.Users)
}

// halves returns both sides of a table of all nodes.
func (w *work) halves(m tensor.Matrix) [2]tensor.Matrix {
	return [2]tensor.Matrix{w.half(m, UserSide), w.half(m, ItemSide)}
}

// admit validates the batch and takes it over.
func (w *work) admit(batchUsers, batchItems []int32) error {
	g := w.graph
	if len(w.slot) != g.Nodes() {
		w.slot = make([]int32, g.Nodes())
	}
	clear(w.slot)
	w.at, w.batch, w.weight = w.at[:0], w.batch[:0], w.weight[:0]
	for side, ids := range [2][]int32{batchUsers, batchItems} {
		for k, id := range ids {
			if id < 0 || int(id) >= w.size(Side(side)) {
				return fmt.Errorf("nn: propagation: %s %d at position %d of the batch is outside 0..%d",
					[2]string{"user", "item"}[side], id, k, w.size(Side(side))-1)
			}
			w.at = append(w.at, int32(w.first(Side(side)))+id)
		}
	}
	for _, v := range w.at {
		if s := w.spot(v); w.slot[s] == 0 {
			w.slot[s] = 1
			w.batch = append(w.batch, v)
		}
	}
	slices.Sort(w.batch)
	w.users = 0
	for k, v := range w.batch {
		w.slot[w.spot(v)] = int32(k + 1)
		w.weight = append(w.weight, w.left[v])
		if int(v) < g.Users {
			w.users++
		}
	}
	return nil
}

// forward computes layers 1..Layers where the batch needs them.
func (w *work) forward() error {
	layers := w.call.Layers
	if w.frontier {
		if err := w.reach.find(w); err != nil {
			return err
		}
	}
	src := w.entries()
	for l := 1; l < layers; l++ {
		var only *reach
		if w.frontier && l == layers-1 {
			only = &w.reach
		}
		dst := w.table(l - 1)
		if w.short {
			w.roundedLayer(l, src, dst, only)
			src = shortOnes(w.copied(l))
			continue
		}
		if err := w.layer(l, src, dst, only); err != nil {
			return err
		}
		src = whole(w.halves(dst))
	}
	if w.frontier {
		return w.topLayer(src)
	}
	return w.layer(layers, src, w.table(layers-1), nil)
}

// into returns the edges on which layer l-1 flows to a side, and the factors of its rows.
func (w *work) into(l int, side Side) (tensor.Pattern, []tensor.Float) {
	other := 1 - side
	switch {
	case l == 1:
		return w.plan.rows[side], w.part(w.entry, other)
	case w.placed:
		return w.inner[side], w.rightAt[other]
	default:
		return w.plan.rows[side], w.part(w.right, other)
	}
}

// layer computes layer l from the one before, all rows or only some.
func (w *work) layer(l int, src [2]origin, dst tensor.Matrix, only *reach) error {
	counts := [2]int{w.graph.Users, w.graph.Items}
	if only != nil {
		counts = only.rows
	}
	block := w.block()
	return w.released(l, counts, len(w.chunks), func(c int) error {
		ch := w.chunks[c]
		p, factors := w.into(l, ch.side)
		base, nodes, mine, x := w.first(ch.side), w.nodeAt[ch.side], w.half(dst, ch.side), src[1-ch.side]
		for lo, hi := only.run(base, ch.lo, ch.hi, block); lo < hi; lo, hi = only.run(base, hi, ch.hi, block) {
			if w.placed {
				x.gather(p, lo, hi, w.leftAt[ch.side], factors, tensor.RowsView(mine, lo, hi))
			} else {
				w.aggregate(ch.side, p, lo, hi, w.leftAt[ch.side], factors, x, mine)
			}
			if block == chunkRows {
				continue // nothing to finish
			}
			for from, to := lo, lo; from < hi; from = to {
				first := int(nodes[from])
				for to < hi && int(nodes[to]) == first+to-from {
					to++
				}
				rank, row := first, first
				if only != nil {
					rank = int(only.rank[base+first])
				}
				if w.placed {
					row = from
				}
				rows := tensor.RowsView(mine, row, row+to-from)
				if err := w.finish(l, ch.side, first, rank, rows, base+row); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// block returns the number of rows to aggregate before they are perturbed or normalised.
func (w *work) block() int {
	if w.call.Noise == nil && !w.call.NormalizeRows {
		return chunkRows
	}
	return blockRows
}

// topLayer computes the last layer at the batch's nodes only.
func (w *work) topLayer(src [2]origin) error {
	n := len(w.batch)
	w.top, w.topInv = grown(w.top, n, w.cols), slices.Grow(w.topInv[:0], n)[:n]
	l := w.call.Layers
	return w.released(l, [2]int{w.users, n - w.users}, (n+topGrain-1)/topGrain, func(c int) error {
		for lo := c * topGrain; lo < min(n, (c+1)*topGrain); lo++ {
			v, side := int(w.batch[lo]), UserSide
			rank := lo
			if lo >= w.users {
				side, rank = ItemSide, lo-w.users
			}
			other, id := 1-side, v-w.first(side)
			rows := tensor.RowsView(w.top, lo, lo+1)
			place := w.place(side, int32(v))
			p, factors := w.into(l, side)
			src[other].gather(p, place, place+1, w.leftAt[side], factors, rows)
			if err := w.finish(l, side, id, rank, rows, lo); err != nil {
				return err
			}
		}
		return nil
	})
}

// topGrain is the number of rows of the batch that a core handles at a time.
const topGrain = 32

// grown returns a rows x cols matrix, in the memory of m if that is large enough.
func grown(m tensor.Matrix, rows, cols int) tensor.Matrix {
	return tensor.From(rows, cols, slices.Grow(m.Data[:0], rows*cols)[:rows*cols])
}

// released runs the pieces of layer l between the noise's Begin and End.
func (w *work) released(l int, counts [2]int, n int, piece func(c int) error) error {
	noise := w.call.Noise
	if noise != nil {
		if err := noise.Begin(l, counts, w.cols); err != nil {
			return fmt.Errorf("nn: propagation: noise of layer %d: %w", l, err)
		}
	}
	w.errs = slices.Grow(w.errs[:0], n)[:n]
	clear(w.errs)
	tensor.Parallel(n, 1, func(_, lo, hi int) {
		for c := lo; c < hi; c++ {
			w.errs[c] = piece(c)
		}
	})
	for _, err := range w.errs {
		if err != nil {
			return fmt.Errorf("nn: propagation: noise of layer %d: %w", l, err)
		}
	}
	if noise != nil {
		if err := noise.End(l); err != nil {
			return fmt.Errorf("nn: propagation: noise of layer %d: %w", l, err)
		}
	}
	return nil
}

// finish adds noise to freshly aggregated rows and normalises them; at is the index of the first one's norm.
func (w *work) finish(l int, side Side, first, rank int, rows tensor.Matrix, at int) error {
	if noise := w.call.Noise; noise != nil {
		if err := noise.Add(l, side, first, rank, rows.Data[:rows.Rows*w.cols]); err != nil {
			return err
		}
	}
	if !w.call.NormalizeRows {
		return nil
	}
	inv := w.inv[l]
	if w.frontier && l == w.call.Layers {
		inv = w.topInv
	}
	for k := range rows.Rows {
		x := rows.Data[k*w.cols : (k+1)*w.cols]
		inv[at+k] = invert(x)
		tensor.Scale(inv[at+k], x)
	}
	return nil
}

// last returns the row of the last layer at a node of the batch, and the factor that normalised it.
func (w *work) last(v int32) (x []tensor.Float, inv tensor.Float) {
	at, m, scale := w.spot(v), tensor.Matrix{}, w.inv[w.call.Layers]
	if w.frontier {
		at, m, scale = int(w.slot[at])-1, w.top, w.topInv
	} else {
		m = w.table(w.call.Layers - 1)
	}
	if w.call.NormalizeRows {
		inv = scale[at]
	}
	return tensor.Row(m, at), inv
}

// output sets row k of z to the row of Z at node at[k].
func (w *work) output(z tensor.Matrix) {
	weights := w.call.Weights
	tensor.Parallel(len(w.at), rowGrain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			v, y := w.at[k], tensor.Row(z, k)
			a := weights[0]
			if w.call.NormalizeRows {
				a *= float64(w.inv[0][v])
			}
			tensor.ScaleTo(tensor.Float(a), y, w.row0(int(v)))
			for l := 1; l < w.call.Layers; l++ {
				tensor.Axpy(tensor.Float(weights[l]), tensor.Row(w.plan.tables[l-1], w.spot(v)), y)
			}
			x, _ := w.last(v)
			tensor.Axpy(tensor.Float(weights[w.call.Layers]), x, y)
		}
	})
}

// each computes all rows of all layers and calls visit with each. Two layers are in memory at a time.
func (w *work) each(visit func(layer int, x tensor.Matrix) error) error {
	if err := visit(0, w.layer0(w.table(1))); err != nil {
		return err
	}
	src := w.entries()
	for l := 1; l <= w.call.Layers; l++ {
		dst := w.table((l - 1) % 2)
		if err := w.layer(l, src, dst, nil); err != nil {
			return err
		}
		if err := visit(l, dst); err != nil {
			return err
		}
		src = whole(w.halves(dst))
	}
	return nil
}

// layer0 writes layer 0 to dst.
func (w *work) layer0(dst tensor.Matrix) tensor.Matrix {
	w.nodes(func(v int, x []tensor.Float) {
		f := tensor.Float(1)
		if w.call.NormalizeRows {
			f = w.inv[0][v]
		}
		tensor.ScaleTo(f, tensor.Row(dst, v), x)
	})
	return dst
}

// product sets dst to one aggregation of the rows of src, by node.
func (w *work) product(src [2]origin, dst [2]tensor.Matrix) {
	tensor.Parallel(len(w.chunks), 1, func(c, _, _ int) {
		ch := w.chunks[c]
		other := 1 - ch.side
		w.aggregate(ch.side, w.plan.rows[ch.side], ch.lo, ch.hi, w.leftAt[ch.side], w.part(w.right, other), src[other],
			dst[ch.side])
	})
}
