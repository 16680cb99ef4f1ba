package itemknn

import (
	"slices"
	"testing"

	"privrec/internal/graph"
	"privrec/internal/model/nearest"
	"privrec/internal/progress"
	"privrec/internal/progress/progresstest"
)

// The search for neighbours is reported as it goes, and is the same with and without.
func TestFitReports(t *testing.T) {
	const users, items = 50, 9000
	var edges []graph.Edge
	for i := range items {
		edges = append(edges, graph.Edge{User: int32(i % users), Item: int32(i)}, graph.Edge{User: int32((i + 1 + i%7) % users), Item: int32(i)})
	}
	g, err := graph.NewBipartite(users, items, edges)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: 5}}
	silent, err := Fit(t.Context(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	var r progresstest.Recorder
	shown, err := Fit(progress.With(t.Context(), &r), g, o)
	if err != nil {
		t.Fatal(err)
	}
	r.Whole(t, "find the neighbours of 9000 items", 3)
	if !slices.Equal(silent.idx, shown.idx) || !slices.Equal(silent.val, shown.val) {
		t.Error("reports changed the model")
	}
}
