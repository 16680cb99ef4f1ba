package modeltest

import (
	"testing"

	"privrec/internal/graph"
	"privrec/internal/rng"
)

// Graph returns a random graph in which user and item i are joined with probability share(i), drawn user by user from
// stream s. An error ends the test.
func Graph(t testing.TB, s rng.Stream, users, items int, share func(i int) float64) *graph.Bipartite {
	t.Helper()
	var edges []graph.Edge
	for u := range users {
		for i := range items {
			if s.Float64() < share(i) {
				edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
			}
		}
	}
	g, err := graph.NewBipartite(users, items, edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Popular returns a share for Graph that grows with the number of the item, up to twice the mean.
func Popular(mean float64, items int) func(i int) float64 {
	return func(i int) float64 { return mean * 2 * float64(i+1) / float64(items) }
}

// Even returns a share for Graph that is the same for all items.
func Even(share float64) func(i int) float64 { return func(int) float64 { return share } }
