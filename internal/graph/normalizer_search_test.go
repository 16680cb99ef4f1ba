package graph_test

import (
	"slices"
	"testing"

	"privrec/internal/graph"
	"privrec/internal/rng"
)

// largestShift is the worst edge of a graph: of one view and jointly.
func largestShift(t testing.TB, n graph.Normalizer, users, items int, edges []graph.Edge) (view, joint float64) {
	t.Helper()
	g, err := graph.NewBipartite(users, items, edges)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range n.Shifts(g) {
		view, joint = max(view, s.Users, s.Items), max(joint, s.Joint())
	}
	return view, joint
}

// Heavy-tailed graphs of up to 60 x 60 nodes, every edge of each.
func TestSensitivityOnHeavyTails(t *testing.T) {
	s := rng.Seed(8).Stream("tails")
	for range 300 {
		users, items := 1+s.IntN(60), 1+s.IntN(60)
		power := 1 + 3*s.Float64()
		seen := map[graph.Edge]bool{}
		var edges []graph.Edge
		for range 1 + s.IntN(3*(users+items)) {
			u, i := s.Float64(), s.Float64()
			for range int(power) {
				u, i = u*s.Float64(), i*s.Float64()
			}
			e := graph.Edge{User: int32(u * float64(users)), Item: int32(i * float64(items))}
			if !seen[e] {
				seen[e] = true
				edges = append(edges, e)
			}
		}
		for _, n := range append(allNormalizers(t), parse(t, "sym-clamp:", 10), parse(t, "right-clamp:", 10)) {
			view, joint := largestShift(t, n, users, items, edges)
			if v, j := n.Sensitivity(); view > v+1e-12 || joint > j+1e-12 {
				t.Fatalf("%s: %g and %g in %v, bounds %g and %g", n, view, joint, edges, v, j)
			}
		}
	}
}

// An adversary who adds and removes edges as long as it helps comes up to the
// bound and not beyond.
func TestSensitivityAgainstAnAdversary(t *testing.T) {
	const side = 7
	for _, c := range []struct {
		norm   graph.Normalizer
		nearly float64 // part of the joint bound that is found
	}{
		{parse(t, "sym-clamp:", 1), 1 - 1e-12}, {parse(t, "sym-clamp:", 3), 0.97}, {parse(t, "right-clamp:", 3), 1 - 1e-12},
	} {
		view, joint := c.norm.Sensitivity()
		best := 0.0
		for restart := range 12 {
			s := rng.Seed(restart).Stream("adversary")
			has := make([]bool, side*side)
			for k := range has {
				has[k] = s.Float64() < 0.3
			}
			has[0] = true
			list := func() (edges []graph.Edge) {
				for k, yes := range has {
					if yes {
						edges = append(edges, graph.Edge{User: int32(k / side), Item: int32(k % side)})
					}
				}
				return edges
			}
			_, at := largestShift(t, c.norm, side, side, list())
			for range 400 {
				flip := slices.Compact([]int{s.IntN(len(has)), s.IntN(len(has))}[:1+s.IntN(2)])
				for _, k := range flip {
					has[k] = !has[k]
				}
				v, j := largestShift(t, c.norm, side, side, list())
				if v > view+1e-12 || j > joint+1e-12 {
					t.Fatalf("%s: %g and %g in %v, bounds %g and %g", c.norm, v, j, list(), view, joint)
				}
				if j >= at {
					at = j
					continue
				}
				for _, k := range flip {
					has[k] = !has[k]
				}
			}
			best = max(best, at)
		}
		if best < c.nearly*joint {
			t.Errorf("%s: found %g, bound %g", c.norm, best, joint)
		}
	}
}
