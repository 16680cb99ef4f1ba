package exact_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/terms"
)

// draw is log-uniform.
func draw(t *rapid.T, name string, from, to float64) float64 {
	return math.Exp(rapid.Float64Range(math.Log(from), math.Log(to)).Draw(t, "log "+name))
}

// checked returns epsilon and whether it is covered; whatever it is, it must be a
// number with an error. That the work is bounded is TestBoundedWork's to say.
func checked(t *rapid.T, ts []terms.Term, delta float64) (exact.Value, bool) {
	v, err := exact.Epsilon(context.Background(), ts, delta)
	if err != nil {
		if !errors.Is(err, exact.ErrNotCovered) || v != (exact.Value{}) {
			t.Fatalf("%+v, %v for %+v", v, err, ts)
		}
		return v, false
	}
	if !(v.Epsilon >= 0) || math.IsInf(v.Epsilon, 0) || !(v.Error >= 0) || !(v.Error <= 1e-5*(1+v.Epsilon)) || v.Delta != delta {
		t.Fatalf("%+v at %g for %+v", v, delta, ts)
	}
	return v, true
}

// Sampled Gaussians over five decades of everything: never NaN, never negative,
// monotone in sigma, rate, count and delta, the same when the count is split, and
// delta at that epsilon is the delta asked for.
func TestSampledProperties(t *testing.T) {
	asked, answered := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		q, sigma, n, delta := draw(t, "q", 1e-7, 0.99), draw(t, "sigma", 0.4, 40), int64(draw(t, "n", 300, 1e6)), draw(t, "delta", 1e-12, 0.2)
		more := 1 + draw(t, "more", 1e-3, 1)
		relation := rapid.SampledFrom([]privacy.Neighbouring{privacy.AddRemove, privacy.Replace, privacy.ZeroOut}).Draw(t, "relation")
		make_ := func(q, sigma float64, n int64) terms.Term {
			term := sampled(gauss(sigma, 1, relation), q, n)
			term.Relation = relation
			return term
		}
		asked++
		v, ok := checked(t, list(make_(q, sigma, n)), delta)
		if !ok {
			return
		}
		answered++
		compare := func(what string, sign float64, ts []terms.Term, delta float64) {
			w, ok := checked(t, ts, delta)
			if ok && sign*(w.Epsilon-v.Epsilon) < -(v.Error+w.Error) {
				t.Fatalf("%s: %+v, then %+v", what, v, w)
			}
		}
		compare("sigma", -1, list(make_(q, sigma*more, n)), delta)
		compare("rate", 1, list(make_(math.Min(1, q*more), sigma, n)), delta)
		compare("count", 1, list(make_(q, sigma, n+1+int64(more))), delta)
		compare("delta", -1, list(make_(q, sigma, n)), math.Min(0.9, delta*more))
		if w, ok := checked(t, list(make_(q, sigma, n/3), make_(q, sigma, n-n/3)), delta); !ok || w.Epsilon != v.Epsilon {
			t.Fatalf("%+v, split %+v", v, w)
		}
		// Split into terms that are not equal: one ulp of sigma apart.
		w, ok := checked(t, list(make_(q, sigma, n/3), make_(q, math.Nextafter(sigma, 0), n-n/3)), delta)
		if ok && math.Abs(w.Epsilon-v.Epsilon) > v.Error+w.Error+1e-9*v.Epsilon {
			t.Fatalf("%+v, apart %+v", v, w)
		}
		d, err := exact.Delta(context.Background(), list(make_(q, sigma, n)), v.Epsilon)
		switch {
		case err != nil:
			if !errors.Is(err, exact.ErrNotCovered) {
				t.Fatal(err)
			}
		case v.Epsilon == 0 && d.Delta-d.Error > delta, v.Epsilon > 0 && math.Abs(d.Delta/delta-1) > 1e-5:
			t.Fatalf("epsilon %+v, back to %+v", v, d)
		}
	})
	if answered*2 < asked {
		t.Errorf("%d of %d settings are covered", answered, asked)
	}
	t.Logf("%d of %d settings are covered", answered, asked)
}

