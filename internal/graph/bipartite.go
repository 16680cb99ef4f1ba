package graph

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/tensor"
)

// Edge joins a user to an item, both counted from 0.
type Edge struct{ User, Item int32 }

// Bipartite holds the graph of users and items for collaborative filtering, in compressed rows of both directions and
// without values. It is made by NewBipartite, or put together from rows in both directions. It is read-only, safe for
// concurrent use, and must not be copied.
type Bipartite struct {
	Users, Items int
	UserPtr      []int64 // items of user u are UserItem[UserPtr[u]:UserPtr[u+1]] (Users+1)
	UserItem     []int32 // ascending within a user (E)
	ItemPtr      []int64 // users of item i are ItemUser[ItemPtr[i]:ItemPtr[i+1]] (Items+1)
	ItemUser     []int32 // ascending within an item (E)

	userOf []int32 // the user of every userStep-th edge, to find those of the others sooner
	near   nearOnce
}

// userStep is about one to a few times the median degree in the data sets used here.
const userStep = 64

// NewBipartite builds the graph of the edges, given in any order. It fails on an
// id outside 0..users-1 or 0..items-1, with the number of the edge, and on an edge
// given twice.
func NewBipartite(users, items int, edges []Edge) (*Bipartite, error) {
	if users < 0 || items < 0 || users > math.MaxInt32-items {
		return nil, fmt.Errorf("graph: %d users and %d items, want 0 to %d together", users, items, math.MaxInt32)
	}
	g := &Bipartite{Users: users, Items: items, UserPtr: make([]int64, users+1), ItemPtr: make([]int64, items+1)}
	for e, x := range edges {
		if x.User < 0 || int(x.User) >= users {
			return nil, fmt.Errorf("graph: edge %d: user %d is outside 0..%d", e, x.User, users-1)
		}
		if x.Item < 0 || int(x.Item) >= items {
			return nil, fmt.Errorf("graph: edge %d: item %d is outside 0..%d", e, x.Item, items-1)
		}
		g.UserPtr[x.User+1]++
		g.ItemPtr[x.Item+1]++
	}
	cumulate(g.UserPtr)
	cumulate(g.ItemPtr)
	// Three passes sort both directions: by item, then that by user, then that by item.
	g.ItemUser = make([]int32, len(edges))
	next := slices.Clone(g.ItemPtr)
	for _, x := range edges {
		g.ItemUser[next[x.Item]] = x.User
		next[x.Item]++
	}
	g.UserItem = transpose(g.ItemPtr, g.ItemUser, g.UserPtr)
	g.ItemUser = transpose(g.UserPtr, g.UserItem, g.ItemPtr)
	for u := range users {
		row := g.ItemsOf(u)
		for k := 1; k < len(row); k++ {
			if row[k] == row[k-1] {
				return nil, fmt.Errorf("graph: user %d has item %d twice", u, row[k])
			}
		}
	}
	for u := range users {
		for int64(len(g.userOf))*userStep < g.UserPtr[u+1] {
			g.userOf = append(g.userOf, int32(u))
		}
	}
	return g, nil
}

// cumulate turns counts, one place behind, into offsets.
func cumulate(ptr []int64) {
	for i := 1; i < len(ptr); i++ {
		ptr[i] += ptr[i-1]
	}
}

// transpose returns the rows that hold each column, ascending; to holds the columns' offsets.
func transpose(ptr []int64, idx []int32, to []int64) []int32 {
	out := make([]int32, len(idx))
	next := slices.Clone(to)
	for r := range len(ptr) - 1 {
		for _, c := range idx[ptr[r]:ptr[r+1]] {
			out[next[c]] = int32(r)
			next[c]++
		}
	}
	return out
}

// Edges returns the number of edges, E.
func (g *Bipartite) Edges() int { return len(g.UserItem) }

// Nodes returns the number of users and items. Where nodes are numbered together,
// user u is node u and item i node Users+i.
func (g *Bipartite) Nodes() int { return g.Users + g.Items }

// UserDegree returns the number of items of user u.
func (g *Bipartite) UserDegree(u int) int { return int(g.UserPtr[u+1] - g.UserPtr[u]) }

// ItemDegree returns the number of users of item i.
func (g *Bipartite) ItemDegree(i int) int { return int(g.ItemPtr[i+1] - g.ItemPtr[i]) }

// ItemsOf returns the items of user u, ascending. Do not change them.
func (g *Bipartite) ItemsOf(u int) []int32 { return g.UserItem[g.UserPtr[u]:g.UserPtr[u+1]] }

// UsersOf returns the users of item i, ascending. Do not change them.
func (g *Bipartite) UsersOf(i int) []int32 { return g.ItemUser[g.ItemPtr[i]:g.ItemPtr[i+1]] }

// Has reports whether there is an edge between user u and item i.
func (g *Bipartite) Has(u, i int32) bool {
	_, ok := slices.BinarySearch(g.ItemsOf(int(u)), i)
	return ok
}

// Edge returns the e-th edge, 0 <= e < Edges(), ordered by user and then by item.
func (g *Bipartite) Edge(e int) Edge {
	lo, hi := 0, g.Users-1
	if k := e / userStep; k < len(g.userOf) {
		lo = int(g.userOf[k])
		if k+1 < len(g.userOf) {
			hi = int(g.userOf[k+1])
		}
	}
	for lo < hi { // the first user whose edges end after e
		if u := int(uint(lo+hi) >> 1); g.UserPtr[u+1] > int64(e) {
			hi = u
		} else {
			lo = u + 1
		}
	}
	return Edge{User: int32(lo), Item: g.UserItem[e]}
}

// Packed holds the graphs of a batch of B prefixes with N nodes and M edges in all. Nodes of one sample are
// consecutive, in order of first appearance. An edge that a sequence takes w times is listed w times, so sums over the
// edge list are weighted by the raw count (Hu & Fang, eq. 4). The next Pack reuses the arrays.
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

// Pack fills g with samples, in that order. Sample i is the prefix of length length[i] >= 1 of the sequence of user[i].
// Its label is the item that follows, or 0 if the prefix is the whole sequence. Pack panics on a prefix longer than its
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
