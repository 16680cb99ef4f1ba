package classic

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
)

type golden struct {
	ID     string         `json:"id"`
	Fn     string         `json:"fn"`
	Params map[string]any `json:"params"`
	Value  float64        `json:"value"`
	RelTol float64        `json:"rel_tol"`
	AbsTol float64        `json:"abs_tol"`
}

func (g golden) p(name string) float64 { v, _ := g.Params[name].(float64); return v }
func (g golden) n(name string) int64   { return int64(g.p(name)) }

func (g golden) terms() []Term { return []Term{{g.p("eps0"), g.p("delta0"), g.n("k")}} }

// errForeign is a row of another package.
var errForeign = errors.New("not a row of this package")

func (g golden) compute() (float64, error) {
	switch g.Fn {
	case "BasicCompositionEps":
		e, _, err := Basic(g.p("eps"), 0, g.n("k"))
		return e, err
	case "AdvancedCompositionDRVEps":
		return Advanced(g.p("eps"), g.n("k"), g.p("delta_prime"))
	case "AdvancedCompositionKOVEps":
		return AdvancedTight(g.p("eps"), g.n("k"), g.p("delta_prime"))
	case "AmplifyEps":
		e, _, err := AmplifyPoisson(g.p("q"), g.p("eps"), 0)
		return e, err
	case "AmplifyDelta":
		_, d, err := AmplifyPoisson(g.p("q"), 1, g.p("delta"))
		return d, err
	case "RRComposeDelta":
		return KFoldDelta(g.terms(), g.p("eps"))
	case "RRComposeEps":
		return KFoldEpsilon(g.terms(), g.p("delta"))
	case "PureToZCDP":
		return PureToZCDP(g.p("eps"))
	case "AdvancedAnyEps":
		e, _, err := AdvancedAny([]Term{{g.p("eps1"), g.p("delta1"), g.n("k1")}, {g.p("eps2"), g.p("delta2"), g.n("k2")}}, g.p("slack"))
		return e, err
	case "KFoldAnyDelta":
		return KFoldDelta([]Term{{g.p("eps1"), g.p("delta1"), g.n("k1")}, {g.p("eps2"), g.p("delta2"), g.n("k2")}, {0, g.p("delta3"), 3}}, g.p("eps"))
	}
	return 0, errForeign
}

// Values of 50-digit arithmetic; rows of other packages are counted out. The
// rows of testdata/more.json are our own, from the same formulas at parameters far
// from those.
func TestGoldens(t *testing.T) {
	const goldens = "../../../../testdata/goldens/"
	for _, f := range []struct {
		path string
		rows int
	}{
		{goldens + "composition.json", 25}, {goldens + "randomized_response.json", 12}, {"testdata/more.json", 44},
	} {
		b, err := os.ReadFile(filepath.FromSlash(f.path))
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Entries []golden }
		if err := json.Unmarshal(b, &file); err != nil {
			t.Fatal(err)
		}
		rows, worst := 0, map[string]float64{}
		for _, g := range file.Entries {
			got, err := g.compute()
			if errors.Is(err, errForeign) {
				continue
			}
			rows++
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
		if rows != f.rows {
			t.Errorf("%s: %d rows computed, want %d", f.path, rows, f.rows)
		}
		t.Logf("%s: worst relative errors %v", f.path, worst)
	}
}
