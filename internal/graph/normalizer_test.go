package graph_test

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/graph"
)

// allNormalizers is one of every kind.
func allNormalizers(t testing.TB) []graph.Normalizer {
	t.Helper()
	var all []graph.Normalizer
	for _, s := range []string{"sym", "sym-clamp:1", "sym-clamp:2", "sym-clamp:3", "right-clamp:1", "right-clamp:2", "right-clamp:3", "sum"} {
		n, err := graph.ParseNormalizer(s)
		if err != nil {
			t.Fatal(err)
		}
		if n.String() != s {
			t.Errorf("%q reads as %q", s, n)
		}
		all = append(all, n)
	}
	return all
}

func TestNormalizerRefuses(t *testing.T) {
	for _, s := range []string{"", "symmetric", "SYM", "sym:1", "sum:2", "sym-clamp", "right-clamp", "sym-clamp:", "sym-clamp:0",
		"sym-clamp:-3", "right-clamp:x", "right-clamp:1.5", "sym-clamp:99999999999", "sym-clamp:1:2", " sym"} {
		if n, err := graph.ParseNormalizer(s); err == nil || !strings.Contains(err.Error(), "normaliser \""+s+"\"") {
			t.Errorf("%q: %v, %v", s, n, err)
		}
	}
	var zero graph.Normalizer
	if zero.String() != "sym" {
		t.Errorf("the zero value is %q", zero)
	}
}

// A user with four items, one of which has two users; an item and a user alone.
func TestFactors(t *testing.T) {
	g, err := graph.NewBipartite(3, 5, []graph.Edge{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	h, third := math.Sqrt(0.5), 1/math.Sqrt(3)
	for s, want := range map[string][2][]float64{
		"sym":           {{0.5, 1, 0, h, 1, 1, 1, 0}, {0.5, 1, 0, h, 1, 1, 1, 0}},
		"sym-clamp:3":   {{0.5, third, third, third, third, third, third, third}, {0.5, third, third, third, third, third, third, third}},
		"right-clamp:2": {{1, 1, 1, 1, 1, 1, 1, 1}, {0.5, h, h, h, h, h, h, h}},
		"sum":           {{1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}},
	} {
		n, err := graph.ParseNormalizer(s)
		if err != nil {
			t.Fatal(err)
		}
		left, right := n.Factors(g)
		for v := range left {
			if math.Abs(left[v]-want[0][v]) > 1e-15 || math.Abs(right[v]-want[1][v]) > 1e-15 {
				t.Errorf("%s, node %d: %g and %g, want %g and %g", s, v, left[v], right[v], want[0][v], want[1][v])
			}
		}
	}
}
