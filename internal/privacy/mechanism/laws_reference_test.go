package mechanism_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/edges"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/privacy/mechanism/sequence"
)

// readLaws reads the closed forms of testdata/laws.py.
func readLaws(t testing.TB) []mechanismtest.Golden {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "laws.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Entries []mechanismtest.Golden }
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f.Entries
}

// lawOf is our value of a row of laws.json; fault names a mistake made on purpose.
func lawOf(g mechanismtest.Golden, fault string) (got float64, ok bool) {
	eps, x, k := g.Number("eps"), g.Number("x"), int64(g.Number("k"))
	dg := secure.DiscreteGaussianLaw{Sigma: g.Number("sigma")}
	pm, rr := local.Piecewise{Epsilon: eps}, local.Response{Epsilon: eps, Categories: k}
	oracle := local.Oracle{Kind: local.OracleKind(g.Word("oracle")), Epsilon: eps, Categories: int(k)}
	seq := sequence.Mechanism{Variant: sequence.Variant(g.Word("variant")), Epsilon: eps, Items: int(g.Number("items")), Length: int(g.Number("length"))}
	switch fault {
	case "variance for deviation":
		dg.Sigma *= dg.Sigma
	case "whole budget where half is meant":
		pm.Epsilon *= 2
		oracle.Epsilon *= 2
	case "one category more":
		rr.Categories++
		oracle.Categories++
	case "one id more written":
		seq.Items--
	}
	switch g.Fn {
	case "DiscreteGaussianZ":
		return dg.Normaliser(), true
	case "DiscreteGaussianPMF":
		return dg.PMF(k), true
	case "LogSquares":
		return dg.LogSquares(g.Number("t")), true
	case "PiecewiseC":
		return pm.C(), true
	case "PiecewiseCentre":
		return pm.Centre(), true
	case "PiecewiseInside":
		l, r := pm.Bounds(x)
		return pm.Density((l+r)/2, x), true
	case "PiecewiseOutside":
		return pm.Density(-math.Copysign(pm.C(), x), x), true
	case "PiecewiseVariance":
		return pm.Variance(x), true
	case "EdgeFlip":
		return edges.EdgeRand{Epsilon: pm.Epsilon}.Flip(), true
	case "Keep":
		return rr.Keep(), true
	case "Other":
		return rr.Other(), true
	case "OracleGap":
		return oracle.Gap(), true
	case "OracleVariance":
		return oracle.FrequencyVariance(100, g.Number("f")), true
	case "SequenceKeep":
		return seq.Keep(int(k)), true
	case "SequenceReplace":
		return seq.Replace(int(k)), true
	}
	return 0, false
}

func accepts(g mechanismtest.Golden, got float64) bool {
	return math.Abs(got-g.Value) <= g.AbsTol+g.RelTol*math.Abs(g.Value)
}

// Every closed form against plain sums and formulas in 60-digit arithmetic, to the
// ends of the range: from an epsilon of 1e-6, where differences cancel, to one of
// 60, where a double has no 1-p left.
func TestLawsOfMechanisms(t *testing.T) {
	tested := map[string]int{}
	for _, g := range readLaws(t) {
		got, ok := lawOf(g, "")
		if !ok {
			t.Fatalf("%s %v is not tested", g.Fn, g.Params)
		}
		tested[g.Fn]++
		// The cancelling logarithms of laws near their limit are right to 1e-13 at least.
		if !accepts(g, got) && !(slices.Contains([]string{"LogSquares"}, g.Fn) && math.Abs(got-g.Value) < 1e-13) {
			t.Errorf("%s %v = %v, want %v", g.Fn, g.Params, got, g.Value)
		}
	}
	if len(tested) != 15 {
		t.Errorf("tested %v: %d laws", tested, len(tested))
	}
}

// The same comparison refuses the mistakes that a reader of the papers makes, in
// every law that the mistake is about.
func TestLawsRefuseMistakes(t *testing.T) {
	about := map[string][]string{
		"variance for deviation": {"DiscreteGaussianZ", "DiscreteGaussianPMF", "LogSquares"},
		"whole budget where half is meant": {"PiecewiseC", "PiecewiseCentre", "PiecewiseInside", "PiecewiseOutside",
			"PiecewiseVariance", "EdgeFlip", "OracleGap", "OracleVariance"},
		"one category more":   {"Keep", "Other"},
		"one id more written": {"SequenceKeep", "SequenceReplace"},
	}
	entries := readLaws(t)
	for fault, laws := range about {
		for _, fn := range laws {
			caught, rows := 0, 0
			for _, g := range entries {
				if g.Fn != fn {
					continue
				}
				rows++
				if got, _ := lawOf(g, fault); !accepts(g, got) {
					caught++
				}
			}
			// Some rows are the same either way: sigma 1, a vote of all, an epsilon that drowns the categories.
			if caught == 0 || 3*caught < rows {
				t.Errorf("%s in %s: %d of %d rows see it", fault, fn, caught, rows)
			}
		}
	}
}

