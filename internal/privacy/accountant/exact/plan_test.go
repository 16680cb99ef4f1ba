package exact

import (
	"errors"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

func leafOf(kind string, noise, move float64) privacy.Event {
	switch kind {
	case "gaussian":
		return privacy.Gaussian{Sigma: noise, Sensitivity: move, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	case "laplace":
		return privacy.Laplace{Scale: noise, Sensitivity: move, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	case "discrete laplace":
		return privacy.DiscreteLaplace{Scale: noise, Sensitivity: move, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	}
	return privacy.DiscreteGaussian{Sigma: noise, Sensitivity: move, Dimension: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
}

func termOf(leaf privacy.Event, rate float64, count int64) terms.Term {
	t := terms.Term{Leaf: leaf, Rate: rate, Relation: privacy.AddRemove, Count: count}
	if rate < 1 {
		t.Method = privacy.Poisson
	}
	return t
}

// Terms become laws: Gaussians add up in squares, equal laws in counts, and what
// only differs in units is equal.
func TestPlansMerge(t *testing.T) {
	p, err := newPlan([]terms.Term{
		termOf(leafOf("gaussian", 2, 1), 1, 3), termOf(leafOf("gaussian", 5, 10), 1, 2),
		termOf(leafOf("gaussian", 2, 1), 0.1, 4), termOf(leafOf("gaussian", 4, 2), 0.1, 5), termOf(leafOf("gaussian", 4, 2), 0.2, 1),
		termOf(leafOf("laplace", 3, 1.5), 1, 1), termOf(leafOf("laplace", 2, 1), 1, 6),
		termOf(leafOf("discrete laplace", 3, 2.9), 1, 7), termOf(leafOf("discrete laplace", 3, 2), 1, 1),
		termOf(leafOf("discrete gaussian", 3, 1.4), 1, 2), termOf(leafOf("discrete gaussian", 3, 1), 1, 2),
		termOf(privacy.PureLDP{Epsilon: 0.5, Unit: privacy.User}, 1, 2), termOf(privacy.RandomizedResponse{Epsilon: 0.5, Categories: 2, Unit: privacy.User}, 1, 3),
		termOf(privacy.RandomizedResponse{Epsilon: 0.5, Categories: 3, Unit: privacy.User}, 1, 3),
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := 3*0.25 + 2*4.0; p.mu2 != want {
		t.Errorf("mu² %v, want %v", p.mu2, want)
	}
	want := []term{
		{sampledGaussian{mu: 0.5, rate: 0.1}, 9}, {sampledGaussian{mu: 0.5, rate: 0.2}, 1}, {laplace{shift: 0.5, rate: 1}, 7},
		{discreteLaplace{shift: 2, scale: 3, rate: 1}, 8}, {discreteGaussian{shift: 1, sigma: 3}, 4},
		{response{eps: 0.5, categories: 2}, 5}, {response{eps: 0.5, categories: 3}, 3},
	}
	if len(p.terms) != len(want) {
		t.Fatalf("%+v, want %+v", p.terms, want)
	}
	for i, q := range p.terms {
		if q != want[i] {
			t.Errorf("part %d: %+v, want %+v", i, q, want[i])
		}
	}
	if p.symmetric() {
		t.Error("sampled Gaussians are the same both ways")
	}
}

// The order in which terms come, and how counts are split over them, is not seen in
// the plan except the order of its terms.
func TestPlansForgetTheOrder(t *testing.T) {
	ts := []terms.Term{
		termOf(leafOf("gaussian", 2, 1), 0.1, 4), termOf(leafOf("laplace", 2, 1), 1, 6), termOf(leafOf("gaussian", 3, 1), 1, 3),
		termOf(leafOf("gaussian", 2, 1), 0.1, 1), termOf(leafOf("discrete gaussian", 3, 1), 1, 2),
	}
	count := func(ts []terms.Term) map[law]float64 {
		p, err := newPlan(ts)
		if err != nil {
			t.Fatal(err)
		}
		out := map[law]float64{gaussLaw: p.mu2}
		for _, q := range p.terms {
			out[q.law] += q.count
		}
		return out
	}
	want := count(ts)
	for turn := range ts {
		got := count(append(append([]terms.Term(nil), ts[turn:]...), ts[:turn]...))
		for l, n := range want {
			if got[l] != n {
				t.Errorf("turned by %d: %+v has %v, want %v", turn, l, got[l], n)
			}
		}
	}
}

// gaussLaw stands for all Gaussians that are not sampled.
var gaussLaw law = discreteGaussian{shift: -1}

// Every field of every kind, out of its range: an error that names the term, and
// nothing of the others is kept.
func TestPlansRefuse(t *testing.T) {
	good := termOf(leafOf("gaussian", 1, 1), 1, 1)
	type bad struct {
		name    string
		term    terms.Term
		want    string
		covered bool // it is wrong, not out of reach
	}
	var cases []bad
	for _, kind := range []string{"gaussian", "laplace", "discrete laplace", "discrete gaussian"} {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1} {
			cases = append(cases, bad{kind + " noise", termOf(leafOf(kind, v, 1), 1, 1), "term 1", true})
			if v != 0 {
				cases = append(cases, bad{kind + " move", termOf(leafOf(kind, 1, v), 1, 1), "term 1", true})
			}
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 0, -0.1, 1.0000001, 5} {
		c := termOf(leafOf("gaussian", 1, 1), 1, 1)
		c.Rate = v
		cases = append(cases, bad{"rate", c, "rate is", true})
	}
	for _, n := range []int64{0, -1, math.MinInt64} {
		cases = append(cases, bad{"count", termOf(leafOf("laplace", 1, 1), 1, n), "count is", true})
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), -1} {
		cases = append(cases, bad{"pure", termOf(privacy.PureLDP{Epsilon: v, Unit: privacy.User}, 1, 1), "term 1", true})
		cases = append(cases, bad{"response", termOf(privacy.RandomizedResponse{Epsilon: v, Categories: 3, Unit: privacy.User}, 1, 1), "term 1", true})
	}
	for _, k := range []int64{1, 0, -4} {
		cases = append(cases, bad{"categories", termOf(privacy.RandomizedResponse{Epsilon: 1, Categories: k, Unit: privacy.User}, 1, 1), "term 1", true})
	}
	fixed := termOf(leafOf("gaussian", 1, 1), 0.1, 1)
	fixed.Method = privacy.WithoutReplacement
	none := termOf(leafOf("gaussian", 1, 1), 0.1, 1)
	none.Method = ""
	replaced := func(e privacy.Event) terms.Term {
		t := termOf(e, 0.1, 1)
		t.Relation = privacy.Replace
		return t
	}
	wide := leafOf("discrete gaussian", 9, 2).(privacy.DiscreteGaussian)
	wide.Dimension = 2
	cases = append(cases,
		bad{"nothing", terms.Term{Rate: 1, Count: 1}, "no event", true},
		bad{"a sample of fixed size", fixed, "term 1 (gaussian)", false},
		bad{"a sample of no kind", none, "term 1 (gaussian)", false},
		bad{"a sampled discrete gaussian", termOf(leafOf("discrete gaussian", 3, 1), 0.1, 1), "sampled discrete Gaussian", false},
		bad{"laplace, sampled, replaced", replaced(leafOf("laplace", 1, 1)), "under", false},
		bad{"discrete laplace, sampled, replaced", replaced(leafOf("discrete laplace", 1, 1)), "under", false},
		bad{"dimensions", termOf(wide, 1, 1), "2 dimensions", false},
		bad{"bounded range", termOf(privacy.Exponential{Epsilon: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, 1, 1), "no single pair", false},
		bad{"sampled, too quiet", termOf(leafOf("gaussian", 1e12, 1), 0.1, 1), "sensitivity/sigma", false},
		bad{"sampled, too loud", termOf(leafOf("gaussian", 1e-12, 1), 0.1, 1), "sensitivity/sigma", false},
		bad{"gaussians overflow", termOf(leafOf("gaussian", 1e-200, 1e200), 1, 1), "overflow", false},
		bad{"laplace too quiet", termOf(leafOf("laplace", 1e15, 1), 1, 1), "too far out", false},
		bad{"laplace too loud", termOf(leafOf("laplace", 1, 1e5), 1, 1), "too far out", false},
		bad{"steps without end", termOf(leafOf("discrete laplace", 1e9, 1e6), 1, 1), "too far out", false},
		bad{"grid too fine", termOf(leafOf("discrete gaussian", 1e16, 1e16), 1, 1), "too far out", false},
		bad{"grid too coarse", termOf(leafOf("discrete gaussian", 0.01, 1), 1, 1), "too far out", false},
		bad{"epsilon too large", termOf(privacy.PureLDP{Epsilon: 2e4, Unit: privacy.User}, 1, 1), "too far out", false},
	)
	for _, c := range cases {
		p, err := newPlan([]terms.Term{good, c.term})
		if err == nil || p != nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrNotCovered) == c.covered {
			t.Errorf("%s (%+v): %v, want %q, covered %v", c.name, c.term, err, c.want, c.covered)
		}
	}
	if p, err := newPlan([]terms.Term{good, good}); err != nil || p.mu2 != 2 {
		t.Errorf("the good ones: %+v, %v", p, err)
	}
}

// The probability of the largest loss answers where delta is far below it, and
// leaves all else to others.
func TestBrim(t *testing.T) {
	p := &plan{terms: []term{{response{eps: 0.5, categories: 2}, 10}, {laplace{shift: 2, rate: 1}, 3}}}
	const most = 0.5*10 + 2*3
	top := 10*-math.Log1p(math.Exp(-0.5)) + 3*-math.Ln2
	for _, below := range []float64{26, 40, 300, 700} {
		v, ok := p.largestLoss(Remove, Value{Method: Closed}, top-below)
		if !ok || v.Epsilon < most || v.Epsilon > most*(1+1e-14) {
			t.Errorf("exp(-%g) of the largest loss's probability: %+v, %v, want %v", below, v, ok, float64(most))
		}
		// delta(eps) >= P(most) (1 - exp(eps - most)): no epsilon below the interval will do.
		if lower := v.Epsilon - v.Error; math.Exp(top)*-math.Expm1(lower-most) < math.Exp(top-below) {
			t.Errorf("exp(-%g): the interval down to %v does not hold", below, lower)
		}
	}
	for _, below := range []float64{24.9, 1, -1} {
		if v, ok := p.largestLoss(Remove, Value{}, top-below); ok {
			t.Errorf("exp(-%g): %+v", below, v)
		}
	}
	p.mu2 = 1e-9
	if v, ok := p.largestLoss(Remove, Value{}, top-300); ok {
		t.Errorf("with a Gaussian: %+v", v)
	}
	q := &plan{terms: []term{{sampledGaussian{mu: 1, rate: 0.1}, 10}}}
	for _, d := range []Direction{Remove, Add} {
		if v, ok := q.largestLoss(d, Value{}, -1e4); ok {
			t.Errorf("a loss that is never reached, %s: %+v", d, v)
		}
	}
}

// smallest finds the end of a falling curve to the last place, from above.
func TestSmallest(t *testing.T) {
	for _, root := range []float64{1e-12, 0.3, 7, 1e6} {
		curve := func(e float64) float64 { return -e / root }
		got := smallest(curve, -1, 3*root)
		if curve(got) > -1 || curve(math.Nextafter(got, 0)) <= -1 {
			t.Errorf("root %g: %.17g", root, got)
		}
		if got := smallest(curve, 0, root); got != 0 {
			t.Errorf("met at nought: %g", got)
		}
		// A bound that rounding made too small is stretched.
		if got := smallest(curve, -1, root*(1-1e-15)); curve(got) > -1 || got > root*(1+1e-13) {
			t.Errorf("a bound just short of %g: %.17g", root, got)
		}
	}
	if got := smallest(func(float64) float64 { return math.NaN() }, -1, 1); got != 0 {
		t.Errorf("no curve: %g", got)
	}
	// One that stays above the target beyond its bound, as rounding makes some, has no end.
	calls := 0
	if got := smallest(func(float64) float64 { calls++; return -0.5 }, -1, 200); !math.IsInf(got, 1) || calls > 100 {
		t.Errorf("no end: %g after %d looks at the curve", got, calls)
	}
	if _, err := (Value{}).solved(func(float64) float64 { return -0.5 }, func(float64) float64 { return 0 }, -1, 200); !errors.Is(err, ErrNotCovered) {
		t.Errorf("no end: %v", err)
	}
}

// The bound of Rényi DP is enough for a Gaussian, always.
func TestGaussBoundIsEnough(t *testing.T) {
	for _, mu := range []float64{1e-6, 0.01, 1, 30, 1e5} {
		for _, delta := range []float64{0.9, 1e-3, 1e-12, 1e-300} {
			p := &plan{mu2: mu * mu}
			v, err := p.epsilon(Remove, delta)
			if err != nil || v.Epsilon > gaussBound(mu, delta)*(1+1e-12) {
				t.Errorf("mu %g delta %g: %+v, bound %g (%v)", mu, delta, v, gaussBound(mu, delta), err)
			}
			if back, err := p.delta(Remove, v.Epsilon); err != nil || back.Delta-back.Error > delta {
				t.Errorf("mu %g delta %g: back to %+v (%v)", mu, delta, back, err)
			}
		}
	}
}
