package pld_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/pld"
	"privrec/internal/privacy/accountant/terms"
)

var little = pld.Options{Bins: 1 << 12}

func gauss(q, sigma, sensitivity float64, relation privacy.Neighbouring, n int64) terms.Term {
	return release(privacy.Gaussian{Sigma: sigma, Sensitivity: sensitivity, Norm: clipped(sensitivity, relation), Unit: privacy.User, Neighbouring: relation}, q, relation, n)
}

func release(e privacy.Event, q float64, relation privacy.Neighbouring, n int64) terms.Term {
	t := terms.Term{Leaf: e, Rate: q, Relation: relation, Count: n}
	if q < 1 {
		t.Method = privacy.Poisson
	}
	return t
}

func lap(scale, sensitivity, q float64, n int64) terms.Term {
	return release(privacy.Laplace{Scale: scale, Sensitivity: sensitivity, Unit: privacy.User, Neighbouring: privacy.AddRemove}, q, privacy.AddRemove, n)
}

func pure(eps float64, n int64) terms.Term {
	return release(privacy.PureLDP{Epsilon: eps, Unit: privacy.User}, 1, privacy.Replace, n)
}

func respond(eps float64, k, n int64) terms.Term {
	return release(privacy.RandomizedResponse{Epsilon: eps, Categories: k, Unit: privacy.User}, 1, privacy.Replace, n)
}

func discreteGauss(sigma, sensitivity, q float64, n int64) terms.Term {
	return release(privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: sensitivity, Dimension: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, q, privacy.AddRemove, n)
}

func discreteLap(scale, sensitivity, q float64, n int64) terms.Term {
	return release(privacy.DiscreteLaplace{Scale: scale, Sensitivity: sensitivity, Unit: privacy.User, Neighbouring: privacy.AddRemove}, q, privacy.AddRemove, n)
}

func epsilon(t testing.TB, delta float64, ts ...terms.Term) pld.Bounds {
	t.Helper()
	b, err := pld.Bracket(context.Background(), ts, delta, little)
	if err != nil {
		t.Fatalf("%+v: %v", ts, err)
	}
	return b
}

func delta(t testing.TB, eps float64, ts ...terms.Term) pld.Bounds {
	t.Helper()
	b, err := pld.DeltaBracket(context.Background(), ts, eps, little)
	if err != nil {
		t.Fatalf("%+v: %v", ts, err)
	}
	return b
}

// A thousand steps of DP-SGD: what is certified of epsilon, and of the delta at an
// epsilon.
func ExampleBracket() {
	step := terms.Term{
		Leaf: privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove},
		Rate: 0.01, Method: privacy.Poisson, Relation: privacy.AddRemove, Count: 1000,
	}
	b, err := pld.Bracket(context.Background(), []terms.Term{step}, 1e-5, pld.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("epsilon is between %.4f and %.4f, decided by the direction %s\n", b.Lower, b.Upper, b.Direction)
	d, err := pld.DeltaBracket(context.Background(), []terms.Term{step}, 2, pld.Options{Bins: 1 << 17})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("delta at 2 is between %.3g and %.3g\n", d.Lower, d.Upper)
	// Output:
	// epsilon is between 1.8282 and 1.8282, decided by the direction remove
	// delta at 2 is between 2.67e-06 and 2.67e-06
}

// What has no bracket is known before anything is computed.
func ExampleSupports() {
	choice := terms.Term{
		Leaf: privacy.Exponential{Epsilon: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove},
		Rate: 1, Relation: privacy.AddRemove, Count: 100,
	}
	err := pld.Supports([]terms.Term{choice})
	fmt.Println(errors.Is(err, pld.ErrNotCovered), err)
	// Output: true event "exponential": not covered by privacy loss distributions
}

