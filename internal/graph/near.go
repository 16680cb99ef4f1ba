package graph

import (
	"slices"
	"sync"

	"privrec/internal/tensor"
)

// Rows lists the neighbours of all nodes of one side in some order of the nodes. The k-th row is that of node At[k], or
// of node k if At is nil, and holds Idx[Ptr[k]:Ptr[k+1]], ascending.
type Rows struct {
	At  []int32
	Ptr []int64
	Idx []int32
}

// Near lists the rows of both sides so that consecutive rows have many neighbours in common. Code that goes through
// them in this order finds the neighbours' vectors still in a near cache.
type Near struct{ Users, Items Rows }

// nearSweeps is the number of times that users and items move to each other's medians. After ten sweeps the order of
// real graphs hardly changes.
const nearSweeps = 10

// nearSpan is the number of edges over which common neighbours are counted. nearGain is the share by which an order
// must lower the number of vectors to fetch.
const (
	nearSpan = 4096
	nearGain = 0.1
)

// nearOnce caches the result of Near.
type nearOnce struct {
	sync.Once
	near *Near
}

// Near returns the rows of g in such an order, or nil if it finds none that is clearly better than the order of the
// numbers. It starts from the order in which a breadth-first search meets the nodes (Cuthill and McKee 1969), and in
// turn moves users to the median place of their items and items to that of their users. It takes a fraction of a second
// for a million edges, and is computed once.
func (g *Bipartite) Near() *Near {
	g.near.Do(func() { g.near.near = g.findNear() })
	return g.near.near
}

// findNear computes the result of Near.
func (g *Bipartite) findNear() *Near {
	n := g.tryNear()
	now := fetches(g.UserPtr, g.UserItem, g.Items) + fetches(g.ItemPtr, g.ItemUser, g.Users)
	then := fetches(n.Users.Ptr, n.Users.Idx, g.Items) + fetches(n.Items.Ptr, n.Items.Idx, g.Users)
	if float64(then) >= (1-nearGain)*float64(now) {
		return nil
	}
	return n
}

func (g *Bipartite) tryNear() *Near {
	users, items := g.met()
	placeU, placeI := places(users), places(items)
	for range nearSweeps {
		medians(placeU, placeI, g.UserPtr, g.UserItem)
		medians(placeI, placeU, g.ItemPtr, g.ItemUser)
	}
	return &Near{Users: ordered(places(placeU), g.UserPtr, g.UserItem),
		Items: ordered(places(placeI), g.ItemPtr, g.ItemUser)}
}

// met returns users and items in the order in which a breadth-first search from the
// users of the lowest degrees meets them.
func (g *Bipartite) met() (users, items []int32) {
	start := make([]int32, g.Users)
	for u := range start {
		start[u] = int32(u)
	}
	slices.SortStableFunc(start, func(a, b int32) int { return g.UserDegree(int(a)) - g.UserDegree(int(b)) })
	seenU, seenI := make([]bool, g.Users), make([]bool, g.Items)
	for _, s := range start {
		if seenU[s] {
			continue
		}
		seenU[s] = true
		users = append(users, s)
		// Both lists are queues: a side's nodes are met while the other's are read.
		for u, i := len(users)-1, len(items); u < len(users) || i < len(items); {
			for ; u < len(users); u++ {
				items = meet(items, seenI, g.ItemsOf(int(users[u])))
			}
			for ; i < len(items); i++ {
				users = meet(users, seenU, g.UsersOf(int(items[i])))
			}
		}
	}
	for i, seen := range seenI {
		if !seen {
			items = append(items, int32(i))
		}
	}
	return users, items
}

// meet appends the nodes that have not been seen yet, and marks them.
func meet(order []int32, seen []bool, nodes []int32) []int32 {
	for _, v := range nodes {
		if !seen[v] {
			seen[v] = true
			order = append(order, v)
		}
	}
	return order
}

// places returns the inverse of an order: the place of each node, given the node at each place, and vice versa.
func places(order []int32) []int32 {
	p := make([]int32, len(order))
	for k, v := range order {
		p[v] = int32(k)
	}
	return p
}

// medians moves each node to the median place of its neighbours, those without any to
// the front. Nodes with the same median keep the order of their numbers.
func medians(place, other []int32, ptr []int64, idx []int32) {
	at := make([]int32, len(place))
	tensor.Parallel(len(place), 512, func(_, lo, hi int) {
		var list []int32
		for v := lo; v < hi; v++ {
			list = list[:0]
			for _, w := range idx[ptr[v]:ptr[v+1]] {
				list = append(list, other[w])
			}
			if len(list) > 0 {
				at[v] = middle(list)
			}
		}
	})
	next := make([]int32, len(other)+2) // a counting sort
	for _, m := range at {
		next[m+1]++
	}
	for m := 1; m < len(next); m++ {
		next[m] += next[m-1]
	}
	for v, m := range at {
		place[v] = next[m]
		next[m]++
	}
}

// middle returns the element that a sort would put at index len(x)/2, and shuffles x (Hoare 1961).
func middle(x []int32) int32 {
	k := len(x) / 2
	for lo, hi := 0, len(x)-1; lo < hi; {
		pivot := x[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return x[k]
		}
	}
	return x[k]
}

// ordered returns rows in an order.
func ordered(order []int32, ptr []int64, idx []int32) Rows {
	r := Rows{At: order, Ptr: make([]int64, 1, len(ptr)), Idx: make([]int32, 0, len(idx))}
	for _, v := range order {
		r.Idx = append(r.Idx, idx[ptr[v]:ptr[v+1]]...)
		r.Ptr = append(r.Ptr, int64(len(r.Idx)))
	}
	return r
}

// fetches returns the number of vectors that rows need, counting each once in nearSpan edges.
func fetches(ptr []int64, idx []int32, columns int) (n int) {
	span := make([]int32, columns) // in which a column was last needed, counted from 1
	for r := range len(ptr) - 1 {
		for e := ptr[r]; e < ptr[r+1]; e++ {
			if now := int32(e/nearSpan) + 1; span[idx[e]] != now {
				span[idx[e]] = now
				n++
			}
		}
	}
	return n
}
