package graph_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/graph"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// checkRows demands every row of a side once, as it is.
func checkRows(t rapid.TB, r graph.Rows, n int, row func(int) []int32) {
	t.Helper()
	if len(r.At) != n || len(r.Ptr) != n+1 || r.Ptr[0] != 0 {
		t.Fatalf("%d nodes and %d offsets for %d rows", len(r.At), len(r.Ptr), n)
	}
	seen := make([]bool, n)
	for k, v := range r.At {
		if seen[v] {
			t.Fatalf("node %d comes twice", v)
		}
		seen[v] = true
		if got := r.Idx[r.Ptr[k]:r.Ptr[k+1]]; !slices.Equal(got, row(int(v))) {
			t.Fatalf("row %d of node %d is %v, want %v", k, v, got, row(int(v)))
		}
	}
}

// Any graph gets its own rows back, whether they are used or not.
func TestNearHasAllRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		users, items := rapid.IntRange(0, 9).Draw(rt, "users"), rapid.IntRange(0, 9).Draw(rt, "items")
		var edges []graph.Edge
		if users*items > 0 {
			edges = edgesOf(rt, users, items)
		}
		g, err := graph.NewBipartite(users, items, edges)
		if err != nil {
			rt.Fatal(err)
		}
		n := g.FindNear()
		checkRows(rt, n.Users, users, g.ItemsOf)
		checkRows(rt, n.Items, items, g.UsersOf)
	})
}

// hidden is a graph of communities whose nodes have shuffled numbers: each user has
// items of the own community only.
func hidden(t *testing.T, communities, size, degree int) *graph.Bipartite {
	draw := rng.Seed(3).Stream("hidden")
	n := communities * size
	shuffled := func() []int32 {
		p := make([]int32, n)
		for k := range p {
			j := draw.IntN(k + 1)
			p[k], p[j] = p[j], int32(k)
		}
		return p
	}
	users, items := shuffled(), shuffled()
	seen := map[graph.Edge]bool{}
	var edges []graph.Edge
	for u := range n {
		for range degree {
			e := graph.Edge{User: users[u], Item: items[u/size*size+draw.IntN(size)]}
			if !seen[e] {
				seen[e] = true
				edges = append(edges, e)
			}
		}
	}
	g, err := graph.NewBipartite(n, n, edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Communities that the numbers hide are found again, with the same order for any number
// of workers: of 1,000 nodes a community holds the neighbours of 200, and a span of
// edges goes over two communities at most.
func TestNearFindsCommunities(t *testing.T) {
	before := tensor.Workers()
	defer tensor.SetWorkers(before)
	var first *graph.Near
	for _, workers := range []int{1, 2, 5} {
		tensor.SetWorkers(workers)
		g := hidden(t, 20, 200, 30)
		n := g.Near()
		if n == nil || n != g.Near() {
			t.Fatal("no order, or not kept")
		}
		checkRows(t, n.Users, g.Users, g.ItemsOf)
		checkRows(t, n.Items, g.Items, g.UsersOf)
		if was, is := graph.Fetches(g.UserPtr, g.UserItem, g.Items), graph.Fetches(n.Users.Ptr, n.Users.Idx, g.Items); 3*is > was {
			t.Errorf("%d fetches, %d before", is, was)
		}
		if first == nil {
			first = n
		} else if !slices.Equal(n.Users.At, first.Users.At) || !slices.Equal(n.Items.At, first.Items.At) {
			t.Errorf("another order with %d workers", workers)
		}
	}
}

// A graph without structure keeps its order.
func TestNearLeavesRandomGraphs(t *testing.T) {
	if n := hidden(t, 1, 4000, 30).Near(); n != nil {
		t.Error("an order of nothing")
	}
}

// A graph that is put together from its rows, as a perturbed one is, has the order of one that was
// made of its edges.
func TestNearOfGraphsByHand(t *testing.T) {
	g := hidden(t, 40, 60, 12)
	byHand := &graph.Bipartite{Users: g.Users, Items: g.Items, UserPtr: g.UserPtr, UserItem: g.UserItem, ItemPtr: g.ItemPtr, ItemUser: g.ItemUser}
	want, got := g.Near(), byHand.Near()
	if want == nil || got == nil || !slices.Equal(want.Users.At, got.Users.At) || !slices.Equal(want.Items.Idx, got.Items.Idx) {
		t.Error("the orders differ")
	}
}