// kinds are compositions of everything that is covered, as named.
func kinds() map[string]func(n int64) terms.Term {
	return map[string]func(n int64) terms.Term{
		"gaussian":           func(n int64) terms.Term { return gauss(1, 3, 1, privacy.AddRemove, n) },
		"sampled gaussian":   func(n int64) terms.Term { return gauss(0.05, 1, 1, privacy.AddRemove, n) },
		"zeroed gaussian":    func(n int64) terms.Term { return gauss(0.05, 1, 1, privacy.ZeroOut, n) },
		"replaced gaussian":  func(n int64) terms.Term { return gauss(0.05, 1.2, 2, privacy.Replace, n) },
		"unsampled replaced": func(n int64) terms.Term { return gauss(1, 4, 2, privacy.Replace, n) },
		"laplace":            func(n int64) terms.Term { return lap(5, 1, 1, n) },
		"sampled laplace":    func(n int64) terms.Term { return lap(2, 1, 0.1, n) },
		"pure":               func(n int64) terms.Term { return pure(0.2, n) },
		"response":           func(n int64) terms.Term { return respond(0.5, 5, n) },
		"discrete gaussian":  func(n int64) terms.Term { return discreteGauss(4, 2, 1, n) },
		"sampled discrete":   func(n int64) terms.Term { return discreteGauss(2, 1, 0.1, n) },
		"discrete laplace":   func(n int64) terms.Term { return discreteLap(6, 2, 1, n) },
		"sampled two-sided":  func(n int64) terms.Term { return discreteLap(3, 2, 0.2, n) },
	}
}

// Whatever is covered: Supports says so, both brackets are ordered, say how they
// were found, and each inverts the other.
func TestEveryKind(t *testing.T) {
	for name, kind := range kinds() {
		x := kind(20)
		if err := pld.Supports([]terms.Term{x}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b := epsilon(t, 1e-6, x)
		if !(b.Lower > 0 && b.Lower <= b.Upper && b.Upper < 1.2*b.Lower+1e-3) || b.Bins != little.Bins || !(b.Mesh > 0) || !(b.Tilt > 0) {
			t.Errorf("%s: %+v", name, b)
		}
		if !slices.Contains([]string{"remove", "add", "both"}, b.Direction) {
			t.Errorf("%s: direction %q", name, b.Direction)
		}
		if d := delta(t, b.Upper, x); d.Lower > 1e-6*(1+1e-9) {
			t.Errorf("%s: delta at the upper end %v is at least %v", name, b.Upper, d.Lower)
		}
		if d := delta(t, b.Lower, x); d.Upper < 1e-6*(1-1e-9) {
			t.Errorf("%s: delta at the lower end %v is at most %v", name, b.Lower, d.Upper)
		}
		if d := delta(t, 0, x); d.Upper > 1 || d.Lower <= 0 {
			t.Errorf("%s: delta at 0 is %+v", name, d)
		}
	}
}

// Laws of any accountant, for every kind: delta falls with epsilon, and epsilon with
// delta; more releases cost more; n and m releases cost no more than both budgets.
func TestLaws(t *testing.T) {
	for name, kind := range kinds() {
		last := pld.Bounds{Lower: 1, Upper: 1}
		for _, eps := range []float64{0, 0.1, 0.4, 1, 2, 4} {
			d := delta(t, eps, kind(10))
			if d.Lower > last.Upper {
				t.Errorf("%s: delta at %g is at least %v, before at most %v", name, eps, d.Lower, last.Upper)
			}
			last = d
		}
		one, two := epsilon(t, 1e-6, kind(10)), epsilon(t, 1e-6, kind(20))
		if two.Upper < one.Lower {
			t.Errorf("%s: 20 releases cost %+v, 10 %+v", name, two, one)
		}
		// Basic composition: (eps, delta/2) twice is (2 eps, delta).
		half := epsilon(t, 5e-7, kind(10))
		if two.Lower > 2*half.Upper {
			t.Errorf("%s: 20 releases cost at least %v, twice 10 at most %v", name, two.Lower, 2*half.Upper)
		}
		if loose := epsilon(t, 1e-3, kind(10)); loose.Lower > one.Upper {
			t.Errorf("%s: at a delta of 1e-3 %+v, at 1e-6 %+v", name, loose, one)
		}
	}
}

// n releases of Gaussian noise are one with sigma over the root of n, and of
// Gaussians with any sigmas one with the root of the sum of 1/sigma².
func TestGaussiansAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1_000_000).Draw(t, "steps")
		sigma := math.Exp(rapid.Float64Range(-1, 3).Draw(t, "log sigma")) * math.Sqrt(float64(n))
		other := sigma * rapid.Float64Range(0.5, 2).Draw(t, "ratio")
		many, err1 := pld.Bracket(context.Background(), []terms.Term{gauss(1, sigma, 1, privacy.AddRemove, n), gauss(1, other, 3, privacy.AddRemove, n)}, 1e-5, pld.Options{Bins: 1 << 10})
		mu := math.Sqrt(float64(n) * (1/(sigma*sigma) + 9/(other*other)))
		one, err2 := pld.Bracket(context.Background(), []terms.Term{gauss(1, 1/mu, 1, privacy.AddRemove, 1)}, 1e-5, pld.Options{Bins: 1 << 10})
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if math.Abs(many.Upper-one.Upper) > 1e-9*(1+one.Upper) || math.Abs(many.Lower-one.Lower) > 1e-9*(1+one.Upper) {
			t.Fatalf("%d releases: %+v, of one with mu %g: %+v", n, many, mu, one)
		}
	})
}

