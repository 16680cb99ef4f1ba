package graph

import (
	"fmt"

	"privrec/internal/tensor"
)

// Packed holds the graphs of a batch of B prefixes with N nodes and M edges in
// all. Nodes of one sample are consecutive, in order of first appearance. An
// edge that a sequence takes w times is listed w times, so sums over the edge
// list are weighted by the raw count (Hu & Fang, eq. 4). The next Pack uses the
// arrays again.
type Packed struct {
	Node     []int32        // item id of each node (N)
	NodeOff  []int32        // nodes of sample b are NodeOff[b] .. NodeOff[b+1] (B+1)
	SampleOf []int32        // sample of each node (N)
	Count    []tensor.Float // positions that hold each node (N)
	Src, Dst []int32        // edge p -> p+1 as node numbers of the batch (M)
	EdgeOff  []int32        // edges of sample b are EdgeOff[b] .. EdgeOff[b+1] (B+1)
	Last     []int32        // node at the last position of each sample (B)
	User     []int32        // (B)
	Label    []int32        // item after the prefix (B)

	scratch degrees
}

// Len returns the number of samples, B.
func (g *Packed) Len() int { return len(g.User) }

// Nodes returns the number of nodes, N.
func (g *Packed) Nodes() int { return len(g.Node) }

// Pack fills g with samples, in that order. Sample i is the prefix of length
// length[i] >= 1 of the sequence of user[i]. Its label is the item that follows, 0
// where the prefix is the whole sequence. Pack panics on a prefix longer than its
// sequence.
func (g *Packed) Pack(s *Sessions, user, length, samples []int32) {
	g.Node, g.SampleOf, g.Count = g.Node[:0], g.SampleOf[:0], g.Count[:0]
	g.Src, g.Dst, g.Last, g.User, g.Label = g.Src[:0], g.Dst[:0], g.Last[:0], g.User[:0], g.Label[:0]
	g.NodeOff, g.EdgeOff = append(g.NodeOff[:0], 0), append(g.EdgeOff[:0], 0)
	for b, i := range samples {
		u, l := int(user[i]), int(length[i])
		at, end := s.start[u], s.start[u+1]
		if l < 1 || at+l > end {
			panic(fmt.Sprintf("graph: prefix of %d positions of user %d's sequence of %d", l, u, end-at))
		}
		n := int(s.distinct[at+l-1])
		base := int32(len(g.Node))
		g.Node = append(g.Node, s.nodes[s.nodeAt[u]:s.nodeAt[u]+n]...)
		for range n {
			g.SampleOf = append(g.SampleOf, int32(b))
			g.Count = append(g.Count, 0)
		}
		local := s.local[at : at+l]
		for q, v := range local {
			g.Count[base+v]++
			if q > 0 {
				g.Src = append(g.Src, base+local[q-1])
				g.Dst = append(g.Dst, base+v)
			}
		}
		g.Last = append(g.Last, base+local[l-1])
		g.User = append(g.User, user[i])
		label := int32(0)
		if at+l < end {
			label = s.items[at+l]
		}
		g.Label = append(g.Label, label)
		g.NodeOff = append(g.NodeOff, int32(len(g.Node)))
		g.EdgeOff = append(g.EdgeOff, int32(len(g.Src)))
	}
}
