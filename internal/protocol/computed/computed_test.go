package computed

import (
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/metrics"
	"privrec/internal/tensor"
)

// The floor is there for own data and where it is asked for.
func TestWanted(t *testing.T) {
	for _, c := range []struct {
		value, data string
		want        bool
	}{{OwnData, "own-x", true}, {OwnData, "ml-1m", false}, {Always, "ml-1m", true}, {Never, "own-x", false}} {
		if got := Wanted(c.value, c.data); got != c.want {
			t.Errorf("%q on %s: %t", c.value, c.data, got)
		}
	}
}

// Every model scores what its neighbours have above what they do not, and is left out where it is
// the method itself.
func TestScores(t *testing.T) {
	var edges []graph.Edge
	for u := range int32(20) { // even users have even items, odd ones odd items, but for one each
		for i := u % 2; i < 10; i += 2 {
			if i/2 != u/2%5 {
				edges = append(edges, graph.Edge{User: u, Item: i})
			}
		}
	}
	g, err := graph.NewBipartite(20, 10, edges)
	if err != nil {
		t.Fatal(err)
	}
	m := metrics.Metric{Kind: metrics.Recall, K: 1}
	rank := func(s eval.Scorer) ([]metrics.Value, error) {
		scores, hits := tensor.New(20, 10), 0
		users := make([]int32, 20)
		for u := range users {
			users[u] = int32(u)
		}
		if err := s.Score(autograd.NewTape(), users, scores); err != nil {
			return nil, err
		}
		for u := range 20 {
			row, left := tensor.Row(scores, u), 2*(u/2%5)+u%2 // the item that was left out
			best := true
			for i := range row {
				if i != left && i/2 == left/2 && row[i] >= row[left] { // its twin is of the other kind
					best = false
				}
			}
			if best {
				hits++
			}
		}
		return []metrics.Value{{Metric: m, Value: float64(hits) / 20}}, nil
	}
	for method, want := range map[string][]string{"BPRMF": {"EASE" + label, "ItemKNN" + label}, "EASE": {"ItemKNN" + label}, "ItemKNN": {"EASE" + label}} {
		rows, err := Scores(t.Context(), Models(g, method), rank)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if len(rows) != len(want) || rows[i].Name != w || rows[i].Values[m.String()] != 1 {
				t.Errorf("%s: %+v, want %v", method, rows, want)
			}
		}
	}
	wide, err := graph.NewBipartite(widest+1, widest+1, edges)
	if err != nil {
		t.Fatal(err)
	}
	if all := Models(wide, "BPRMF"); len(all) != 1 || all[0].Name != "ItemKNN" {
		t.Errorf("a wide graph has %d models", len(all))
	}
}

// Better names the best model of the floor alone, and only where it beats every evaluation.
func TestBetter(t *testing.T) {
	m := metrics.Metric{Kind: metrics.Recall, K: 20}
	row := func(name string, x float64) experiment.Scores {
		return experiment.Scores{Name: name, Values: map[string]float64{m.String(): x}}
	}
	floors := []experiment.Scores{row("popularity", 0.9), row("EASE"+label, 0.209), row("ItemKNN"+label, 0.2)}
	if got := Better(floors, []experiment.Scores{row("a", 0.14), row("b", 0.1)}, m); len(got) != 1 ||
		!strings.HasPrefix(got[0], "EASE, computed") || !strings.HasSuffix(got[0], "Recall@20 20.9 % against 14.0 %.") {
		t.Error(got)
	}
	for _, ours := range []float64{0.209, 0.3} {
		if got := Better(floors, []experiment.Scores{row("a", 0.1), row("b", ours)}, m); got != nil {
			t.Errorf("%v: %s", ours, got)
		}
	}
}