// Only the quotient of noise and sensitivity counts, bit for bit where powers of two
// scale both.
func TestScale(t *testing.T) {
	for _, k := range []float64{0x1p-20, 0.5, 2, 0x1p30} {
		for name, c := range map[string][2]terms.Term{
			"gaussian": {gauss(0.1, 1.3, 1, privacy.AddRemove, 30), gauss(0.1, 1.3*k, k, privacy.AddRemove, 30)},
			"replaced": {gauss(0.1, 1.3, 2, privacy.Replace, 30), gauss(0.1, 1.3*k, 2*k, privacy.Replace, 30)},
			"laplace":  {lap(3, 1, 0.3, 9), lap(3*k, k, 0.3, 9)},
		} {
			if a, b := epsilon(t, 1e-5, c[0]), epsilon(t, 1e-5, c[1]); a != b {
				t.Errorf("%s scaled by %g: %+v, want %+v", name, k, b, a)
			}
		}
	}
}

// Zeroing a record out of a sum moves it as removing it does; replacing one moves it
// twice as far. An account with the sensitivity of the other relation is off
// by about a factor of two.
func TestRelations(t *testing.T) {
	remove, zero := epsilon(t, 1e-5, gauss(0.1, 2, 1, privacy.AddRemove, 50)), epsilon(t, 1e-5, gauss(0.1, 2, 1, privacy.ZeroOut, 50))
	if remove != zero {
		t.Errorf("add-remove %+v, zero-out %+v", remove, zero)
	}
	replace := epsilon(t, 1e-5, gauss(0.1, 2, 2, privacy.Replace, 50))
	if replace.Lower <= remove.Upper || replace.Lower >= 4*remove.Upper {
		t.Errorf("replace %+v, add-remove %+v", replace, remove)
	}
	// A replacement is a removal and an addition: (e, d) twice is at most (2e, (1+exp e) d).
	d := delta(t, 2*remove.Upper, gauss(0.1, 2, 2, privacy.Replace, 50))
	if d.Lower > (1+math.Exp(remove.Upper))*1e-5 {
		t.Errorf("replace at twice epsilon costs %+v", d)
	}
	// A reference's Rényi accountant takes sigma under replace as it is: 2.166 for
	// 4.377, sigma 2 and delta 1e-5.
	full := epsilon(t, 1e-5, gauss(1, 2, 2, privacy.Replace, 1))
	if full.Lower > 4.37718 || full.Upper < 4.37717 || full.Lower < 4.3 {
		t.Errorf("a Gaussian of 2 under replace: %+v", full)
	}
}