// Limits: where a parameter goes to its end, the law goes to the limit's.
func TestLawsAtTheirLimits(t *testing.T) {
	near := func(what string, got, want, tol float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	for _, s := range []float64{10, 1e3, 1e6, 1e12} { // discrete laws become the continuous ones
		near("Z over sigma sqrt(2 pi)", secure.DiscreteGaussianLaw{Sigma: s}.Normaliser()/(s*math.Sqrt(2*math.Pi)), 1, 1e-14)
		near("density at sigma", s*secure.DiscreteGaussianLaw{Sigma: s}.PMF(int64(s)), math.Exp(-0.5)/math.Sqrt(2*math.Pi), 1e-12)
		near("squares", secure.DiscreteGaussianLaw{Sigma: s}.LogSquares(0.25), math.Ln2/2, 1e-13)
	}
	for _, s := range []float64{0.02, 0.01, 1e-3} { // and put all on 0 where nothing else is in reach
		near("mass at 0", secure.DiscreteGaussianLaw{Sigma: s}.PMF(0), 1, 0)
		near("mass at 1", secure.DiscreteGaussianLaw{Sigma: s}.PMF(1), 0, 1e-300)
	}
	for _, eps := range []float64{1e-3, 1e-6, 1e-9} { // no budget: uniform, for any input
		pm := local.Piecewise{Epsilon: eps}
		near("centre", pm.Centre(), 0.5, eps)
		near("C eps / 4", pm.C()*eps/4, 1, eps)
		near("keep", local.Response{Epsilon: eps, Categories: 9}.Keep(), 1./9, eps)
		near("flip", edges.EdgeRand{Epsilon: eps}.Flip(), 0.5, eps)
		near("gap", local.Oracle{Kind: local.OUE, Epsilon: eps}.Gap()/eps, 0.25, eps)
	}
	for _, eps := range []float64{50, 200, 700} { // all of it: the input
		pm := local.Piecewise{Epsilon: eps}
		near("C", pm.C(), 1, math.Exp(-eps/4))
		near("variance", pm.Variance(1), 0, 10*math.Exp(-eps/2))
		near("keep", local.Response{Epsilon: eps, Categories: 9}.Keep(), 1, 10*math.Exp(-eps))
		near("sequence", sequence.Mechanism{Variant: sequence.SDPFixed, Epsilon: eps, Items: 10, Length: 4}.Keep(0), 1, 100*math.Exp(-eps))
		if q := (local.UnaryEncoding{Epsilon: eps}).Q(); !(q > 0 && q < 2*math.Exp(-eps)) {
			t.Errorf("epsilon %g: a 0 is sent as 1 with %g", eps, q)
		}
	}
}

// Monotone in each parameter: more budget, less noise, and the other way round.
func TestLawsAreMonotone(t *testing.T) {
	eps := []float64{0.01, 0.1, 0.3, 0.6, 0.62, 1, 2, 3, 5, 8, 12}
	type curve struct {
		name    string
		falling bool
		f       func(e float64) float64
	}
	curves := []curve{
		{name: "C", falling: true, f: func(e float64) float64 { return local.Piecewise{Epsilon: e}.C() }},
		{name: "centre", falling: false, f: func(e float64) float64 { return local.Piecewise{Epsilon: e}.Centre() }},
		{name: "piecewise variance", falling: true, f: func(e float64) float64 { return local.Piecewise{Epsilon: e}.Variance(1) }},
		{name: "flip", falling: true, f: func(e float64) float64 { return edges.EdgeRand{Epsilon: e}.Flip() }},
		{name: "keep", falling: false, f: func(e float64) float64 { return local.Response{Epsilon: e, Categories: 7}.Keep() }},
		{name: "other", falling: true, f: func(e float64) float64 { return local.Response{Epsilon: e, Categories: 7}.Other() }},
		{name: "sequence", falling: false, f: func(e float64) float64 {
			return sequence.Mechanism{Variant: sequence.SDPPaper, Epsilon: e, Items: 99, Length: 5}.Keep(2)
		}},
		{name: "true edges", falling: false, f: func(e float64) float64 {
			_, share := edges.EdgeRand{Epsilon: e}.Expected(10_000, 100)
			return share
		}},
		{name: "Laplace scale", falling: true, f: func(e float64) float64 { b, _ := channel.LaplaceScale(e, 1); return b }},
		{name: "Laplace tail", falling: false, f: func(b float64) float64 { return channel.Laplace{Scale: b}.Tail(1) }},
	}
	for _, kind := range []local.OracleKind{local.GRR, local.SUE, local.OUE, local.OLH} {
		curves = append(curves, curve{name: "variance of " + string(kind), falling: true, f: func(e float64) float64 {
			return local.Oracle{Kind: kind, Epsilon: e, Categories: 30}.FrequencyVariance(1000, 0)
		}})
	}
	for _, c := range curves {
		for i, e := range eps[1:] {
			// At large epsilon OLH's range of hashes is rounded, which may cost a little.
			if a, b := c.f(eps[i]), c.f(e); a == b || (b < a) != c.falling {
				t.Errorf("%s goes from %g to %g between %g and %g", c.name, a, b, eps[i], e)
			}
		}
	}
	for k := 2; k < 200; k++ { // more to hide among: less is kept
		if a, b := (local.Response{Epsilon: 1, Categories: int64(k)}), (local.Response{Epsilon: 1, Categories: int64(k + 1)}); !(b.Keep() < a.Keep()) || !(b.Other() < a.Other()) {
			t.Errorf("%d categories keep %g, one more %g", k, a.Keep(), b.Keep())
		}
	}
}
