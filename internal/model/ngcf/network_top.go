package ngcf

import (
	"slices"
	"sort"

	"privrec/internal/tensor"
)

// topRows holds the last layer of a side at the nodes of a batch, ascending.
type topRows struct {
	nodes []int32
	place []int32 // node -> place in nodes plus one, 0 for none
	ptr   []int32 // node k is in rows at[ptr[k]:ptr[k+1]] of the output, ascending
	at    []int32
	own   []tensor.Float

	x, s, y, g tensor.Matrix // rows of the layer before, S, the layer, its gradient; (len(nodes), d)
	reach      tensor.CSR    // rows: nodes of this side; columns: the other side's nodes of the batch next to them
}

// topRowsTile is the number of rows of the last layer processed at a time: they have many neighbours.
const topRowsTile = 64

// want sets the nodes to those of a batch, whose rows of the output begin at first.
func (t *topRows) want(batch []int32, first, d int) {
	for _, v := range t.nodes {
		t.place[v] = 0
	}
	t.nodes = t.nodes[:0]
	for _, v := range batch {
		if t.place[v] == 0 {
			t.nodes = append(t.nodes, v)
		}
		t.place[v]++
	}
	slices.Sort(t.nodes)
	t.ptr = append(t.ptr[:0], 0)
	for k, v := range t.nodes {
		t.ptr = append(t.ptr, t.ptr[k]+t.place[v])
		t.place[v] = int32(k + 1)
	}
	t.at = slices.Grow(t.at[:0], len(batch))[:len(batch)]
	for k := len(batch) - 1; k >= 0; k-- { // from the ends, so that ptr holds the starts afterwards
		p := &t.ptr[t.place[batch[k]]]
		*p--
		t.at[*p] = int32(first + k)
	}
	copy(t.ptr, t.ptr[1:])
	t.ptr[len(t.nodes)] = int32(len(batch))
	for _, m := range []*tensor.Matrix{&t.x, &t.s, &t.y, &t.g} {
		size := len(t.nodes) * d
		*m = tensor.From(len(t.nodes), d, slices.Grow(m.Data[:0], size)[:size])
	}
	t.own = slices.Grow(t.own[:0], len(t.nodes))[:len(t.nodes)]
}

// within returns the range of places whose nodes are in lo..hi.
func (t *topRows) within(lo, hi int) (from, to int) {
	find := func(v int) int { return sort.Search(len(t.nodes), func(k int) bool { return int(t.nodes[k]) >= v }) }
	return find(lo), find(hi)
}

// addOutput adds to row the gradient dy of the output at node k, columns lo to hi.
func (t *topRows) addOutput(row []tensor.Float, k int, dy tensor.Matrix, lo, hi int) {
	for _, b := range t.at[t.ptr[k]:t.ptr[k+1]] {
		tensor.Add(row, tensor.Row(dy, int(b))[lo:hi])
	}
}

// meet collects, for every node of the side, the nodes of the other side's batch that read it, in ascending order, with
// the entries of Lap that have not been dropped.
func (t *topRows) meet(other *topRows, to *tensor.CSR) {
	// Counts go two places up, so that filling moves them into the place of offsets.
	c := &t.reach
	c.Rows, c.Cols = to.Cols, len(other.nodes)
	ptr := slices.Grow(c.Ptr[:0], c.Rows+2)[:c.Rows+2]
	clear(ptr)
	for _, v := range other.nodes {
		for e := to.Ptr[v]; e < to.Ptr[v+1]; e++ {
			if to.Val[e] != 0 {
				ptr[to.Idx[e]+2]++
			}
		}
	}
	for i := 2; i < len(ptr); i++ {
		ptr[i] += ptr[i-1]
	}
	size := int(ptr[c.Rows+1])
	c.Idx, c.Val = slices.Grow(c.Idx[:0], size)[:size], slices.Grow(c.Val[:0], size)[:size]
	for k, v := range other.nodes {
		for e := to.Ptr[v]; e < to.Ptr[v+1]; e++ {
			if w := to.Val[e]; w != 0 {
				at := &ptr[to.Idx[e]+1]
				c.Idx[*at], c.Val[*at] = int32(k), w
				*at++
			}
		}
	}
	c.Ptr = ptr[:c.Rows+1]
}
