package ngcf

import (
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// pair is a table of each side, users and items.
type pair [2]tensor.Matrix

// network computes the layers of a model as one operation. On a tape of single operations a
// layer of all nodes keeps a dozen tables. Here a layer keeps its rows, what they
// aggregated and two bits a value; backward computes again what else it needs, a block of
// rows at a time. The last layer is computed only at the rows of a batch.
type network struct {
	m     *Model
	slab  [2][]tensor.Float // by side: tables one after the other, each (nodes, d)
	layer []pair            // E of layers 1..L-1
	sum   []pair            // S of layers 1..L-1; on the way back their gradients
	grad  pair              // at the layer that backward has reached
	top   [2]topRows        // the last layer
	kept  [][2]bitRows      // by layer: which values dropout kept
	above [][2]bitRows      // by layer: which values were above 0 before dropout
	turn  int               // calls so far: a later one uses the memory of an earlier one

	work [5]tensor.Matrix // blocks of rows
	draw []tensor.Float
}

// blockRows is how many rows are computed at a time. Uniforms are drawn in groups of 64,
// so that it is a multiple of those.
const blockRows = 1024

// rowGrain is how many rows of a block a core takes.
const rowGrain = 64

// bitRows is a bit for every value of a table.
type bitRows struct {
	words int // a row
	bits  []uint64
}

func (b *bitRows) resize(rows, cols int) {
	b.words = (cols + 63) / 64
	b.bits = slices.Grow(b.bits[:0], rows*b.words)[:rows*b.words]
}

func (b *bitRows) row(i int) []uint64 { return b.bits[i*b.words : (i+1)*b.words] }

// topRows is the last layer of a side at some nodes, ascending.
type topRows struct {
	nodes []int32
	place []int32    // node -> place in nodes plus one, 0 for none
	lap   tensor.CSR // their rows of Lap
	own   []tensor.Float

	x, s, y, g tensor.Matrix // rows of the layer before, S, the layer, its gradient; (len(nodes), d)
}

func newNetwork(m *Model) *network {
	n := &network{m: m, kept: make([][2]bitRows, m.c.Layers), above: make([][2]bitRows, m.c.Layers)}
	inner, d := m.c.Layers-1, m.c.Dim
	tables := max(2*inner+1, m.c.Layers+1+2)
	n.layer, n.sum = make([]pair, inner), make([]pair, inner)
	for side, p := range []*autograd.Param{m.User, m.Item} {
		n.slab[side] = tensor.NewTable(p.Value.Rows*tables, d).Data
		for l := range inner {
			n.layer[l][side], n.sum[l][side] = n.table(side, 2*l), n.table(side, 2*l+1)
		}
		n.grad[side] = n.table(side, 2*inner)
		n.top[side].place = make([]int32, p.Value.Rows)
	}
	for i := range n.work {
		n.work[i] = tensor.New(blockRows, d)
	}
	return n
}

// table returns the k-th table of a side.
func (n *network) table(side, k int) tensor.Matrix {
	rows, d := n.m.params(side).Rows, n.m.c.Dim
	return tensor.From(rows, d, n.slab[side][k*rows*d:(k+1)*rows*d])
}

func (m *Model) params(side int) tensor.Matrix {
	if side == 0 {
		return m.User.Value
	}
	return m.Item.Value
}

// below returns what layer l reads: the tables for l = 0, else the layer before.
func (n *network) below(l int) pair {
	if l == 0 {
		return pair{n.m.User.Value, n.m.Item.Value}
	}
	return n.layer[l-1]
}

// eachBlock calls f with consecutive ranges of rows.
func eachBlock(rows int, f func(lo, hi int)) {
	for lo := 0; lo < rows; lo += blockRows {
		f(lo, min(rows, lo+blockRows))
	}
}

// scratch returns the first rows of the k-th block.
func (n *network) scratch(k, rows int) tensor.Matrix { return tensor.RowsView(n.work[k], 0, rows) }

// aggregate puts S at some rows of a side into s: Lap times the rows of the other side, plus
// the diagonal times x, the rows themselves.
func (n *network) aggregate(lap *tensor.CSR, own []tensor.Float, from, x, s tensor.Matrix) {
	lap.MulDense(s, from)
	self := n.scratch(0, x.Rows)
	tensor.Parallel(x.Rows, rowGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			tensor.ScaleTo(own[i], tensor.Row(self, i), tensor.Row(x, i))
			tensor.Add(tensor.Row(s, i), tensor.Row(self, i))
		}
	})
}