// Anything together, with Gaussians: the same properties, and more releases never
// cost less.
func TestMixedProperties(t *testing.T) {
	asked, answered := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		kinds := map[string]func(i string) terms.Term{
			"gaussian": func(i string) terms.Term {
				return gaussians(draw(t, "sigma"+i, 0.5, 30), int64(draw(t, "n"+i, 1, 100)))
			},
			"sampled": func(i string) terms.Term {
				return sampled(gauss(draw(t, "sigma"+i, 0.5, 10), 1, privacy.AddRemove), draw(t, "q"+i, 1e-4, 0.9), int64(draw(t, "n"+i, 1, 1e4)))
			},
			"laplace": func(i string) terms.Term {
				return plain(laplace(draw(t, "scale"+i, 0.5, 50), 1), int64(draw(t, "n"+i, 1, 1e3)))
			},
			"discrete laplace": func(i string) terms.Term {
				return dlap(draw(t, "scale"+i, 0.5, 50), draw(t, "move"+i, 1, 9), int64(draw(t, "n"+i, 1, 1e3)))
			},
			"discrete gaussian": func(i string) terms.Term {
				return dgauss(draw(t, "sigma"+i, 0.4, 50), draw(t, "move"+i, 1, 5), int64(draw(t, "n"+i, 1, 1e3)))
			},
			"local":    func(i string) terms.Term { return ldp(draw(t, "eps"+i, 1e-3, 3), int64(draw(t, "n"+i, 1, 300))) },
			"response": func(i string) terms.Term { return rr(draw(t, "eps"+i, 1e-3, 3), 5, int64(draw(t, "n"+i, 1, 300))) },
		}
		names := []string{"gaussian", "sampled", "laplace", "discrete laplace", "discrete gaussian", "local", "response"}
		ts := list(gaussians(draw(t, "sigma", 0.5, 4), 1))
		for i := range rapid.IntRange(1, 3).Draw(t, "terms") {
			ts = append(ts, kinds[rapid.SampledFrom(names).Draw(t, "kind")](string(rune('a'+i))))
		}
		delta := draw(t, "delta", 1e-10, 0.1)
		asked++
		v, ok := checked(t, ts, delta)
		if !ok {
			return
		}
		answered++
		less, ok := checked(t, ts[:len(ts)-1], delta)
		if ok && less.Epsilon-less.Error > v.Epsilon {
			t.Fatalf("%+v, one term less %+v", v, less)
		}
		reversed := list()
		for _, term := range ts {
			reversed = append(list(term), reversed...)
		}
		if w, ok := checked(t, reversed, delta); !ok || math.Abs(w.Epsilon-v.Epsilon) > v.Error+w.Error+1e-9*v.Epsilon {
			t.Fatalf("%+v, reversed %+v", v, w)
		}
		for _, d := range []exact.Direction{exact.Remove, exact.Add} {
			if w, err := exact.EpsilonIn(context.Background(), d, ts, delta); err != nil || w.Epsilon > v.Epsilon {
				t.Fatalf("%s %+v (%v), larger of both %+v", d, w, err, v)
			}
		}
		// The way back takes other lines, and may be too much work where this was not.
		w, err := exact.Delta(context.Background(), ts, v.Epsilon)
		if err != nil && !errors.Is(err, exact.ErrNotCovered) || err == nil && v.Epsilon > 0 && math.Abs(w.Delta/delta-1) > 1e-5 {
			t.Fatalf("%+v, back to %+v (%v)", v, w, err)
		}
	})
	if answered*2 < asked {
		t.Errorf("%d of %d settings are covered", answered, asked)
	}
	t.Logf("%d of %d settings are covered", answered, asked)
}

