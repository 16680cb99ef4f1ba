package pld

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

type golden struct {
	ID     string         `json:"id"`
	Fn     string         `json:"fn"`
	Params map[string]any `json:"params"`
	Value  float64        `json:"value"`
	RelTol float64        `json:"rel_tol"`
	AbsTol float64        `json:"abs_tol"`
	Lo     *float64       `json:"lo"`
	Hi     *float64       `json:"hi"`
	Coarse *float64       `json:"pld_h1e_4"`
	Wrong  *float64       `json:"wrong_value"`
}

func (g golden) num(key string) float64 { v, _ := g.Params[key].(float64); return v }
func (g golden) text(key string) string { v, _ := g.Params[key].(string); return v }
func (g golden) tolerance() float64     { return g.AbsTol + g.RelTol*math.Abs(g.Value) }
func (g golden) has(key string) bool    { _, ok := g.Params[key]; return ok }
func (g golden) count(key string) int64 { return int64(g.num(key)) }
func (g golden) sensitivity() (float64, privacy.Neighbouring) {
	switch g.text("relation") {
	case "replace_one":
		return 2, privacy.Replace // a replaced record moves a sum clipped at 1 by 2
	case "replace_special":
		return 1, privacy.ZeroOut
	}
	return 1, privacy.AddRemove
}

func goldens(t *testing.T, category string) []golden {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../../testdata/goldens", category+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Count   int
		Entries []json.RawMessage
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Entries) != f.Count || f.Count == 0 {
		t.Fatalf("%s: %d entries, says %d", category, len(f.Entries), f.Count)
	}
	out := make([]golden, f.Count)
	for i, e := range f.Entries {
		var head struct{ Value any }
		if err := json.Unmarshal(e, &head); err != nil {
			t.Fatal(err)
		}
		if _, ok := head.Value.(string); ok { // an infinity: of no row that is used here
			if err := json.Unmarshal(e, &struct {
				Fn *string `json:"fn"`
			}{&out[i].Fn}); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := json.Unmarshal(e, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// composition is the terms of a row of the loss distribution categories.
func (g golden) composition(t *testing.T) []terms.Term {
	t.Helper()
	d, relation := g.sensitivity()
	term := terms.Term{Rate: 1, Relation: relation, Count: g.count("steps")}
	if q := g.num("q"); q != 0 && q != 1 {
		term.Rate, term.Method = q, privacy.Poisson
	}
	switch g.text("mechanism") {
	case "gaussian", "poisson_gaussian":
		term.Leaf = privacy.Gaussian{Sigma: g.num("sigma"), Sensitivity: d, Unit: privacy.User, Neighbouring: relation}
	case "laplace", "poisson_laplace":
		term.Leaf = privacy.Laplace{Scale: g.num("b"), Sensitivity: d, Unit: privacy.User, Neighbouring: relation}
	default:
		t.Fatalf("%s: mechanism %q", g.ID, g.text("mechanism"))
	}
	return []terms.Term{term}
}

// ask brackets a row in the direction it names, or both.
func (g golden) ask(t *testing.T, q query, o Options) Bounds {
	t.Helper()
	ts := g.composition(t)
	b, err := larger(ts, q, o)
	if err == nil && g.has("direction") {
		var parts []part
		var bs []Bounds
		if parts, err = build(ts); err == nil {
			if bs, err = brackets(parts, q, o); err == nil {
				b = bs[0]
				if g.text("direction") == "add" {
					b = bs[len(bs)-1]
				}
			}
		}
	}
	if err != nil {
		t.Fatalf("%s %v: %v", g.ID, g.Params, err)
	}
	return b
}

// The bracket holds every value, in every direction, and is as narrow as the
// reference's upper bound at its default mesh, by the files' own rule.
func TestGoldenEpsilon(t *testing.T) {
	rows, widest := goldens(t, "pld_eps"), 0.0
	for _, g := range rows {
		b := g.ask(t, query{delta: g.num("delta"), solve: true}, Options{})
		t.Logf("%s: %.9g <= %.9g <= %.9g (%.2g, %.2g) %d bins, mesh %.3g, tilt %.3g", g.ID, b.Lower, g.Value, b.Upper, b.Lower-g.Value, b.Upper-g.Value, b.Bins, b.Mesh, b.Tilt)
		if !(b.Lower <= g.Value+g.tolerance() && b.Upper >= g.Value-g.tolerance()) {
			t.Errorf("%s: bracket %v to %v, value %v", g.ID, b.Lower, b.Upper, g.Value)
		}
		if g.Coarse != nil && b.Upper > g.Value+1.5*(*g.Coarse-g.Value)+1e-5 {
			t.Errorf("%s: upper %v above the slack over %v", g.ID, b.Upper, g.Value)
		}
		if g.Hi != nil && !(b.Lower <= *g.Hi && b.Upper >= *g.Lo) {
			t.Errorf("%s: bracket %v to %v misses the reference's %v to %v", g.ID, b.Lower, b.Upper, *g.Lo, *g.Hi)
		}
		widest = max(widest, b.Upper-b.Lower)
	}
	t.Logf("%d rows, widest bracket %.2g", len(rows), widest)
}

func TestGoldenDelta(t *testing.T) {
	rows, widest := goldens(t, "pld_delta"), 0.0
	for _, g := range rows {
		b := g.ask(t, query{eps: g.num("eps")}, Options{})
		if !(b.Lower <= g.Value+g.tolerance() && b.Upper >= g.Value-g.tolerance()) {
			t.Errorf("%s: bracket %v to %v, value %v", g.ID, b.Lower, b.Upper, g.Value)
		}
		if g.Coarse != nil && b.Upper > g.Value+1.5*(*g.Coarse-g.Value)+1e-5*g.Value {
			t.Errorf("%s: upper %v above the slack over %v", g.ID, b.Upper, g.Value)
		}
		widest = max(widest, b.Upper/b.Lower-1)
	}
	t.Logf("%d rows, widest bracket %.2g relative", len(rows), widest)
}
