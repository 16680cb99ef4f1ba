package baseline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/graph"
	"privrec/internal/graph/gram"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// A run on a Gram matrix that was counted elsewhere has the metrics of the run on the rows, to the bit,
// where the matrix of the items is inverted in both; one of other rows is refused.
func TestGram(t *testing.T) {
	d, err := registry.LoadInteractions(t.Context(), "standin-demo", "rdpgcf", dataset.View{Seed: 1},
		registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Users < d.Items {
		t.Fatalf("%d users and %d items: EASE inverts the matrix of users", d.Users, d.Items)
	}
	var edges []graph.Edge
	for u, items := range d.Train {
		for _, i := range items {
			edges = append(edges, graph.Edge{User: int32(u), Item: i})
		}
	}
	write := func(edges []graph.Edge) string {
		path := filepath.Join(t.TempDir(), "x.gram")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		g, err := graph.NewBipartite(d.Users, d.Items, edges)
		if err != nil {
			t.Fatal(err)
		}
		if err := gram.Write(t.Context(), f, g); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{"ease", "itemknn"} {
		var values [2]map[string]float64
		for k, sets := range [][]string{{"data.name=standin-demo"}, {"data.name=standin-demo", "model.gram=" + write(edges)}} {
			dir := filepath.Join(t.TempDir(), "run")
			start(t, task(t, name), dir, sets...)
			values[k] = runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true).Evaluations[0].Values
		}
		for metric, want := range values[0] {
			if got := values[1][metric]; got != want {
				t.Errorf("%s of %s is %v with the Gram matrix and %v without", metric, name, got, want)
			}
		}
		bad := write(slices.Delete(slices.Clone(edges), 3, 4))
		if err := suite.Try(t.Context(), task(t, name), filepath.Join(t.TempDir(), "run"), []string{"data.name=standin-demo", "model.gram=" + bad}, run.Options{}); err == nil || !strings.Contains(err.Error(), "the data have") {
			t.Errorf("%s with the matrix of other rows: %v", name, err)
		}
	}
}