// A rate of one, or near it, is the Gaussian itself: to 1e-10 the analytic form.
func TestRateOneIsGaussian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma, n, delta := draw(t, "sigma", 0.3, 100), int64(draw(t, "n", 1, 1e6)), draw(t, "delta", 1e-12, 0.3)
		want, err := accountant.Exact(math.Sqrt(float64(n))/sigma, delta)
		if err != nil {
			t.Fatal(err)
		}
		v, ok := checked(t, list(sampled(gauss(sigma, 1, privacy.AddRemove), 1, n)), delta)
		if !ok || math.Abs(v.Epsilon-want) > 1e-10*(1+want) || v.Direction != exact.Both {
			t.Fatalf("%+v, analytic %.17g", v, want)
		}
		if v.Epsilon < want*(1-1e-14) || v.Epsilon-v.Error > want*(1+1e-14) {
			t.Fatalf("%+v does not bracket %.17g", v, want)
		}
		// By the integral: all records but one in 1e9 are in.
		if w, ok := checked(t, list(sampled(gauss(sigma, 1, privacy.AddRemove), 1-1e-9, n)), delta); ok && math.Abs(w.Epsilon-want) > 1e-6*(1+want) {
			t.Fatalf("rate almost one %+v, analytic %.17g", w, want)
		}
	})
}

// Fine discrete Gaussians are Gaussians, by an integral over one period.
func TestFineGridIsGaussian(t *testing.T) {
	for _, n := range []int64{1, 7, 100_000} {
		for _, fine := range []float64{1 << 8, 1 << 20, 1 << 40} {
			v, err := exact.Epsilon(context.Background(), list(dgauss(2*fine, fine, n)), 1e-5)
			want, _ := accountant.Exact(math.Sqrt(float64(n))/2, 1e-5)
			// What the grid changes is of second order, of the width in between first.
			if err != nil || math.Abs(v.Epsilon-want) > 1e-9*want+1e-2*want/fine {
				t.Errorf("%d releases on 1/%g: %+v, Gaussian %v (%v)", n, fine, v, want, err)
			}
		}
	}
}

