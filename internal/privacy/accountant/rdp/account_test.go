package rdp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
)

var (
	gauss   = privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	loud    = privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	lap     = privacy.Laplace{Scale: 3, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	dgauss  = privacy.DiscreteGaussian{Sigma: 20, Sensitivity: 10, Dimension: 64, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	dlap    = privacy.DiscreteLaplace{Scale: 30, Sensitivity: 10, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	choice  = privacy.Exponential{Epsilon: 0.5, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	batches = privacy.Sampled{Event: loud, Rate: 0.01, Method: privacy.Poisson}
)

// about is an event under another relation.
func about(e privacy.Event, relation privacy.Neighbouring) privacy.Event {
	switch e := e.(type) {
	case privacy.Gaussian:
		e.Neighbouring = relation
		return e
	case privacy.Laplace:
		e.Neighbouring = relation
		return e
	case privacy.DiscreteGaussian:
		e.Neighbouring = relation
		return e
	case privacy.DiscreteLaplace:
		e.Neighbouring = relation
		return e
	case privacy.Exponential:
		e.Neighbouring = relation
		return e
	}
	return e
}

// n at once cost what n times cost, for every kind of event: a count is never
// forgotten, wherever it is written.
func TestCountIsHonoured(t *testing.T) {
	for _, e := range []privacy.Event{
		gauss, lap, dgauss, dlap, choice, batches,
		privacy.SelfComposed{Event: choice, Count: 3},
		privacy.Composed{Events: []privacy.Event{gauss, lap, batches, gauss}},
		privacy.Parallel{Events: []privacy.Event{gauss, loud, lap}},
		privacy.SelfComposed{Event: privacy.Parallel{Events: []privacy.Event{privacy.SelfComposed{Event: gauss, Count: 8}, loud}}, Count: 2},
		privacy.Sampled{Event: lap, Rate: 0.1, Method: privacy.Poisson},
		privacy.Sampled{Event: loud, Rate: 1, Method: privacy.WithoutReplacement},
	} {
		one := curve(t, privacy.User, privacy.AddRemove, e, 1)
		once := curve(t, privacy.User, privacy.AddRemove, e, 60)
		inside := curve(t, privacy.User, privacy.AddRemove, privacy.SelfComposed{Event: e, Count: 60}, 1)
		many := curve(t, privacy.User, privacy.AddRemove, privacy.Composed{Events: slices.Repeat([]privacy.Event{e}, 60)}, 1)
		for _, alpha := range []float64{1.3, 2, 9} {
			want := 60 * one(alpha)
			for name, c := range map[string]rdp.Curve{"at once": once, "one by one": many, "inside": inside} {
				near(t, fmt.Sprintf("%s %s, order %v", e.Kind(), name, alpha), c(alpha), want, 1e-11)
			}
		}
	}
}

// What is in one of several parts pays for the worst at each order, which is
// neither the sum nor one branch for all orders.
func TestParallelBranches(t *testing.T) {
	e := privacy.Parallel{Events: []privacy.Event{gauss, lap}}
	c := curve(t, privacy.User, privacy.AddRemove, e, 1)
	g, l := must(rdp.Gaussian(2, 1))(t), must(rdp.Laplace(3, 1))(t)
	crossing := 0
	for _, alpha := range []float64{1.1, 2, 3, 10, 50} {
		want := math.Max(g(alpha), l(alpha))
		if g(alpha) < l(alpha) {
			crossing++
		}
		near(t, fmt.Sprintf("branches at order %v", alpha), c(alpha), want, 1e-15)
	}
	if crossing == 5 || g(50) < l(50) {
		t.Error("one branch is the worst everywhere: the test shows nothing")
	}
}

// Every sampling that has a bound: below the mechanism that is not sampled, and
// above nothing; every other pair of sampling and relation is refused.
func TestSampledTerms(t *testing.T) {
	covered := map[privacy.Sampling]map[privacy.Neighbouring]bool{
		privacy.Poisson:            {privacy.AddRemove: true, privacy.ZeroOut: true},
		privacy.WithoutReplacement: {privacy.Replace: true},
	}
	for _, method := range []privacy.Sampling{privacy.Poisson, privacy.WithoutReplacement} {
		for _, relation := range []privacy.Neighbouring{privacy.AddRemove, privacy.Replace, privacy.ZeroOut} {
			for _, leaf := range []privacy.Event{gauss, lap, dgauss, dlap, choice} {
				leaf := about(leaf, relation)
				whole, err := rdp.FromTerm(terms.Term{Leaf: leaf, Rate: 1, Relation: relation, Count: 2})
				if err != nil {
					t.Fatal(err)
				}
				part, err := rdp.FromTerm(terms.Term{Leaf: leaf, Rate: 0.02, Method: method, Relation: relation, Count: 2})
				revealed := leaf.Kind() == "gaussian" && method == privacy.Poisson // of any length
				if !covered[method][relation] && !revealed {
					if !errors.Is(err, rdp.ErrNotCovered) || part != nil {
						t.Errorf("%s %s under %s: %v", leaf.Kind(), method, relation, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s %s under %s: %v", leaf.Kind(), method, relation, err)
					continue
				}
				for _, alpha := range []float64{1.2, 2, 5, 64} {
					if p, w := part(alpha), whole(alpha); !(p > 0 && p <= w) || alpha == 2 && p > 0.1*w {
						t.Errorf("%s %s under %s at order %v: %v, not sampled %v", leaf.Kind(), method, relation, alpha, p, w)
					}
				}
				if p, w := part(math.Inf(1)), whole(math.Inf(1)); p > w || !math.IsInf(w, 1) && p > 0.1*w {
					t.Errorf("%s %s under %s: log-ratio %v, not sampled %v", leaf.Kind(), method, relation, p, w)
				}
			}
		}
	}
}

// A sampled pure mechanism costs no more than its amplified epsilon says (Balle,
// Barthe, Gaboardi 2018), a local one included.
func TestSampledPure(t *testing.T) {
	for _, leaf := range []privacy.Event{privacy.PureLDP{Epsilon: 1, Unit: privacy.Feature}, privacy.RandomizedResponse{Epsilon: 1, Categories: 9, Unit: privacy.Feature}, privacy.PureLDP{Epsilon: 900, Unit: privacy.Feature}} {
		eps := 1.0
		if l, ok := leaf.(privacy.PureLDP); ok {
			eps = l.Epsilon
		}
		for _, q := range []float64{1e-20, 1e-3, 0.5} {
			c := must(rdp.FromTerm(terms.Term{Leaf: leaf, Rate: q, Method: privacy.WithoutReplacement, Relation: privacy.Replace, Count: 1}))(t)
			want := math.Log1p(q * math.Expm1(eps))
			if eps > 700 {
				want = eps + math.Log(q)
			}
			near(t, fmt.Sprintf("%s at rate %v", leaf.Kind(), q), c(math.Inf(1)), want, 1e-12)
			if v := c(3); !(v > 0 && v <= c(math.Inf(1))) {
				t.Errorf("%s at rate %v: %v at order 3", leaf.Kind(), q, v)
			}
		}
	}
}

// DP-SGD by its events: the golden configuration, what the exact accountant of
// the same composition cannot exceed, and the relation in the sensitivity.
func TestCurveOfTraining(t *testing.T) {
	step := privacy.Sampled{Event: privacy.Gaussian{Sigma: 0.5 * 1.3, Sensitivity: 0.5, Unit: privacy.Sample, Neighbouring: privacy.AddRemove}, Rate: 250.0 / 60000, Method: privacy.Poisson}
	c := curve(t, privacy.Sample, privacy.AddRemove, step, 3600)
	near(t, "the MNIST tutorial", must(rdp.Epsilon(context.Background(), c, 1e-5, rdp.Options{Orders: rdp.DPAccounting(), Fixed: true}))(t).Epsilon, 0.9422002181626885, 1e-11)
	p := must(rdp.Epsilon(context.Background(), c, 1e-5, rdp.Options{}))(t)
	if p.Epsilon > 0.9422002181626885 || p.Epsilon < 0.93 || p.AtEnd || p.Delta != 1e-5 {
		t.Errorf("%+v", p)
	}
	back := must(rdp.Delta(context.Background(), c, p.Epsilon, rdp.Options{}))(t)
	if math.Abs(back.Delta/1e-5-1) > 1e-6 || back.Epsilon != p.Epsilon {
		t.Errorf("delta %+v at epsilon %v", back, p.Epsilon)
	}
	// Two releases of one sample are one release with more signal.
	two := privacy.Sampled{Event: privacy.SelfComposed{Event: gauss, Count: 4}, Rate: 0.01, Method: privacy.Poisson}
	x, y := curve(t, privacy.User, privacy.AddRemove, two, 100), curve(t, privacy.User, privacy.AddRemove, batches, 100)
	near(t, "four at twice the noise", must(rdp.Epsilon(context.Background(), x, 1e-6, rdp.Options{}))(t).Epsilon, must(rdp.Epsilon(context.Background(), y, 1e-6, rdp.Options{}))(t).Epsilon, 1e-11)
	// Without replacement a record is exchanged: the sum moves by twice the norm.
	far := privacy.Sampled{Event: privacy.Gaussian{Sigma: 4, Sensitivity: 2, Unit: privacy.User, Neighbouring: privacy.Replace}, Rate: 0.01, Method: privacy.WithoutReplacement}
	near(t, "without replacement", curve(t, privacy.User, privacy.Replace, far, 1)(8), must(rdp.WithoutReplacementGaussian(0.01, 2))(t)(8), 1e-14)
	// Normal noise agrees with the exact one from above.
	g := curve(t, privacy.User, privacy.AddRemove, gauss, 12)
	exact := must(accountant.Exact(math.Sqrt(3), 1e-5))(t)
	if e := must(rdp.Epsilon(context.Background(), g, 1e-5, rdp.Options{}))(t).Epsilon; e < exact || e > 1.1*exact {
		t.Errorf("epsilon %v, exact %v", e, exact)
	}
}

// A refused event has no curve, and the error says why.
func TestRefusals(t *testing.T) {
	for want, e := range map[string]privacy.Event{
		"another unit":   about(gauss, privacy.Replace),
		"edge":           privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove},
		"rényi curve":    privacy.Sampled{Event: gauss, Rate: 0.1, Method: privacy.WithoutReplacement},
		"no accountant":  privacy.Sampled{Event: privacy.Parallel{Events: []privacy.Event{gauss}}, Rate: 0.1, Method: privacy.Poisson},
		"sigma is":       privacy.Gaussian{},
		"event 1":        privacy.Composed{Events: []privacy.Event{gauss, privacy.PureLDP{Epsilon: 1, Unit: privacy.Feature}}},
		"overflow":       privacy.SelfComposed{Event: privacy.SelfComposed{Event: gauss, Count: 1 << 40}, Count: 1 << 40},
		"no event":       nil,
		"self-composed:": privacy.SelfComposed{Event: gauss},
	} {
		if c, err := charged(privacy.User, privacy.AddRemove, e, 1); err == nil || c != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := charged(privacy.User, privacy.AddRemove, gauss, 0); err == nil {
		t.Error("count 0 accepted")
	}
	c := curve(t, privacy.User, privacy.AddRemove, gauss, 3)
	for _, delta := range []float64{-1, 1, math.NaN()} {
		if _, err := rdp.Epsilon(context.Background(), c, delta, rdp.Options{}); err == nil {
			t.Errorf("delta %v accepted", delta)
		}
	}
	for _, eps := range []float64{-1, math.Inf(1), math.NaN()} {
		if _, err := rdp.Delta(context.Background(), c, eps, rdp.Options{}); err == nil {
			t.Errorf("epsilon %v accepted", eps)
		}
	}
	if p, err := rdp.Epsilon(context.Background(), c, 0, rdp.Options{}); !errors.Is(err, rdp.ErrNoOrder) {
		t.Errorf("normal noise has no pure guarantee: %+v, %v", p, err)
	}
}

// Terms and lists that did not come from Flatten are checked too.
func TestTermsAreChecked(t *testing.T) {
	for want, term := range map[string]terms.Term{
		"no event":         {Rate: 1, Count: 1},
		"sigma":            {Leaf: privacy.Gaussian{Unit: privacy.User, Neighbouring: privacy.Replace}, Rate: 1, Count: 1},
		"count is 0":       {Leaf: gauss, Rate: 1},
		"sampling rate":    {Leaf: gauss, Rate: 2, Method: privacy.Poisson, Relation: privacy.AddRemove, Count: 1},
		"rate is NaN":      {Leaf: lap, Rate: math.NaN(), Method: privacy.Poisson, Relation: privacy.AddRemove, Count: 1},
		"rate is 0":        {Leaf: about(gauss, privacy.Replace), Method: privacy.WithoutReplacement, Relation: privacy.Replace, Count: 1},
		`event "composed"`: {Leaf: privacy.Composed{Events: []privacy.Event{gauss}}, Rate: 1, Count: 1},
		`sampled by ""`:    {Leaf: gauss, Rate: 0.5, Relation: privacy.AddRemove, Count: 1},
	} {
		if c, err := rdp.FromTerm(term); err == nil || c != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if _, err := rdp.Total([]terms.Term{{Leaf: gauss, Rate: 1, Count: 1}, term}); err == nil {
			t.Errorf("%s: accepted in a sum", want)
		}
		if _, err := rdp.FromList(terms.List{Parallels: []terms.Branches{{Of: []terms.List{{Terms: []terms.Term{term}}}, Count: 1}}}); err == nil {
			t.Errorf("%s: accepted in a branch", want)
		}
	}
}

// Constructors name the parameter that is out of range and return no curve.
func TestParametersAreChecked(t *testing.T) {
	one := must(rdp.Gaussian(1, 1))(t)
	nan, inf := math.NaN(), math.Inf(1)
	type maker = func() (rdp.Curve, error)
	for want, makers := range map[string][]maker{
		"sigma is": {
			func() (rdp.Curve, error) { return rdp.Gaussian(0, 1) },
			func() (rdp.Curve, error) { return rdp.Gaussian(nan, 1) },
			func() (rdp.Curve, error) { return rdp.DiscreteGaussian(-1, 1) },
		},
		"sensitivity is": {
			func() (rdp.Curve, error) { return rdp.Gaussian(1, inf) },
			func() (rdp.Curve, error) { return rdp.Laplace(1, nan) },
			func() (rdp.Curve, error) { return rdp.DiscreteLaplace(1, 0) },
		},
		"scale is": {
			func() (rdp.Curve, error) { return rdp.Laplace(inf, 1) },
			func() (rdp.Curve, error) { return rdp.DiscreteLaplace(-2, 1) },
		},
		"epsilon is": {
			func() (rdp.Curve, error) { return rdp.PureDP(0) },
			func() (rdp.Curve, error) { return rdp.BoundedRange(nan) },
			func() (rdp.Curve, error) { return rdp.RandomizedResponse(inf, 3) },
		},
		"categories is 1": {
			func() (rdp.Curve, error) { return rdp.RandomizedResponse(1, 1) },
		},
		"sampling rate is": {
			func() (rdp.Curve, error) { return rdp.SampledGaussian(1.1, 1) },
			func() (rdp.Curve, error) { return rdp.SampledGaussian(nan, 1) },
			func() (rdp.Curve, error) { return rdp.WithoutReplacementGaussian(-0.1, 1) },
			func() (rdp.Curve, error) { return rdp.Poisson{Rate: 0, Base: one}.Curve() },
			func() (rdp.Curve, error) { return rdp.WithoutReplacement{Rate: nan, Base: one, EpsInf: inf}.Curve() },
		},
		"noise multiplier is": {
			func() (rdp.Curve, error) { return rdp.SampledGaussian(0.1, 0) },
			func() (rdp.Curve, error) { return rdp.SampledGaussian(0, nan) },
			func() (rdp.Curve, error) { return rdp.WithoutReplacementGaussian(0.1, inf) },
		},
		"no base curve": {
			func() (rdp.Curve, error) { return rdp.Poisson{Rate: 0.1}.Curve() },
			func() (rdp.Curve, error) { return rdp.WithoutReplacement{Rate: 0.1, EpsInf: 1}.Curve() },
		},
		"log-ratio is": {
			func() (rdp.Curve, error) { return rdp.WithoutReplacement{Rate: 0.1, Base: one}.Curve() },
			func() (rdp.Curve, error) { return rdp.WithoutReplacement{Rate: 0.1, Base: one, EpsInf: nan}.Curve() },
		},
		"unknown variant": {func() (rdp.Curve, error) {
			return rdp.WithoutReplacement{Rate: 0.1, Base: one, EpsInf: 1, Variant: "theorem-10"}.Curve()
		}},
	} {
		for i, f := range makers {
			if c, err := f(); err == nil || c != nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %d: %v", want, i, err)
			}
		}
	}
}

// Grids; searches that cannot start.
func TestOptions(t *testing.T) {
	for name, g := range map[string][]float64{
		"default": rdp.Default(), "dp-accounting": rdp.DPAccounting(), "whole": rdp.Whole(64),
	} {
		for i, a := range g {
			if !(a > 1) || i > 0 && a <= g[i-1] {
				t.Errorf("grid %s: order %v at %d", name, a, i)
			}
		}
	}
	rdp.Default()[0] = 7
	if rdp.Default()[0] == 7 {
		t.Error("the default grid can be changed")
	}
	c := rdp.ZCDP(1)
	for want, o := range map[string]rdp.Options{
		"orders must be": {Orders: []float64{1, 2}}, "finite and growing": {Orders: []float64{2, math.Inf(1)}}, "must be above 1": {Orders: []float64{3, 2}},
		"unknown conversion": {Conversion: "loose"}, "above 1": {Orders: []float64{math.NaN()}},
	} {
		if _, err := rdp.Epsilon(context.Background(), c, 0.1, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if _, err := rdp.Delta(context.Background(), c, 1, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := rdp.Epsilon(context.Background(), nil, 0.1, rdp.Options{}); err == nil {
		t.Error("no curve accepted")
	}
	infinite := func(float64) float64 { return math.Inf(1) }
	if p, err := rdp.Epsilon(context.Background(), infinite, 0.1, rdp.Options{}); !errors.Is(err, rdp.ErrNoOrder) || p.Epsilon != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := rdp.Delta(context.Background(), infinite, 1, rdp.Options{}); !errors.Is(err, rdp.ErrNoOrder) {
		t.Errorf("%+v, %v", p, err)
	}
	// A bounded log-ratio gives a guarantee at delta 0, and delta 0 from there on.
	pure := must(rdp.PureDP(0.5))(t)
	if p := must(rdp.Epsilon(context.Background(), pure, 0, rdp.Options{}))(t); math.Abs(p.Epsilon-0.5) > 1e-11 || !math.IsInf(p.Order, 1) {
		t.Errorf("%+v", p)
	}
	if p := must(rdp.Delta(context.Background(), pure, 0.5, rdp.Options{}))(t); p.Delta != 0 {
		t.Errorf("%+v", p)
	}
	if p := must(rdp.Delta(context.Background(), pure, 0.49, rdp.Options{}))(t); !(p.Delta > 0.004) {
		t.Errorf("%+v", p)
	}
}

// A curve grows its tables as it is asked, from any number of goroutines: the
// values are those of one goroutine. Run with -race.
func TestCurvesAreShared(t *testing.T) {
	c, fresh := must(rdp.SampledGaussian(0.01, 3))(t), must(rdp.SampledGaussian(0.01, 3))(t)
	w, again := must(rdp.WithoutReplacementGaussian(0.01, 3))(t), must(rdp.WithoutReplacementGaussian(0.01, 3))(t)
	orders := rdp.Whole(120)
	want := make([][2]float64, len(orders))
	for i, a := range orders {
		want[i] = [2]float64{fresh(a), again(a)}
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range orders {
				i = (i*37 + g*11) % len(orders)
				if got := [2]float64{c(orders[i]), w(orders[i])}; got != want[i] {
					t.Errorf("order %v: %v, want %v", orders[i], got, want[i])
				}
			}
		})
	}
	wg.Wait()
}
