package accountant

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"privrec/internal/privacy/reference"
	"testing"
)

type golden struct {
	Fn     string             `json:"fn"`
	Params map[string]float64 `json:"params"`
	Value  float64            `json:"value"`
	RelTol float64            `json:"rel_tol"`
	AbsTol float64            `json:"abs_tol"`
	Kind   string             `json:"kind"`
}

func goldens(t *testing.T, category string) []golden {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../testdata/goldens", category+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Entries []golden }
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f.Entries
}

// Goldens computed in 50-digit arithmetic; the tolerances are the files' own,
// tightened to what these forms reach.
func TestGoldens(t *testing.T) {
	value := func(v float64, err error) float64 {
		if err != nil {
			t.Error(err)
		}
		return v
	}
	fns := map[string]func(p map[string]float64) float64{
		"AnalyticGaussianSigma": func(p map[string]float64) float64 { return value(SigmaFor(p["sens"], p["eps"], p["delta"])) },
		"AnalyticGaussianEps":   func(p map[string]float64) float64 { return value(Exact(p["sens"]/p["sigma"], p["delta"])) },
		"AnalyticGaussianDelta": func(p map[string]float64) float64 { return Delta(p["sens"]/p["sigma"], p["eps"]) },
		"GDPEps":                func(p map[string]float64) float64 { return value(Exact(p["mu"], p["delta"])) },
		"CLTMuPoisson":          func(p map[string]float64) float64 { return CLTMuPoisson(p["q"], p["sigma"], p["steps"]) },
		"CLTMuUniform": func(p map[string]float64) float64 {
			return reference.CLTMuUniform(p["q"], p["sigma"], p["steps"])
		},
		"CLTEpsPoisson": func(p map[string]float64) float64 {
			return value(Exact(CLTMuPoisson(p["q"], p["sigma"], p["steps"]), p["delta"]))
		},
		"ClassicalGaussianSigma": func(p map[string]float64) float64 {
			return p["sens"] * math.Sqrt(2*math.Log(1.25/p["delta"])) / p["eps"]
		},
		"ClosedFormSigma": func(p map[string]float64) float64 {
			return ClosedSigma(p["C"], p["T"], p["eps"], p["delta"])
		},
		"ClosedFormEps": func(p map[string]float64) float64 {
			return Closed(p["T"]*p["C"]*p["C"]/(p["sigma"]*p["sigma"]), p["delta"])
		},
	}
	worst := map[string]float64{}
	for _, category := range []string{"analytic_gaussian", "gdp", "gaussian_closed_forms"} {
		for _, g := range goldens(t, category) {
			fn := fns[g.Fn]
			if fn == nil {
				t.Fatalf("no function for %s", g.Fn)
			}
			got := fn(g.Params)
			if err := math.Abs(got - g.Value); err > g.AbsTol+math.Min(g.RelTol, 1e-12)*math.Abs(g.Value) || math.IsNaN(got) {
				t.Errorf("%s %v = %v, want %v (relative error %.2g)", g.Fn, g.Params, got, g.Value, err/math.Abs(g.Value))
			} else if g.Value != 0 {
				worst[g.Fn] = max(worst[g.Fn], err/math.Abs(g.Value))
			}
		}
	}
	t.Logf("worst relative errors: %v", worst)
}