// A response of k values tells less than one of two with the same ratio, and any
// pure release less than what dominates it.
func TestDomination(t *testing.T) {
	for _, n := range []int64{1, 10, 100} {
		bound := epsilon(t, 1e-5, pure(0.5, n))
		last := bound
		for _, k := range []int64{2, 3, 10, 1000} {
			b := epsilon(t, 1e-5, respond(0.5, k, n))
			if b.Lower > last.Upper {
				t.Errorf("%d responses of %d values cost %+v, of fewer %+v", n, k, b, last)
			}
			last = b
		}
		two := epsilon(t, 1e-5, respond(0.5, 2, n))
		if two != bound {
			t.Errorf("%d binary responses cost %+v, pure ones %+v", n, two, bound)
		}
		for name, b := range map[string]pld.Bounds{
			"laplace": epsilon(t, 1e-5, lap(2, 1, 1, n)), "discrete laplace": epsilon(t, 1e-5, discreteLap(4, 2, 1, n)),
		} {
			if b.Lower > bound.Upper {
				t.Errorf("%d of %s noise cost %+v, any pure release %+v", n, name, b, bound)
			}
		}
		if basic := 0.5 * float64(n); bound.Upper > basic {
			t.Errorf("%d releases of 0.5 cost %+v", n, bound)
		}
	}
}

// Counts are honoured for every kind: a reference's accountant forgets those of
// randomized response, 1.099 for 52.7.
func TestCountsAreHonoured(t *testing.T) {
	keep := 0.75 // p = 0.5 of two values
	fifty := epsilon(t, 1e-6, respond(math.Log(keep/(1-keep)), 2, 50))
	if fifty.Lower > 52.6797095 || fifty.Upper < 52.6797093 || fifty.Lower < 52.67 {
		t.Errorf("fifty responses: %+v", fifty)
	}
	for name, kind := range kinds() {
		if one, many := epsilon(t, 1e-6, kind(1)), epsilon(t, 1e-6, kind(50)); many.Lower <= one.Upper {
			t.Errorf("%s: fifty cost %+v, one %+v", name, many, one)
		}
	}
}

// Limits: much noise and rare samples cost nothing, a sure sample the release, fine
// discrete noise the continuous one.
func TestLimits(t *testing.T) {
	if b := epsilon(t, 1e-5, gauss(1, 1e7, 1, privacy.AddRemove, 1)); b.Upper > 1e-3 {
		t.Errorf("sigma of 1e7: %+v", b)
	}
	if d := delta(t, 0, gauss(1e-12, 1, 1, privacy.AddRemove, 1)); d.Upper > 1e-10 {
		t.Errorf("a rate of 1e-12: %+v", d)
	}
	if b := epsilon(t, 1e-5, gauss(1e-9, 1, 1, privacy.AddRemove, 100)); b.Upper > 1e-6 {
		t.Errorf("a rate of 1e-9: %+v", b)
	}
	sure, full := epsilon(t, 1e-5, gauss(1-1e-10, 2, 1, privacy.AddRemove, 5)), epsilon(t, 1e-5, gauss(1, 2, 1, privacy.AddRemove, 5))
	if sure.Lower > full.Upper+1e-6 || sure.Upper < full.Lower-1e-6 {
		t.Errorf("rate 1: %+v, nearly: %+v", full, sure)
	}
	fine, smooth := epsilon(t, 1e-5, discreteGauss(300, 300, 1, 4)), epsilon(t, 1e-5, gauss(1, 300, 300, privacy.AddRemove, 4))
	if math.Abs(fine.Upper-smooth.Upper) > 0.01*smooth.Upper {
		t.Errorf("discrete: %+v, continuous: %+v", fine, smooth)
	}
	two, cont := epsilon(t, 1e-5, discreteLap(500, 500, 1, 4)), epsilon(t, 1e-5, lap(1, 1, 1, 4))
	if math.Abs(two.Upper-cont.Upper) > 0.01*cont.Upper {
		t.Errorf("discrete: %+v, continuous: %+v", two, cont)
	}
}

