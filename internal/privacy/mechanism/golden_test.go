package mechanism

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

type golden struct {
	Fn     string         `json:"fn"`
	Params map[string]any `json:"params"`
	Value  float64        `json:"value"`
	RelTol float64        `json:"rel_tol"`
	AbsTol float64        `json:"abs_tol"`
}

func (g golden) p(name string) float64 { v, _ := g.Params[name].(float64); return v }

// Laws of the local mechanisms against values of 50-digit arithmetic. Rows of
// mechanisms that do not exist here (Duchi, hybrid, other oracles) are counted
// out by name.
func TestGoldenLaws(t *testing.T) {
	tested := map[string]int{}
	for _, category := range []string{"piecewise_mechanism", "local_frequency_oracles"} {
		b, err := os.ReadFile(filepath.Join("../../../testdata/goldens", category+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var f struct{ Entries []golden }
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatal(err)
		}
		for _, g := range f.Entries {
			m, u := Piecewise{Epsilon: g.p("eps")}, UnaryEncoding{Epsilon: g.p("eps")}
			l, r := m.Bounds(g.p("t"))
			var got float64
			switch g.Fn {
			case "PMC":
				got = m.C()
			case "PMCentreProb":
				got = m.Centre()
			case "PMDensityHigh":
				got = m.Density(0, 0)
			case "PMDensityLow":
				got = m.Density(m.C(), -1)
			case "PML":
				got = l
			case "PMR":
				got = r
			case "PMMean": // of the density: both sides and the centre
				hi, lo, c := m.Density((l+r)/2, g.p("t")), (1-m.Centre())/(m.C()+1), m.C()
				got = hi*(r*r-l*l)/2 + lo*(l*l-c*c+c*c-r*r)/2
			case "PMVariance":
				got = m.Variance(g.p("t"))
			case "PMWorstVariance":
				got = m.Variance(-1)
			case "FOParamP", "FOParamQ", "FOVariance":
				if g.Params["oracle"] != "OUE" {
					continue
				}
				got = map[string]float64{"FOParamP": u.P(), "FOParamQ": u.Q(), "FOVariance": u.FrequencyVariance(g.p("n"), g.p("f"))}[g.Fn]
			default:
				continue
			}
			tested[g.Fn]++
			if d := math.Abs(got - g.Value); !(d <= g.AbsTol+g.RelTol*math.Abs(g.Value)) {
				t.Errorf("%s %v = %v, want %v", g.Fn, g.Params, got, g.Value)
			}
		}
	}
	t.Log(tested)
	if len(tested) != 12 {
		t.Errorf("%d kinds of rows tested, want 12: %v", len(tested), tested)
	}
}
