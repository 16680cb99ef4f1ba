package ngcf

import (
	"slices"

	"privrec/internal/graph"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// laplacian holds Lap, (A + I) of a bipartite graph with rows that sum to 1, in its blocks,
// users then items, with the entries that a step keeps.
type laplacian struct {
	to   [2]*tensor.CSR   // rows of a side, columns of the other one
	back [2]*tensor.CSR   // their transposes
	own  [2]tensor.Matrix // the diagonal (nodes, 1)

	across [2][]int32        // place in the other direction's order of every entry of to[side]
	whole  [2][]tensor.Float // 1/(degree+1) of every node
	full   bool              // nothing is dropped
	draw   []float32
}

func newLaplacian(g *graph.Bipartite) *laplacian {
	l := &laplacian{}
	ptr, idx := [2][]int64{g.UserPtr, g.ItemPtr}, [2][]int32{g.UserItem, g.ItemUser}
	nodes := [2]int{g.Users, g.Items}
	for side := range 2 {
		other := 1 - side
		values := func() []tensor.Float { return make([]tensor.Float, len(idx[side])) }
		l.to[side] = &tensor.CSR{Rows: nodes[side], Cols: nodes[other], Ptr: ptr[side], Idx: idx[side], Val: values()}
		l.back[side] = &tensor.CSR{Rows: nodes[other], Cols: nodes[side], Ptr: ptr[other], Idx: idx[other], Val: values()}
		l.own[side] = tensor.New(nodes[side], 1)
		l.whole[side] = make([]tensor.Float, nodes[side])
		l.across[side] = make([]int32, len(idx[side]))
		next := slices.Clone(ptr[other])
		for v := range nodes[side] {
			l.whole[side][v] = tensor.Float(1 / float64(ptr[side][v+1]-ptr[side][v]+1))
			for e := ptr[side][v]; e < ptr[side][v+1]; e++ {
				k := &next[idx[side][e]]
				l.across[side][e] = int32(*k)
				*k++
			}
		}
	}
	return l
}

// drop fills the entries of a step. In training each is left out with probability p and the
// others are divided by 1-p; in evaluation all stay as they are.
func (l *laplacian) drop(training bool, p float64, stream rng.Stream) {
	if !training {
		p = 0
	}
	if p == 0 && l.full {
		return
	}
	l.full = p == 0
	keep := tensor.Float(1 / (1 - p))
	for side := range 2 {
		to, back := l.to[side], l.back[side]
		edges := l.uniforms(stream.Sub(uint64(side), 0), len(to.Val), p)
		for v := range to.Rows {
			w := keep * l.whole[side][v]
			for e := to.Ptr[v]; e < to.Ptr[v+1]; e++ {
				x := w
				if p > 0 && float64(edges[e]) < p {
					x = 0
				}
				to.Val[e], back.Val[l.across[side][e]] = x, x
			}
		}
		nodes := l.uniforms(stream.Sub(uint64(side), 1), to.Rows, p)
		for v := range to.Rows {
			l.own[side].Data[v] = keep * l.whole[side][v]
			if p > 0 && float64(nodes[v]) < p {
				l.own[side].Data[v] = 0
			}
		}
	}
}

// uniforms draws n numbers in [0,1), or none where nothing is dropped.
func (l *laplacian) uniforms(stream rng.Stream, n int, p float64) []float32 {
	if p == 0 {
		return nil
	}
	l.draw = slices.Grow(l.draw[:0], n)[:n]
	stream.Uniforms(l.draw)
	return l.draw
}