// More noise, a lower rate and a smaller sensitivity cost less, for every kind.
func TestEachParameter(t *testing.T) {
	for name, c := range map[string]struct{ less, more terms.Term }{
		"sigma":             {gauss(0.1, 1.1, 1, privacy.AddRemove, 20), gauss(0.1, 1, 1, privacy.AddRemove, 20)},
		"sensitivity":       {gauss(0.1, 1, 1, privacy.AddRemove, 20), gauss(0.1, 1, 1.1, privacy.AddRemove, 20)},
		"rate":              {gauss(0.1, 1, 1, privacy.AddRemove, 20), gauss(0.11, 1, 1, privacy.AddRemove, 20)},
		"replaced sigma":    {gauss(0.1, 2.2, 2, privacy.Replace, 20), gauss(0.1, 2, 2, privacy.Replace, 20)},
		"replaced rate":     {gauss(0.1, 2, 2, privacy.Replace, 20), gauss(0.12, 2, 2, privacy.Replace, 20)},
		"scale":             {lap(1.1, 1, 1, 5), lap(1, 1, 1, 5)},
		"sampled scale":     {lap(1.1, 1, 0.2, 5), lap(1, 1, 0.2, 5)},
		"laplace rate":      {lap(1, 1, 0.2, 5), lap(1, 1, 0.3, 5)},
		"pure":              {pure(0.3, 9), pure(0.4, 9)},
		"response":          {respond(0.3, 4, 9), respond(0.4, 4, 9)},
		"discrete sigma":    {discreteGauss(3, 1, 1, 9), discreteGauss(2, 1, 1, 9)},
		"steps":             {discreteGauss(5, 1, 1, 9), discreteGauss(5, 2, 1, 9)},
		"two-sided scale":   {discreteLap(5, 2, 1, 9), discreteLap(4, 2, 1, 9)},
		"two-sided steps":   {discreteLap(5, 2, 1, 9), discreteLap(5, 3, 1, 9)},
		"sampled two-sided": {discreteLap(5, 2, 0.1, 9), discreteLap(5, 2, 0.2, 9)},
	} {
		if less, more := epsilon(t, 1e-5, c.less), epsilon(t, 1e-5, c.more); less.Upper >= more.Lower {
			t.Errorf("%s: %+v, and %+v of more", name, less, more)
		}
	}
}

// Terms in any order are the same composition.
func TestOrder(t *testing.T) {
	ts := []terms.Term{gauss(0.1, 1, 1, privacy.AddRemove, 20), lap(4, 1, 1, 5), gauss(1, 9, 1, privacy.AddRemove, 3), discreteGauss(5, 2, 1, 2), gauss(1, 7, 1, privacy.AddRemove, 1)}
	want := epsilon(t, 1e-5, ts...)
	for range len(ts) {
		ts = append(ts[1:], ts[0])
		if b := epsilon(t, 1e-5, ts...); math.Abs(b.Upper-want.Upper) > 1e-9 || math.Abs(b.Lower-want.Lower) > 1e-9 {
			t.Errorf("%+v, want %+v", b, want)
		}
	}
}

// Brackets are pure: any number at a time give the same bytes and change none of
// their arguments.
func TestConcurrency(t *testing.T) {
	ts := []terms.Term{gauss(0.1, 1, 1, privacy.AddRemove, 20), lap(4, 1, 0.5, 5)}
	was := slices.Clone(ts)
	want := epsilon(t, 1e-5, ts...)
	got := make([]pld.Bounds, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i], _ = pld.Bracket(context.Background(), ts, 1e-5, little) })
	}
	wg.Wait()
	for _, b := range got {
		if b != want {
			t.Errorf("%+v, want %+v", b, want)
		}
	}
	if !slices.Equal(ts, was) {
		t.Errorf("the terms became %+v", ts)
	}
}

