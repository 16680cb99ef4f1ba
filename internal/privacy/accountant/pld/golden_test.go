package pld

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
		term.Leaf = privacy.Gaussian{Sigma: g.num("sigma"), Sensitivity: d, Norm: clipped(d, relation), Unit: privacy.User, Neighbouring: relation}
	case "laplace", "poisson_laplace":
		term.Leaf = privacy.Laplace{Scale: g.num("b"), Sensitivity: d, Unit: privacy.User, Neighbouring: relation}
	default:
		t.Fatalf("%s: mechanism %q", g.ID, g.text("mechanism"))
	}
	return []terms.Term{term}
}

// asker answers rows, each composition once for all its directions.
type asker map[string][]Bounds

// ask brackets a row in the direction it names, or both. A quarter of the
// default bins is enough for most rows.
func (as asker) ask(t *testing.T, g golden, q query) Bounds {
	t.Helper()
	o := Options{Bins: 1 << 17}
	if c := g.text("config"); c == "234000 steps sigma 1.1" || c == "small q large T" {
		o.Bins = 0
	}
	parts, err := build(g.composition(t))
	if err != nil {
		t.Fatalf("%s: %v", g.ID, err)
	}
	key := fmt.Sprint(g.composition(t), q)
	if as[key] == nil {
		if as[key], err = brackets(context.Background(), parts, q, o, false); err != nil {
			t.Fatalf("%s %v: %v", g.ID, g.Params, err)
		}
	}
	bs := as[key]
	switch g.text("direction") {
	case "remove":
		return bs[0]
	case "add":
		return bs[len(bs)-1]
	}
	return both(bs)
}

// inexact are rows whose value is off by more than the file's tolerance, with
// what integration along a contour gives.
var inexact = map[string]float64{"pld_eps/p/0053": 4.2212967}

// The bracket holds every value, in every direction, and is as narrow as the
// reference's upper bound at its default mesh, by the files' own rule.
func TestGoldenEpsilon(t *testing.T) {
	rows, widest, as := goldens(t, "pld_eps"), 0.0, asker{}
	if len(rows) != 54 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, g := range rows {
		if v, ok := inexact[g.ID]; ok {
			g.Value, g.Coarse = v, nil
		}
		b := as.ask(t, g, query{delta: g.num("delta"), solve: true})
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
		if g.text("config") != "small q large T" {
			widest = max(widest, b.Upper-b.Lower)
		} else if b.Upper > 0.131 || b.Lower < 0.1 {
			t.Errorf("%s: %v to %v is of no use", g.ID, b.Lower, b.Upper)
		}
	}
	t.Logf("%d rows, widest bracket %.2g", len(rows), widest)
}

