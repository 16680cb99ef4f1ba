package audit

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/privacy/accountant"
)

type golden struct {
	ID     string             `json:"id"`
	Fn     string             `json:"fn"`
	Params map[string]float64 `json:"params"`
	Value  float64            `json:"value"`
	RelTol float64            `json:"rel_tol"`
	AbsTol float64            `json:"abs_tol"`
}

func (g golden) count() Count {
	return Count{int64(g.Params["m"]), int64(g.Params["r"]), int64(g.Params["v"])}
}

// rates reads both forms: tp of n_pos, or fn of n_pos.
func (g golden) rates() Rates {
	r := Rates{int64(g.Params["tp"]), int64(g.Params["n_pos"]), int64(g.Params["fp"]), int64(g.Params["n_neg"])}
	if fn, ok := g.Params["fn"]; ok {
		r.TruePositives = r.Positives - int64(fn)
	}
	return r
}

// compute runs the function that a row names.
func (g golden) compute() (float64, error) {
	p := g.Params
	switch g.Fn {
	case "OneRunP":
		return OneRunPValue(g.count(), p["eps"], p["delta"])
	case "OneRunEps":
		return OneRunEpsilon(g.count(), p["delta"], p["p"])
	case "OneRunFDPEps":
		b, err := OneRunFDP(g.count(), Options{Delta: p["delta"], Level: p["p"]}, accountant.Exact)
		return b.Epsilon, err
	case "CPLower":
		return LowerBound(int64(p["k"]), int64(p["n"]), p["alpha"])
	case "CPUpper":
		return UpperBound(int64(p["k"]), int64(p["n"]), p["alpha"])
	case "TwoRunEps":
		return TwoRunEpsilon(g.rates(), p["delta"], p["alpha"])
	case "GDPAuditMu":
		return TwoRunMu(g.rates(), p["alpha"])
	case "GDPAuditEps":
		b, err := TwoRunGDP(g.rates(), Options{Delta: p["delta"], Level: p["alpha"]}, accountant.Exact)
		return b.Epsilon, err
	}
	return math.NaN(), nil
}

// Values of 50-digit arithmetic, and rows of our own from the same formulas at
// parameters far from those: one trial, millions of them, extreme levels.
func TestGoldens(t *testing.T) {
	for _, f := range []struct {
		path string
		rows int
	}{{"../../../testdata/goldens/audit.json", 47}, {"testdata/more.json", 53}} {
		b, err := os.ReadFile(filepath.FromSlash(f.path))
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Entries []golden }
		if err := json.Unmarshal(b, &file); err != nil {
			t.Fatal(err)
		}
		if len(file.Entries) != f.rows {
			t.Errorf("%s: %d rows, want %d", f.path, len(file.Entries), f.rows)
		}
		worst := map[string]float64{}
		for _, g := range file.Entries {
			got, err := g.compute()
			if err != nil {
				t.Errorf("%s %s %v: %v", g.ID, g.Fn, g.Params, err)
				continue
			}
			d := math.Abs(got - g.Value)
			if !(d <= g.AbsTol+g.RelTol*math.Abs(g.Value)) {
				t.Errorf("%s %s %v = %v, want %v", g.ID, g.Fn, g.Params, got, g.Value)
			}
			if g.Value != 0 {
				worst[g.Fn] = math.Max(worst[g.Fn], d/math.Abs(g.Value))
			}
		}
		t.Logf("%s: worst relative errors %v", f.path, worst)
	}
}