// A certificate keeps every bit through JSON, as a report needs.
func TestBoundsInJSON(t *testing.T) {
	want := epsilon(t, 1e-5, gauss(0.1, 1, 1, privacy.AddRemove, 20))
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got pld.Bounds
	if err := json.Unmarshal(b, &got); err != nil || got != want {
		t.Errorf("%s: %+v, %v", b, got, err)
	}
}

// Every parameter of every kind, out of its range in every way, is refused by all
// three functions with an error that names it.
func TestRefusesEveryParameter(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	outside := []float64{nan, inf, -inf, -1, 0}
	for _, c := range []struct {
		name  string
		of    func(v float64) terms.Term
		bad   []float64
		names string // in the error
	}{
		{"sigma", func(v float64) terms.Term { return gauss(0.1, v, 1, privacy.AddRemove, 1) }, outside, "sigma"},
		{"sensitivity", func(v float64) terms.Term { return gauss(0.1, 1, v, privacy.AddRemove, 1) }, outside, "sensitivity"},
		{"absurd sigma", func(v float64) terms.Term { return gauss(0.1, v, 1, privacy.AddRemove, 1) }, []float64{1e-300, 1e-4, 1e9, 1e300}, "sigma"},
		{"absurd replaced sigma", func(v float64) terms.Term { return gauss(0.1, v, 1, privacy.Replace, 1) }, []float64{1e-300, 0.014, 1e9, 1e300}, "sigma"},
		{"rate", func(v float64) terms.Term { return gauss(v, 1, 1, privacy.AddRemove, 1) }, []float64{nan, inf, -inf, -1, 0, 1.0000001, 1e-13}, "rate"},
		{"scale", func(v float64) terms.Term { return lap(v, 1, 1, 1) }, outside, "scale"},
		{"laplace sensitivity", func(v float64) terms.Term { return lap(1, v, 1, 1) }, append(outside, 501, 1e-10), "sensitivity"},
		{"pure epsilon", func(v float64) terms.Term { return pure(v, 1) }, append(outside, 501, 1e-10), "epsilon"},
		{"response epsilon", func(v float64) terms.Term { return respond(v, 3, 1) }, append(outside, 501, 1e-10), "epsilon"},
		{"categories", func(v float64) terms.Term { return respond(1, int64(v), 1) }, []float64{-1, 0, 1}, "categories"},
		{"discrete sigma", func(v float64) terms.Term { return discreteGauss(v, 1, 1, 1) }, append(outside, 1e-3, 1e6), "sigma"},
		{"discrete sensitivity", func(v float64) terms.Term { return discreteGauss(5, v, 1, 1) }, append(outside, 0.5, 1e9), "sensitivity"},
		{"two-sided scale", func(v float64) terms.Term { return discreteLap(v, 1, 1, 1) }, append(outside, 1e-3), "scale"},
		{"two-sided sensitivity", func(v float64) terms.Term { return discreteLap(5, v, 1, 1) }, append(outside, 0.5, 1e9), "sensitivity"},
		{"count", func(v float64) terms.Term { return gauss(0.1, 1, 1, privacy.AddRemove, int64(v)) }, []float64{-1, 0, 2e9}, "count"},
	} {
		for _, v := range c.bad {
			ts := []terms.Term{c.of(v)}
			_, err1 := pld.Bracket(context.Background(), ts, 1e-5, little)
			_, err2 := pld.DeltaBracket(context.Background(), ts, 1, little)
			for _, err := range []error{pld.Supports(ts), err1, err2} {
				if err == nil || !strings.Contains(err.Error(), c.names) {
					t.Errorf("%s of %v: %v", c.name, v, err)
				}
			}
		}
	}
	ok := []terms.Term{gauss(0.1, 1, 1, privacy.AddRemove, 1)}
	for _, d := range []float64{nan, inf, -inf, -1e-9, 0, 1, 1.1} {
		if _, err := pld.Bracket(context.Background(), ok, d, little); err == nil || !strings.Contains(err.Error(), "delta") {
			t.Errorf("delta %v: %v", d, err)
		}
	}
	for _, e := range []float64{nan, inf, -inf, -1e-9} {
		if _, err := pld.DeltaBracket(context.Background(), ok, e, little); err == nil || !strings.Contains(err.Error(), "epsilon") {
			t.Errorf("epsilon %v: %v", e, err)
		}
	}
	for _, n := range []int{-1, 1, 512, 1023, 1025, 3 << 12, 1 << 22, math.MaxInt, math.MinInt} {
		if _, err := pld.Bracket(context.Background(), ok, 1e-5, pld.Options{Bins: n}); err == nil || !strings.Contains(err.Error(), "bins") {
			t.Errorf("%d bins: %v", n, err)
		}
	}
}

