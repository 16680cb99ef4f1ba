package local

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/reference"
)

// Laws of the local mechanisms against values of 50-digit arithmetic, every row.
func TestGoldenLaws(t *testing.T) {
	tested := map[string]int{}
	worst := 0.0
	const goldens = "../../../../testdata/goldens/"
	for _, path := range []string{goldens + "piecewise_mechanism.json", goldens + "local_frequency_oracles.json", "testdata/more.json"} {
		category := strings.TrimSuffix(filepath.Base(path), ".json")
		b, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		var f struct{ Entries []mechanismtest.Golden }
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatal(err)
		}
		for _, g := range f.Entries {
			got, ok := valueOf(g)
			if !ok {
				t.Errorf("%s %v is not tested", g.Fn, g.Params)
				continue
			}
			tested[category]++
			d := math.Abs(got - g.Value)
			if !(d <= g.AbsTol+g.RelTol*math.Abs(g.Value)) {
				t.Errorf("%s %v = %v, want %v", g.Fn, g.Params, got, g.Value)
			}
			if g.Value != 0 {
				worst = max(worst, d/math.Abs(g.Value))
			}
		}
	}
	t.Logf("%v, largest relative error %.1e", tested, worst)
	if tested["piecewise_mechanism"] != 141 || tested["local_frequency_oracles"] != 96 || tested["more"] != 6 {
		t.Errorf("tested %v, want 141, 96 and 6 rows", tested)
	}
}

// valueOf is our value of a row.
func valueOf(g mechanismtest.Golden) (got float64, ok bool) {
	eps, x := g.Number("eps"), g.Number("t")
	m := Piecewise{Epsilon: eps}
	l, r := m.Bounds(x)
	kind, _ := g.Params["oracle"].(string)
	oracle := Oracle{Kind: OracleKind(strings.ToLower(kind)), Epsilon: eps, Categories: max(2, int(g.Number("k")))}
	switch g.Fn {
	case "PMC":
		return m.C(), true
	case "PMCentreProb":
		return m.Centre(), true
	case "PMDensityHigh":
		return m.Density(0, 0), true
	case "PMDensityLow":
		return m.Density(m.C(), -1), true
	case "PML":
		return l, true
	case "PMR":
		return r, true
	case "PMMean": // of the density: both sides and the centre
		hi, lo, c := m.Density((l+r)/2, x), (1-m.Centre())/(m.C()+1), m.C()
		return hi*(r*r-l*l)/2 + lo*(l*l-c*c+c*c-r*r)/2, true
	case "PMVariance":
		return m.Variance(x), true
	case "PMWorstVariance":
		return m.Variance(-1), true
	case "DuchiVariance":
		return reference.DuchiVariance(eps, x), true
	case "HybridVariance":
		return reference.HybridVariance(eps, x), true
	case "FOParamP":
		return oracle.P(), oracle.validate() == nil
	case "FOParamQ":
		return oracle.Q(), oracle.validate() == nil
	case "FOVariance":
		return oracle.FrequencyVariance(g.Number("n"), g.Number("f")), oracle.validate() == nil
	}
	return 0, false
}
