package ngcf

import (
	"math"
	"slices"
	"sync"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// pair holds a table for each side, users and items.
type pair [2]tensor.Matrix

// network computes the layers of a model as one operation. On a tape of single operations a layer of all nodes keeps a
// dozen tables. Here a layer keeps its rows, their aggregates and two bits a value; backward recomputes the rest. A
// core takes some rows at a time through all steps from the sums over neighbours to dropout, or back, while they are in
// a near cache. The last layer is computed only at the rows of a batch.
type network struct {
	m     *Model
	slab  [2][]tensor.Float // by side: tables one after the other, each (nodes, d)
	layer []pair            // E of layers 1..L-1
	sum   []pair            // S of layers 1..L-1; on the way back their gradients
	grad  pair              // at the layer that backward has reached
	top   [2]topRows        // the last layer
	kept  [][2]tensor.Bits  // by layer: which values dropout kept
	above [][2]tensor.Bits  // by layer: which values were above 0 before dropout
	all1  tensor.Bits       // what is kept without dropout, of any row
	turn  int               // calls so far: a later one uses the memory of an earlier one

	tiles  []span // of all nodes
	blocks []span // of all nodes
	ours   []span // tiles or blocks of the last layer's rows
	shares shares

	lock sync.Mutex
	idle []*scratch
}

// span holds a range of rows of a side.
type span struct{ side, lo, hi int }

func (s span) of(m tensor.Matrix) tensor.Matrix { return tensor.RowsView(m, s.lo, s.hi) }

// tileRows is the number of rows that go through a layer at a time. It is a multiple of 64, because uniforms are drawn
// in groups of 64.
const tileRows = 256

// cut appends ranges of a side's rows, of at most size.
func cut(spans []span, side, rows, size int) []span {
	for lo := 0; lo < rows; lo += size {
		spans = append(spans, span{side, lo, min(rows, lo+size)})
	}
	return spans
}

// scratch holds a core's memory for rows.
type scratch struct {
	rows  [3]tensor.Matrix // (halfRows, d)
	bits  []uint64         // drawn for tileRows
	spare tensor.Bits      // for bits that nobody reads, of any row
}

// table returns the first rows of the k-th matrix.
func (w *scratch) table(k, rows int) tensor.Matrix { return tensor.RowsView(w.rows[k], 0, rows) }

// each calls f with every span, on all cores, and with memory of the core's own.
func (n *network) each(spans []span, f func(s span, w *scratch)) {
	tensor.Parallel(len(spans), 1, func(k, _, _ int) {
		w := n.take()
		f(spans[k], w)
		n.give(w)
	})
}

func (n *network) give(w *scratch) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.idle = append(n.idle, w)
}

func (n *network) take() *scratch {
	n.lock.Lock()
	defer n.lock.Unlock()
	if last := len(n.idle) - 1; last >= 0 {
		w := n.idle[last]
		n.idle = n.idle[:last]
		return w
	}
	d := n.m.c.Dim
	w := &scratch{bits: make([]uint64, tileRows/64*d+1), spare: tensor.Bits{Words: make([]uint64, wordsOf(d))}}
	for k := range w.rows {
		w.rows[k] = tensor.New(halfRows, d)
	}
	return w
}

// wordsOf returns the number of words for the bits of d values.
func wordsOf(d int) int { return (d + 63) / 64 }

// resize returns b with room for the bits of a table.
func resize(b tensor.Bits, rows, cols int) tensor.Bits {
	size := rows * wordsOf(cols)
	return tensor.Bits{Stride: wordsOf(cols), Words: slices.Grow(b.Words[:0], size)[:size]}
}

func newNetwork(m *Model) *network {
	n := &network{m: m, kept: make([][2]tensor.Bits, m.c.Layers), above: make([][2]tensor.Bits, m.c.Layers)}
	inner, d := m.c.Layers-1, m.c.Dim
	tables := max(2*inner+1, m.c.Layers+1+2)
	n.layer, n.sum = make([]pair, inner), make([]pair, inner)
	for side, p := range []*autograd.Param{m.User, m.Item} {
		n.slab[side] = tensor.NewTable(p.Value.Rows*tables, d).Data
		for l := range inner {
			n.layer[l][side], n.sum[l][side] = n.table(side, 2*l), n.table(side, 2*l+1)
			n.kept[l][side], n.above[l][side] = resize(tensor.Bits{}, p.Value.Rows, d),
				resize(tensor.Bits{}, p.Value.Rows, d)
		}
		n.grad[side] = n.table(side, 2*inner)
		n.top[side].place = make([]int32, p.Value.Rows)
		n.tiles = cut(n.tiles, side, p.Value.Rows, tileRows)
		n.blocks = cutBlocks(n.blocks, side, p.Value.Rows)
	}
	n.all1.Words = slices.Repeat([]uint64{math.MaxUint64}, wordsOf(d))
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

// below returns the input of layer l: the tables for l = 0, else the layer before.
func (n *network) below(l int) pair {
	if l == 0 {
		return pair{n.m.User.Value, n.m.Item.Value}
	}
	return n.layer[l-1]
}

// batchGrain is the number of rows of a batch that a core processes at a time.
const batchGrain = 64

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
	n.top[0].want(users, 0, d)
	n.top[1].want(items, len(users), d)
	dropout := t.Training() && m.c.MessageDropout > 0
	n.forward(step, dropout)
	y := t.Fused("ngcf", len(users)+len(items), (m.c.Layers+1)*d, leaves...)
	tensor.Parallel(y.V.Rows, batchGrain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			side, v := 0, int32(0)
			if k < len(users) {
				v = users[k]
			} else {
				side, v = 1, items[k-len(users)]
			}
			row := tensor.Row(y.V, k)
			for l := range m.c.Layers {
				copy(row[l*d:(l+1)*d], tensor.Row(n.below(l)[side], int(v)))
			}
			copy(row[m.c.Layers*d:], tensor.Row(n.top[side].y, int(n.top[side].place[v])-1))
		}
	})
	return t.Custom("ngcf", y, func() {
		if n.turn != turn {
			panic(&autograd.Error{Op: "ngcf", Message: "backward after another call of the same model",
				Params: []string{m.User.Name, m.Item.Name}})
		}
		n.turn++ // the memory that backward needs is overwritten
		n.backward(leaves, y.G, dropout)
	})
}

// all returns the final vectors of all nodes without dropout, (nodes, (L+1) d) for each side. They reuse the memory of
// a step.
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
	}
	x := n.below(0)
	n.each(n.tiles, func(t span, _ *scratch) {
		for i := t.lo; i < t.hi; i++ {
			copy(tensor.Row(z[t.side], i)[:d], tensor.Row(x[t.side], i))
		}
	})
	for l := range m.Sum {
		n.each(n.tiles, func(t span, w *scratch) {
			s, y := w.table(2, t.hi-t.lo), t.of(next[l%2][t.side])
			m.lap.mul(t.side, t.lo, t.hi, x[1-t.side], s)
			n.transform(l, m.lap.own[t.side].Data[t.lo:t.hi], t.of(x[t.side]), s, y, 1, n.all1, w.spare, w)
			tensor.NormalizeRows(tensor.ColsView(t.of(z[t.side]), (l+1)*d, (l+2)*d), y, 1, shortest, nil)
		})
		x = next[l%2]
	}
	return z
}