// lapRows returns rows lo to hi of a matrix.
func lapRows(m *tensor.CSR, lo, hi int) *tensor.CSR {
	return &tensor.CSR{Rows: hi - lo, Cols: m.Cols, Ptr: m.Ptr[lo : hi+1], Idx: m.Idx, Val: m.Val}
}

// transform puts LeakyReLU(s W1 + b1 + (x ∘ s) W2 + b2) into y. Unless above is nil, it also
// puts the signs of LeakyReLU's argument into above, from row first on.
func (n *network) transform(l int, x, s, y tensor.Matrix, above *bitRows, first int) {
	p, bi := n.scratch(0, x.Rows), n.scratch(1, x.Rows)
	one, two := n.m.Sum[l], n.m.Bi[l]
	tensor.Parallel(x.Rows, rowGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			tensor.Mul(tensor.Row(p, i), tensor.Row(x, i), tensor.Row(s, i))
			copy(tensor.Row(y, i), one.B.Value.Data)
			copy(tensor.Row(bi, i), two.B.Value.Data)
		}
	})
	tensor.Gemm(false, true, 1, s, one.W.Value, 1, y)
	tensor.Gemm(false, true, 1, p, two.W.Value, 1, bi)
	tensor.Parallel(x.Rows, rowGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := tensor.Row(y, i)
			tensor.Add(row, tensor.Row(bi, i))
			if above != nil {
				signs := above.row(first + i)
				clear(signs)
				for k, v := range row {
					if v > 0 {
						signs[k/64] |= 1 << (k % 64)
					}
				}
			}
			for k, v := range row {
				row[k] = max(v, slope*v)
			}
		}
	})
}

// dropped draws what dropout keeps of a layer of a side, block by block, and calls f with
// the uniforms of rows lo..hi.
func (n *network) dropped(stream rng.Stream, rows int, f func(lo, hi int, u []tensor.Float)) {
	d := n.m.c.Dim
	eachBlock(rows, func(lo, hi int) {
		n.draw = slices.Grow(n.draw[:0], blockRows*d)[:(hi-lo)*d]
		if x, ok := any(n.draw).([]float32); ok {
			stream.Uniforms(x)
		} else {
			for i := range n.draw {
				n.draw[i] = tensor.Float(stream.Float64())
			}
		}
		f(lo, hi, n.draw)
	})
}

// drop applies dropout to a row, whose uniform numbers are u, and notes what it kept.
func drop(row, u []tensor.Float, p float64, kept []uint64) {
	keep := tensor.Float(1 / (1 - p))
	clear(kept)
	for k, v := range u {
		if float64(v) < p {
			row[k] = 0
		} else {
			row[k] *= keep
			kept[k/64] |= 1 << (k % 64)
		}
	}
}

// message returns the random stream of a layer's dropout.
func (n *network) message(step, l, side int) rng.Stream {
	return n.m.seed.Stream("ngcf.message", uint64(step), uint64(l), uint64(side))
}

// forward computes layers 1..L-1 at all nodes, and layer L at the nodes of top.
func (n *network) forward(step int, training bool) {
	m, p := n.m, n.m.c.MessageDropout
	if !training {
		p = 0
	}
	for l := range n.layer {
		x := n.below(l)
		for side := range x {
			to, own, above, kept := m.lap.to[side], m.lap.own[side].Data, &n.above[l][side], &n.kept[l][side]
			s, y := n.sum[l][side], n.layer[l][side]
			above.resize(y.Rows, y.Cols)
			eachBlock(y.Rows, func(lo, hi int) {
				rows, sums := tensor.RowsView(x[side], lo, hi), tensor.RowsView(s, lo, hi)
				n.aggregate(lapRows(to, lo, hi), own[lo:hi], x[1-side], rows, sums)
				n.transform(l, rows, sums, tensor.RowsView(y, lo, hi), above, lo)
			})
			if kept.resize(y.Rows, y.Cols); p == 0 {
				continue
			}
			n.dropped(n.message(step, l, side), y.Rows, func(first, end int, u []tensor.Float) {
				tensor.Parallel(end-first, rowGrain, func(_, lo, hi int) {
					for i := lo; i < hi; i++ {
						drop(tensor.Row(y, first+i), u[i*y.Cols:(i+1)*y.Cols], p, kept.row(first+i))
					}
				})
			})
		}
	}
	last := m.c.Layers - 1
	x := n.below(last)
	for side := range n.top {
		t, above, kept := &n.top[side], &n.above[last][side], &n.kept[last][side]
		t.take(m.lap.to[side], m.lap.own[side].Data, x[side])
		above.resize(t.y.Rows, t.y.Cols)
		eachBlock(t.y.Rows, func(lo, hi int) {
			rows, sums := tensor.RowsView(t.x, lo, hi), tensor.RowsView(t.s, lo, hi)
			n.aggregate(lapRows(&t.lap, lo, hi), t.own[lo:hi], x[1-side], rows, sums)
			n.transform(last, rows, sums, tensor.RowsView(t.y, lo, hi), above, lo)
		})
		if kept.resize(t.y.Rows, t.y.Cols); p == 0 {
			continue
		}
		k := 0
		n.dropped(n.message(step, last, side), x[side].Rows, func(lo, hi int, u []tensor.Float) {
			for ; k < len(t.nodes) && int(t.nodes[k]) < hi; k++ {
				at := (int(t.nodes[k]) - lo) * t.y.Cols
				drop(tensor.Row(t.y, k), u[at:at+t.y.Cols], p, kept.row(k))
			}
		})
	}
}

