package exact_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/terms"
)

type golden struct {
	ID     string         `json:"id"`
	Fn     string         `json:"fn"`
	Params map[string]any `json:"params"`
	Value  float64        `json:"value"`
	RelTol float64        `json:"rel_tol"`
	AbsTol float64        `json:"abs_tol"`
	Wrong  *float64       `json:"wrong_value"`
}

func (g golden) num(name string) float64 { v, _ := g.Params[name].(float64); return v }
func (g golden) str(name string) string  { v, _ := g.Params[name].(string); return v }

func goldens(t *testing.T, category string) []golden {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../../testdata/goldens", category+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Entries []golden
		Count   int
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Entries) != f.Count || f.Count == 0 {
		t.Fatalf("%s has %d entries, says %d", category, len(f.Entries), f.Count)
	}
	return f.Entries
}

// composition is the terms that a row of the categories pld_* is about. There
// sigma is relative to the clipping norm, and a record replaced moves by twice that.
func (g golden) composition() []terms.Term {
	relation, move, q := privacy.AddRemove, 1.0, 1.0
	if g.str("relation") == "replace_one" {
		relation, move = privacy.Replace, 2
	}
	if g.str("mechanism") != "gaussian" {
		q = g.num("q")
	}
	t := terms.Term{Rate: q, Relation: relation, Count: int64(g.num("steps"))}
	if q < 1 {
		t.Method = privacy.Poisson
	}
	switch g.str("mechanism") {
	case "laplace", "poisson_laplace":
		t.Leaf = privacy.Laplace{Scale: g.num("b"), Sensitivity: move, Unit: privacy.User, Neighbouring: relation}
	default:
		t.Leaf = privacy.Gaussian{Sigma: g.num("sigma"), Sensitivity: move, Unit: privacy.User, Neighbouring: relation}
	}
	return []terms.Term{t}
}

// ask returns the value of a row and the number that the row is about.
func (g golden) ask() (exact.Value, float64, error) {
	ts, d := g.composition(), exact.Direction(g.str("direction"))
	var v exact.Value
	var err error
	switch {
	case g.Fn == "PLDEps" && d == "":
		v, err = exact.Epsilon(ts, g.num("delta"))
	case g.Fn == "PLDEps":
		v, err = exact.EpsilonIn(d, ts, g.num("delta"))
	case d == "":
		v, err = exact.Delta(ts, g.num("eps"))
	default:
		v, err = exact.DeltaIn(d, ts, g.num("eps"))
	}
	if g.Fn == "PLDEps" {
		return v, v.Epsilon, err
	}
	return v, v.Delta, err
}

func TestPLD(t *testing.T) {
	worst, slowest := map[string]float64{}, time.Duration(0)
	for _, category := range []string{"pld_eps", "pld_delta"} {
		for _, g := range goldens(t, category) {
			began := time.Now()
			v, got, err := g.ask()
			took := time.Since(began)
			slowest = max(slowest, took)
			if err != nil {
				if !errors.Is(err, exact.ErrNotCovered) {
					t.Errorf("%s: %v", g.ID, err)
				}
				t.Logf("%s %v: %v (%v)", g.ID, g.Params, err, took)
				continue
			}
			miss := math.Abs(got - g.Value)
			t.Logf("%s %v %v miss %.2g rel %.2g error %.2g %v", g.ID, took, got, miss, miss/g.Value, v.Error, v.Method)
			if !(miss <= g.AbsTol+g.RelTol*g.Value) {
				t.Errorf("%s %v = %.17g, want %.17g (%.2g)", g.ID, g.Params, got, g.Value, miss)
			}
			worst[category] = max(worst[category], miss)
		}
	}
	t.Logf("worst %v, slowest %v", worst, slowest)
}