func TestGoldenDelta(t *testing.T) {
	rows, widest, as := goldens(t, "pld_delta"), 0.0, asker{}
	if len(rows) != 45 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, g := range rows {
		b := as.ask(t, g, query{eps: g.num("eps")})
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

// eps of a few releases against exact values; the wrong values of references are
// outside.
func TestGoldenCountsAndRelations(t *testing.T) {
	n := 0
	for _, g := range goldens(t, "relations_and_counts") {
		if g.text("accountant") != "pld" {
			continue
		}
		n++
		term := terms.Term{Rate: 1, Count: g.count("count")}
		var d float64
		d, term.Relation = g.sensitivity()
		switch g.text("event") {
		case "randomized_response":
			k := g.num("buckets")
			keep := 1 - g.num("noise_parameter") + g.num("noise_parameter")/k
			term.Leaf = privacy.RandomizedResponse{Epsilon: math.Log(keep / ((1 - keep) / (k - 1))), Categories: int64(k), Unit: privacy.User}
		case "gaussian":
			term.Leaf = privacy.Gaussian{Sigma: g.num("sigma"), Sensitivity: d, Norm: clipped(d, term.Relation), Unit: privacy.User, Neighbouring: term.Relation}
		default:
			t.Fatalf("%s: event %q", g.ID, g.text("event"))
		}
		b, err := Bracket(context.Background(), []terms.Term{term}, g.num("delta"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		tol := max(1e-9*g.Value, 1e-9)
		if g.AbsTol > 0 { // given to four digits only in the references' comparison
			tol = max(tol, 1e-6)
		}
		if !(b.Lower <= g.Value+tol && b.Upper >= g.Value-tol && b.Upper-b.Lower < 2e-5) {
			t.Errorf("%s: bracket %v to %v, value %v", g.ID, b.Lower, b.Upper, g.Value)
		}
		if g.Wrong != nil && b.Lower <= *g.Wrong {
			t.Errorf("%s: %v to %v does not exclude %v, which ignores the count", g.ID, b.Lower, b.Upper, *g.Wrong)
		}
	}
	if n != 8 {
		t.Errorf("%d rows", n)
	}
}

// The exact composition of randomized response, with infinite losses too.
func TestGoldenRandomizedResponse(t *testing.T) {
	n, widest := 0, 0.0
	for _, g := range goldens(t, "randomized_response") {
		q := query{delta: g.num("delta"), eps: g.num("eps"), solve: g.Fn == "RRComposeEps"}
		if !q.solve && g.Fn != "RRComposeDelta" {
			continue
		}
		n++
		x, err := response(g.num("eps0"), 2)
		if err != nil {
			t.Fatal(err)
		}
		if d := g.num("delta0"); d > 0 {
			for i := range x.atoms {
				x.atoms[i].p *= 1 - d
				x.atoms[i].q *= 1 - d
			}
			x.infP, x.infQ = d, d
		}
		bs, err := brackets(context.Background(), []term{{x, g.num("k")}}, q, Options{}, false)
		if err != nil {
			t.Fatalf("%s: %v", g.ID, err)
		}
		b := bs[0]
		if tol := g.tolerance(); !(b.Lower <= g.Value+tol && b.Upper >= g.Value-tol) {
			t.Errorf("%s: bracket %v to %v, value %v", g.ID, b.Lower, b.Upper, g.Value)
		}
		widest = max(widest, b.Upper/b.Lower-1)
	}
	if n != 12 || widest > 1e-6 {
		t.Errorf("%d rows, widest bracket %g relative", n, widest)
	}
	t.Logf("%d rows, widest bracket %.2g relative", n, widest)
}

// delta of one release of noise with atoms.
func TestGoldenAtoms(t *testing.T) {
	counts := map[string]int{}
	for _, category := range []string{"discrete_noise", "laplace"} {
		for _, g := range goldens(t, category) {
			var x pair
			var err error
			switch g.Fn {
			case "DiscreteGaussianDelta":
				x, err = discreteGaussian(math.Sqrt(g.num("sigma2")), g.num("sens"))
			case "DiscreteLaplaceDelta":
				x, err = discreteLaplace(1/g.num("a"), g.num("sens"))
			case "LaplaceDelta":
				x, err = laplace(g.num("sens") / g.num("b"))
			default:
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			counts[g.Fn]++
			bs, err := brackets(context.Background(), []term{{x, 1}}, query{eps: g.num("eps")}, Options{}, false)
			if err != nil {
				t.Fatalf("%s: %v", g.ID, err)
			}
			b := bs[0]
			if tol := max(g.tolerance(), 1e-11*g.Value); !(b.Lower <= g.Value+tol && b.Upper >= g.Value-tol && b.Upper <= g.Value*1.0001) {
				t.Errorf("%s %v: bracket %v to %v, value %v", g.ID, g.Params, b.Lower, b.Upper, g.Value)
			}
		}
	}
	if want := map[string]int{"DiscreteGaussianDelta": 7, "DiscreteLaplaceDelta": 8, "LaplaceDelta": 5}; !maps.Equal(counts, want) {
		t.Errorf("rows %v, want %v", counts, want)
	}
}

// clipped is the norm of vectors whose sum moves by d: half of it where one is exchanged
// for another. Elsewhere no accountant asks.
func clipped(d float64, relation privacy.Neighbouring) float64 {
	if relation == privacy.Replace {
		return d / 2
	}
	return 0
}