// want lists the nodes of a batch, each once.
func (t *topRows) want(batch []int32) {
	for _, v := range t.nodes {
		t.place[v] = 0
	}
	t.nodes = t.nodes[:0]
	for _, v := range batch {
		if t.place[v] == 0 {
			t.place[v] = 1
			t.nodes = append(t.nodes, v)
		}
	}
	slices.Sort(t.nodes)
	for k, v := range t.nodes {
		t.place[v] = int32(k + 1)
	}
}

// take copies the nodes' rows of Lap and of the layer before.
func (t *topRows) take(to *tensor.CSR, own []tensor.Float, x tensor.Matrix) {
	for _, m := range []*tensor.Matrix{&t.x, &t.s, &t.y, &t.g} {
		size := len(t.nodes) * x.Cols
		*m = tensor.From(len(t.nodes), x.Cols, slices.Grow(m.Data[:0], size)[:size])
	}
	c := &t.lap
	c.Rows, c.Cols, c.Ptr, c.Idx, c.Val, t.own = len(t.nodes), to.Cols, append(c.Ptr[:0], 0), c.Idx[:0], c.Val[:0], t.own[:0]
	for k, v := range t.nodes {
		a, b := to.Ptr[v], to.Ptr[v+1]
		c.Idx, c.Val = append(c.Idx, to.Idx[a:b]...), append(c.Val, to.Val[a:b]...)
		c.Ptr, t.own = append(c.Ptr, int64(len(c.Idx))), append(t.own, own[v])
		copy(tensor.Row(t.x, k), tensor.Row(x, int(v)))
	}
}

// rows returns the rows of a batch in all layers side by side, users first, then items
// (len(users)+len(items), (L+1) d), not normalised. Their backward must run before the next
// call of a method of n.
func (n *network) rows(t *autograd.Tape, step int, users, items []int32) *autograd.Node {
	m, d := n.m, n.m.c.Dim
	n.turn++
	turn := n.turn
	m.lap.drop(t.Training(), m.c.NodeDropout, m.seed.Stream("ngcf.node", uint64(step)))
	leaves := []*autograd.Node{t.Use(m.User), t.Use(m.Item)}
	for l := range m.Sum {
		for _, p := range nn.Params(m.Sum[l], m.Bi[l]) {
			leaves = append(leaves, t.Use(p))
		}
	}
	batch := [2][]int32{users, items}
	for side := range n.top {
		n.top[side].want(batch[side])
	}
	n.forward(step, t.Training())
	y := t.Fused("ngcf", len(users)+len(items), (m.c.Layers+1)*d, leaves...)
	n.each(batch, func(side, k int, v int32) {
		row := tensor.Row(y.V, k)
		for l := range m.c.Layers {
			copy(row[l*d:(l+1)*d], tensor.Row(n.below(l)[side], int(v)))
		}
		copy(row[m.c.Layers*d:], tensor.Row(n.top[side].y, int(n.top[side].place[v])-1))
	})
	dropout := t.Training() && m.c.MessageDropout > 0
	return t.Custom("ngcf", y, func() {
		if n.turn != turn {
			panic(&autograd.Error{Op: "ngcf", Message: "backward after another call of the same model", Params: []string{m.User.Name, m.Item.Name}})
		}
		n.turn++ // what the way back needs is used up
		n.backward(leaves, batch, y.G, dropout)
	})
}

// each calls f with every place of a batch, its side and its node.
func (n *network) each(batch [2][]int32, f func(side, k int, v int32)) {
	k := 0
	for side, nodes := range batch {
		for _, v := range nodes {
			f(side, k, v)
			k++
		}
	}
}
