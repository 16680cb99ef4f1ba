package ease

import (
	"slices"
	"testing"

	"privrec/internal/graph"
	"privrec/internal/progress"
	"privrec/internal/progress/progresstest"
)

// Every stage of a fit is reported more often than once where it can last, and adds up; the model
// is the same bytes as that of a fit that nothing looks at.
func TestFitReports(t *testing.T) {
	n := 2*gramRows + 10
	var edges []graph.Edge
	for i := range n {
		for _, u := range []int{i, i + 1, i + 7} {
			edges = append(edges, graph.Edge{User: int32(u % n), Item: int32(i)})
		}
	}
	edges = slices.CompactFunc(edges, func(a, b graph.Edge) bool { return a == b })
	g, err := graph.NewBipartite(n, n, edges)
	if err != nil {
		t.Fatal(err)
	}
	silent, err := Fit(t.Context(), g, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	var r progresstest.Recorder
	shown, err := Fit(progress.With(t.Context(), &r), g, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer shown.Close()
	r.Whole(t, "multiply the interactions", n/gramRows+1)
	r.Whole(t, "invert a matrix", 2*n/block) // the last block column of the inverted factor is nothing to do
	r.Whole(t, "weigh items", n)
	if !slices.Equal(silent.inverse.Data, shown.inverse.Data) || !slices.Equal(silent.scale, shown.scale) {
		t.Error("reports changed the model")
	}
}

// The costs of the inversion's steps are about the n^3 multiplications that it makes.
func TestCosts(t *testing.T) {
	for _, n := range []int{1, block, 5*block + 3, 40 * block} {
		all := 0.0
		for p := range phases {
			for k := 0; k < n; k += block {
				c := cost(p, n, k)
				if !(c > 0) {
					t.Errorf("%d rows, phase %d, column %d: %v", n, p, k, c)
				}
				all += c
			}
		}
		if cube := float64(n) * float64(n) * float64(n); n >= 40*block && (all < cube/3 || all > cube) {
			t.Errorf("%d rows: %g, want about %g", n, all, cube/2)
		}
	}
}
