package evaluation

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/metrics/definition"
)

// golden is what scripts/reference/metrics.py found: the numbers of each library on one case.
type golden struct {
	Case    string
	Recs    string
	Truth   string
	Train   string
	Cutoffs []int
	Values  map[string]map[string]float64 // by definition and metric
}

func conformanceCases(t *testing.T) []golden {
	t.Helper()
	b, err := os.ReadFile("testdata/conformance/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []golden
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 4 {
		t.Fatalf("%d cases, want 4", len(cases))
	}
	return cases
}

// ask answers a question about the files of a case.
func (g golden) ask(t *testing.T, name string) (*Answer, error) {
	t.Helper()
	at := func(file string) string { return filepath.Join("testdata/conformance", file) }
	return Ask(context.Background(), Question{Recs: at(g.Recs), Truth: at(g.Truth), Train: at(g.Train), Definition: name, K: g.Cutoffs})
}

// TestConformance holds every definition to the numbers of its library, on lists of 1,000 users with ties, short lists,
// repeated items, users without truth and users without a list.
func TestConformance(t *testing.T) {
	seen := map[string]int{}
	for _, g := range conformanceCases(t) {
		for name, want := range g.Values {
			t.Run(g.Case+"/"+name, func(t *testing.T) {
				a, err := g.ask(t, name)
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]float64{}
				for _, v := range a.Result.Values {
					got[v.Name] = v.Value
				}
				for metric, w := range want {
					v, ok := got[metric]
					if !ok || math.Abs(v-w) > 1e-6 || math.IsNaN(v) {
						t.Errorf("%s is %v (measured: %v), the library has %v", metric, v, ok, w)
					}
				}
				if len(got) != len(want) {
					t.Errorf("%d metrics, the library has %d", len(got), len(want))
				}
			})
			seen[name]++
		}
	}
	for _, name := range definition.Names() {
		if seen[name] == 0 && name != "privrec" {
			t.Errorf("%s is held to no library", name)
		}
	}
}