// A step of a rare event: 12 times below the Rényi bound, where few loud releases are
// refused.
func TestRareAndFew(t *testing.T) {
	v, err := exact.Epsilon(context.Background(), list(sampled(gauss(0.7, 1, privacy.AddRemove), 1e-5, 1_000_000)), 1e-8)
	if err != nil || math.Abs(v.Epsilon-0.12697) > 2e-5 || v.Direction != exact.Remove {
		t.Errorf("%+v, %v, want 0.12697", v, err)
	}
	if _, err := exact.Epsilon(context.Background(), list(sampled(gauss(0.5, 1, privacy.AddRemove), 1e-3, 2)), 1e-9); !errors.Is(err, exact.ErrNotCovered) {
		t.Errorf("two releases: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ok := gaussians(1, 1)
	if v, err := exact.Delta(context.Background(), list(plain(laplace(1, 1), 3)), 0.1); !errors.Is(err, exact.ErrNotCovered) {
		t.Errorf("%+v, %v", v, err)
	}
	for _, d := range []float64{nan, 0, 1, -1, 2, inf} {
		if v, err := exact.Epsilon(context.Background(), list(ok), d); err == nil || errors.Is(err, exact.ErrNotCovered) {
			t.Errorf("delta %v: %+v", d, v)
		}
		if v, err := exact.EpsilonIn(context.Background(), exact.Add, list(ok), d); err == nil {
			t.Errorf("delta %v: %+v", d, v)
		}
	}
	for _, e := range []float64{nan, -1, inf, -inf} {
		if v, err := exact.Delta(context.Background(), list(ok), e); err == nil {
			t.Errorf("epsilon %v: %+v", e, v)
		}
		if v, err := exact.DeltaIn(context.Background(), exact.Remove, list(ok), e); err == nil {
			t.Errorf("epsilon %v: %+v", e, v)
		}
	}
	if v, err := exact.DeltaIn(context.Background(), exact.Both, list(ok), 1); err == nil {
		t.Errorf("direction both: %+v", v)
	}
	for name, c := range map[string]struct {
		t       terms.Term
		covered bool // refused for what it is, not for how it is written
	}{
		"no leaf":           {terms.Term{Rate: 1, Count: 1}, true},
		"count":             {gaussians(1, 0), true},
		"sigma":             {gaussians(-1, 1), true},
		"rate":              {sampled(gauss(1, 1, privacy.AddRemove), 0, 1), true},
		"subset":            {terms.Term{Leaf: gauss(1, 1, privacy.Replace), Rate: 0.1, Method: privacy.WithoutReplacement, Relation: privacy.Replace, Count: 9}, false},
		"bounded range":     {plain(privacy.Exponential{Epsilon: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, 1), false},
		"dimensions":        {plain(privacy.DiscreteGaussian{Sigma: 9, Sensitivity: 2, Dimension: 3, Unit: privacy.User, Neighbouring: privacy.AddRemove}, 1), false},
		"sampled grid":      {sampled(dgauss(3, 1, 1).Leaf, 0.1, 9), false},
		"sampled, replaced": {terms.Term{Leaf: laplace(1, 1), Rate: 0.1, Method: privacy.Poisson, Relation: privacy.Replace, Count: 9}, false},
		"tiny noise":        {gaussians(1e-200, 1), false},
		"tiny noise, some":  {sampled(gauss(1e-200, 1, privacy.AddRemove), 0.1, 3), false},
		"huge range":        {plain(laplace(1e-9, 1), 3), false},
		"rate underflows":   {sampled(gauss(1, 1, privacy.AddRemove), 1e-200, 9), false},
		"laplace":           {plain(laplace(1, 1), 3), false},
		"laplace sampled":   {sampled(laplace(1, 1), 0.5, 3), false},
	} {
		ts := list(ok, c.t)
		if name == "laplace" || name == "laplace sampled" { // alone only
			ts = list(c.t)
		}
		v, err := exact.Epsilon(context.Background(), ts, 1e-5)
		if err == nil || errors.Is(err, exact.ErrNotCovered) == c.covered || v != (exact.Value{}) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

func TestNothingCostsNothing(t *testing.T) {
	v, err := exact.Epsilon(context.Background(), nil, 1e-5)
	w, err1 := exact.Delta(context.Background(), nil, 0)
	if err != nil || err1 != nil || v.Epsilon != 0 || w.Delta != 0 {
		t.Errorf("%+v, %+v, %v, %v", v, w, err, err1)
	}
	for _, ts := range [][]terms.Term{list(dlap(1, 0.5, 9)), list(dgauss(1, 0.99, 9))} { // no integer moves by that
		if v, err := exact.Epsilon(context.Background(), ts, 1e-5); err == nil {
			t.Errorf("%+v costs %+v", ts, v)
		}
	}
	// Integers that move by less than the root of two move in one coordinate by one.
	one := privacy.DiscreteGaussian{Sigma: 3, Sensitivity: 1.4, Dimension: 50, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	v, err = exact.Epsilon(context.Background(), list(plain(one, 4)), 1e-5)
	w, err1 = exact.Epsilon(context.Background(), list(dgauss(3, 1, 4)), 1e-5)
	if err != nil || err1 != nil || v != w {
		t.Errorf("%+v, %+v, %v, %v", v, w, err, err1)
	}
}

// Beyond the largest loss that there is delta is 0, and epsilon never exceeds it.
func TestBoundedLoss(t *testing.T) {
	for name, c := range map[string]struct {
		ts   []terms.Term
		most float64
	}{
		"responses": {list(rr(0.5, 4, 10)), 5},
		"laplace":   {list(plain(laplace(2, 1), 1)), 0.5},
		"discrete":  {list(dlap(2, 3, 4)), 6},
		"sampled":   {list(sampled(laplace(1, 1), 0.3, 1)), math.Log1p(0.3 * math.Expm1(1))},
	} {
		for _, delta := range []float64{0.1, 1e-5, 1e-20, 1e-200} {
			v, err := exact.Epsilon(context.Background(), c.ts, delta)
			if err != nil || v.Epsilon > c.most*(1+1e-12) {
				t.Errorf("%s at %g: %+v, %v", name, delta, v, err)
			}
		}
		if v, err := exact.Delta(context.Background(), c.ts, c.most*(1+1e-12)); err != nil || v.Delta != 0 {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	// In the add direction a sampled Gaussian's loss is at most -log(1-q) a step.
	v, err := exact.DeltaIn(context.Background(), exact.Add, list(sampled(gauss(1, 1, privacy.AddRemove), 0.1, 5)), -5*math.Log1p(-0.1)+1e-9)
	if err != nil || v.Delta != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}
