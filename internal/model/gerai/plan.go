package gerai

import (
	"slices"

	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// plan lists the nodes and edges that a step computes. User u is node u of the graph and item i is node Users+i.
// Centres are the nodes whose z* is wanted, users then items. Nodes are those whose message is wanted: the centres and
// the neighbours that they look at.
type plan struct {
	centres  []int32    // nodes of the graph, ascending
	users    int        // how many of the centres are users
	whole    bool       // every node of the graph is among the nodes
	nodes    []int32    // nodes of the graph, ascending, unless whole
	border   int        // how many of the nodes are users
	to, back tensor.CSR // (centres, nodes) and, from transpose, its transpose; without values
	across   []int32    // place in back of every entry of to, from transpose

	user, positive, negative []int32 // of the triples: rows among the centres' users and items

	g     *graph.Bipartite
	place []int32 // scratch by node of the graph; 0 between uses
	next  []int64
	taken []int32
}

func newPlan(g *graph.Bipartite) plan { return plan{g: g, place: make([]int32, g.Nodes())} }

// all fills the plan for the whole graph: every node is a centre that looks at all neighbours.
func (p *plan) all() {
	p.centres = p.centres[:0]
	for v := range p.g.Nodes() {
		p.centres = append(p.centres, int32(v))
	}
	p.list(0, rng.Stream{})
}

// of fills the plan for the triples of a step (one negative each). A node looks at no more than most neighbours; 0
// means all of them. at is the stream of the step.
func (p *plan) of(t bpr.Triples, most int, at rng.Stream) {
	b, first := len(t.Users), int32(p.g.Users)
	p.centres = p.centres[:0]
	add := func(v int32) {
		if p.place[v] == 0 {
			p.place[v] = 1
			p.centres = append(p.centres, v)
		}
	}
	for _, u := range t.Users {
		add(u)
	}
	for _, i := range t.Items {
		add(first + i)
	}
	slices.Sort(p.centres)
	p.list(most, at)
	for k, v := range p.centres {
		p.place[v] = int32(k)
	}
	p.user, p.positive, p.negative = p.user[:0], p.positive[:0], p.negative[:0]
	for k, u := range t.Users {
		p.user = append(p.user, p.place[u])
		p.positive = append(p.positive, p.place[first+t.Items[k]]-int32(p.users))
		p.negative = append(p.negative, p.place[first+t.Items[b+k]]-int32(p.users))
	}
	for _, v := range p.centres {
		p.place[v] = 0
	}
}

// list fills in everything from the centres, except the triples and the transpose.
func (p *plan) list(most int, at rng.Stream) {
	g := p.g
	first := int32(g.Users)
	p.users, _ = slices.BinarySearch(p.centres, first)
	p.to.Ptr, p.to.Idx = append(p.to.Ptr[:0], 0), p.to.Idx[:0]
	for _, c := range p.centres {
		p.to.Idx = append(p.to.Idx, c)
		if c < first {
			for _, i := range p.sample(g.ItemsOf(int(c)), most, at, c) {
				p.to.Idx = append(p.to.Idx, first+i)
			}
		} else {
			p.to.Idx = append(p.to.Idx, p.sample(g.UsersOf(int(c-first)), most, at, c)...)
		}
		p.to.Ptr = append(p.to.Ptr, int64(len(p.to.Idx)))
	}
	p.touch()
}

// sample returns the list, or a uniform subset of most of its numbers, ascending (Floyd's algorithm). It is valid until
// the next call.
func (p *plan) sample(list []int32, most int, at rng.Stream, node int32) []int32 {
	if most == 0 || len(list) <= most {
		return list
	}
	draw := at.Sub(uint64(node))
	p.taken = p.taken[:0] // places
	for top := len(list) - most; top < len(list); top++ {
		x := int32(draw.IntN(top + 1))
		k, again := slices.BinarySearch(p.taken, x)
		if again {
			k, x = len(p.taken), int32(top)
		}
		p.taken = slices.Insert(p.taken, k, x)
	}
	for k, x := range p.taken {
		p.taken[k] = list[x]
	}
	return p.taken
}

// touch finds the nodes and converts the entries of to from nodes of the graph to rows. It takes all nodes if most are
// touched.
func (p *plan) touch() {
	n := 0
	for _, v := range p.to.Idx {
		if p.place[v] <= 1 {
			p.place[v] = 2
			n++
		}
	}
	nodes := p.g.Nodes()
	if p.whole = n*4 >= nodes*3; p.whole {
		p.border, n = p.g.Users, nodes
	} else {
		p.nodes = p.nodes[:0]
		for v, mark := range p.place {
			if mark > 0 {
				p.nodes = append(p.nodes, int32(v))
			}
		}
		p.border, _ = slices.BinarySearch(p.nodes, int32(p.g.Users))
		for k, v := range p.nodes {
			p.place[v] = int32(k)
		}
		for e, v := range p.to.Idx {
			p.to.Idx[e] = p.place[v]
		}
	}
	clear(p.place)
	p.to.Rows, p.to.Cols = len(p.centres), n
}

// transpose fills back and across: for each node the centres that look at it, ascending.
func (p *plan) transpose() {
	b := &p.back
	b.Rows, b.Cols = p.to.Cols, p.to.Rows
	b.Ptr = resize(b.Ptr, b.Rows+1)
	clear(b.Ptr)
	b.Idx, p.across = resize(b.Idx, len(p.to.Idx)), resize(p.across, len(p.to.Idx))
	for _, v := range p.to.Idx {
		b.Ptr[v+1]++
	}
	for v := range b.Rows {
		b.Ptr[v+1] += b.Ptr[v]
	}
	p.next = append(p.next[:0], b.Ptr...)
	for c := range p.to.Rows {
		for e := p.to.Ptr[c]; e < p.to.Ptr[c+1]; e++ {
			v := p.to.Idx[e]
			b.Idx[p.next[v]], p.across[e] = int32(c), int32(p.next[v])
			p.next[v]++
		}
	}
}

// resize returns a slice of n elements of undefined content, in the memory of s if that is large enough.
func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
