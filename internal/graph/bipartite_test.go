package graph_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/graph"
	"privrec/internal/rng"
)

// edgesOf draws distinct edges in random order.
func edgesOf(rt *rapid.T, users, items int) []graph.Edge {
	cells := rapid.SliceOfDistinct(rapid.IntRange(0, users*items-1), func(c int) int { return c }).Draw(rt, "cells")
	edges := make([]graph.Edge, len(cells))
	for k, c := range cells {
		edges[k] = graph.Edge{User: int32(c / items), Item: int32(c % items)}
	}
	return edges
}

// Every question has the answer that the list of edges gives.
func TestBipartiteEqualsItsEdges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		users, items := rapid.IntRange(1, 7).Draw(rt, "users"), rapid.IntRange(1, 9).Draw(rt, "items")
		edges := edgesOf(rt, users, items)
		g, err := graph.NewBipartite(users, items, edges)
		if err != nil {
			rt.Fatal(err)
		}
		if g.Edges() != len(edges) || g.Nodes() != users+items || g.Users != users || g.Items != items {
			rt.Fatalf("%d edges, %d nodes", g.Edges(), g.Nodes())
		}
		sorted := slices.Clone(edges)
		slices.SortFunc(sorted, func(a, b graph.Edge) int {
			return (int(a.User)-int(b.User))*100 + int(a.Item) - int(b.Item)
		})
		for e, want := range sorted {
			if got := g.Edge(e); got != want {
				rt.Fatalf("edge %d is %v, want %v", e, got, want)
			}
		}
		for u := range users {
			var want []int32
			for _, e := range sorted {
				if int(e.User) == u {
					want = append(want, e.Item)
				}
			}
			if !slices.Equal(g.ItemsOf(u), want) || g.UserDegree(u) != len(want) {
				rt.Fatalf("user %d has %v, want %v", u, g.ItemsOf(u), want)
			}
			for i := range items {
				if got := g.Has(int32(u), int32(i)); got != slices.Contains(want, int32(i)) {
					rt.Fatalf("Has(%d, %d) = %v", u, i, got)
				}
			}
		}
		for i := range items {
			var want []int32
			for _, e := range sorted {
				if int(e.Item) == i {
					want = append(want, e.User)
				}
			}
			if !slices.Equal(g.UsersOf(i), want) || g.ItemDegree(i) != len(want) {
				rt.Fatalf("item %d has %v, want %v", i, g.UsersOf(i), want)
			}
		}
	})
}

// Edges are found among users of any degree, none and hundreds included, with
// the index of NewBipartite and without.
func TestEdgeOfManyUsers(t *testing.T) {
	s := rng.Seed(2).Stream("degrees")
	var edges []graph.Edge
	const users, items = 300, 700
	for u := range users {
		degree := []int{0, 1, 3, 64, 130, items}[s.IntN(6)]
		for i := range degree {
			edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
		}
	}
	g, err := graph.NewBipartite(users, items, edges)
	if err != nil {
		t.Fatal(err)
	}
	byHand := &graph.Bipartite{Users: users, Items: items, UserPtr: g.UserPtr, UserItem: g.UserItem}
	for e, want := range edges {
		if got := g.Edge(e); got != want {
			t.Fatalf("edge %d is %v, want %v", e, got, want)
		}
		if got := byHand.Edge(e); got != want {
			t.Fatalf("edge %d by hand is %v, want %v", e, got, want)
		}
	}
}

func TestBipartiteDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		edges := edgesOf(rt, 5, 6)
		a, errA := graph.NewBipartite(5, 6, edges)
		b, errB := graph.NewBipartite(5, 6, rapid.Permutation(edges).Draw(rt, "order"))
		if err := errors.Join(errA, errB); err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(a.UserItem, b.UserItem) || !slices.Equal(a.UserPtr, b.UserPtr) ||
			!slices.Equal(a.ItemUser, b.ItemUser) || !slices.Equal(a.ItemPtr, b.ItemPtr) {
			rt.Fatal("the order of edges shows")
		}
	})
}

func TestBipartiteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		users, items int
		edges        []graph.Edge
		want         string
	}{
		"negative user":   {2, 2, []graph.Edge{{0, 0}, {-1, 0}}, "edge 1: user -1 is outside 0..1"},
		"user too large":  {2, 2, []graph.Edge{{2, 0}}, "edge 0: user 2 is outside 0..1"},
		"negative item":   {2, 3, []graph.Edge{{0, 0}, {0, 1}, {1, -4}}, "edge 2: item -4 is outside 0..2"},
		"item too large":  {2, 3, []graph.Edge{{0, 3}}, "edge 0: item 3 is outside 0..2"},
		"repeated":        {2, 3, []graph.Edge{{1, 2}, {0, 1}, {1, 2}}, "user 1 has item 2 twice"},
		"negative users":  {-1, 3, nil, "-1 users"},
		"negative items":  {1, -3, nil, "-3 items"},
		"too many nodes":  {1 << 30, 1 << 30, nil, "together"},
		"no users at all": {0, 3, []graph.Edge{{0, 0}}, "user 0 is outside 0..-1"},
	} {
		g, err := graph.NewBipartite(c.users, c.items, c.edges)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want %q", name, g, err, c.want)
		}
	}
}

func TestBipartiteWithoutEdges(t *testing.T) {
	for _, n := range [][2]int{{0, 0}, {3, 0}, {0, 2}, {2, 2}} {
		g, err := graph.NewBipartite(n[0], n[1], nil)
		if err != nil || g.Edges() != 0 || len(g.UserPtr) != n[0]+1 || len(g.ItemPtr) != n[1]+1 {
			t.Errorf("%v: %+v, %v", n, g, err)
		}
	}
}

func ExampleBipartite() {
	g, err := graph.NewBipartite(2, 3, []graph.Edge{{User: 1, Item: 2}, {User: 0, Item: 2}, {User: 1, Item: 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.ItemsOf(1), g.UsersOf(2), g.Edge(1), g.Has(0, 0))
	// Output: [0 2] [0 1] {1 0} false
}