// The kinds of errors are told apart: what is not covered may be by another
// accountant, what is no term at all has no accountant.
func TestKindsOfErrors(t *testing.T) {
	for name, c := range map[string]struct {
		x       terms.Term
		covered bool
	}{
		"exponential": {release(privacy.Exponential{Epsilon: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, 1, privacy.AddRemove, 1), false},
		"many dimensions": {release(privacy.DiscreteGaussian{Sigma: 1, Sensitivity: 2, Dimension: 9, Unit: privacy.User, Neighbouring: privacy.AddRemove},
			1, privacy.AddRemove, 1), false},
		"composed": {release(privacy.Composed{Events: []privacy.Event{privacy.PureLDP{Epsilon: 1, Unit: privacy.User}}}, 1, privacy.Replace, 1), false},
		"no event": {terms.Term{Rate: 1, Relation: privacy.Replace, Count: 1}, true},
		"no relation": {func() terms.Term {
			x := pure(1, 1)
			x.Relation = ""
			return x
		}(), true},
		"little noise": {gauss(0.1, 1e-9, 1, privacy.AddRemove, 1), false},
		"negative":     {gauss(0.1, -1, 1, privacy.AddRemove, 1), true},
	} {
		err := pld.Supports([]terms.Term{pure(1, 1), c.x})
		if c.x.Relation == privacy.AddRemove { // with a first term of the same relation
			err = pld.Supports([]terms.Term{gauss(1, 1, 1, privacy.AddRemove, 1), c.x})
		}
		if err == nil || errors.Is(err, pld.ErrNotCovered) == c.covered {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, a := range []error{pld.ErrNotCovered, pld.ErrCheck, pld.ErrInfinite} {
		for _, b := range []error{pld.ErrNotCovered, pld.ErrCheck, pld.ErrInfinite} {
			if errors.Is(a, b) != (a == b) {
				t.Errorf("%v and %v", a, b)
			}
		}
	}
}

// More bins make no bracket wrong: those of any two numbers of bins overlap, and
// the finer one is within a hair of the coarser.
func TestBinsAgree(t *testing.T) {
	for name, kind := range kinds() {
		var all []pld.Bounds
		for _, bins := range []int{1 << 10, 1 << 13} {
			b, err := pld.Bracket(context.Background(), []terms.Term{kind(20)}, 1e-6, pld.Options{Bins: bins})
			if err != nil {
				t.Errorf("%s, %d bins: %v", name, bins, err)
				continue
			}
			for _, was := range all {
				if b.Lower > was.Upper || b.Upper < was.Lower {
					t.Errorf("%s: %+v and %+v have nothing in common", name, b, was)
				}
			}
			all = append(all, b)
		}
		if first, last := all[0], all[len(all)-1]; last.Upper-last.Lower > first.Upper-first.Lower+1e-9 {
			t.Errorf("%s: fine %+v is wider than coarse %+v", name, last, first)
		}
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
