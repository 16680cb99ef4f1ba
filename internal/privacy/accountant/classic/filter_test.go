package classic

import (
	"errors"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/reference"
)

// With parameters that happen to be fixed a Rényi filter lets as many releases run
// as the tight conversion at its order allows, and not one more.
func TestRenyiFilterIsTheConversion(t *testing.T) {
	for _, c := range []struct {
		b            privacy.Budget
		order, sigma float64
	}{{privacy.Budget{Epsilon: 1, Delta: 1e-5}, 20, 30}, {privacy.Budget{Epsilon: 8, Delta: 1e-6}, 4, 5}, {privacy.Budget{Epsilon: 0.3, Delta: 1e-3}, 50, 100}} {
		f, err := NewRenyiFilter(c.b, c.order)
		if err != nil {
			t.Fatal(err)
		}
		curve, err := rdp.Gaussian(c.sigma, 1)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for err = f.ChargeDivergence(curve(c.order)); err == nil; err = f.ChargeDivergence(curve(c.order)) {
			n++
		}
		if !errors.Is(err, ErrExhausted) {
			t.Fatal(err)
		}
		if e := rdp.TightEpsilon(float64(n)*curve(c.order), c.order, c.b.Delta); n == 0 || e > c.b.Epsilon {
			t.Errorf("%+v: %d releases cost %v", c, n, e)
		}
		if e := rdp.TightEpsilon(float64(n+1)*curve(c.order), c.order, c.b.Delta); e <= c.b.Epsilon {
			t.Errorf("%+v: %d releases cost %v, the filter stopped before", c, n+1, e)
		}
		if f.Order() != c.order || math.Abs(f.Spent()-float64(n)*curve(c.order)) > 1e-12*f.Spent() || f.Spent() > f.Limit() {
			t.Errorf("%+v: order %v, spent %v of %v", c, f.Order(), f.Spent(), f.Limit())
		}
		// A refusal costs nothing: what still fits may run.
		before := f.Spent()
		if err := f.ChargeDivergence(math.Inf(1)); !errors.Is(err, ErrExhausted) || f.Spent() != before {
			t.Errorf("an infinite cost: %v, spent %v after %v", err, f.Spent(), before)
		}
		if err := f.ChargeDivergence((f.Limit() - before) / 2); err != nil {
			t.Errorf("half of what is left: %v", err)
		}
	}
}

// The other filter is no better than exact composition of the same terms, and as
// good as advanced composition.
func TestFilterIsAdvancedComposition(t *testing.T) {
	b, slack := privacy.Budget{Epsilon: 2, Delta: 1e-5}, 5e-6
	f, err := NewFilter(b, slack)
	if err != nil {
		t.Fatal(err)
	}
	part := reference.Guarantee{Epsilon: 0.02, Delta: 1e-9}
	for f.Charge(part.Epsilon, part.Delta) == nil {
		part.Count++
	}
	advanced := reference.AdvancedTight(part.Epsilon, part.Count, slack)
	if part.Count < 10 || math.Abs(advanced-b.Epsilon) > 0.02*b.Epsilon {
		t.Errorf("%d terms run: advanced composition of them is %v, the budget %v", part.Count, advanced, b.Epsilon)
	}
	if d := reference.KFoldDelta([]reference.Guarantee{part}, b.Epsilon); d > b.Delta {
		t.Errorf("%d terms have delta %v at epsilon %v", part.Count, d, b.Epsilon)
	}
	if err := f.Charge(0, 1e-5); !errors.Is(err, ErrExhausted) {
		t.Errorf("more delta than there is: %v", err)
	}
	if err := f.Charge(0, 0); err != nil {
		t.Errorf("nothing: %v", err)
	}
	if f.Order() != 0 || f.Spent() > f.Limit() {
		t.Errorf("spent %v of %v", f.Spent(), f.Limit())
	}
	// What is spent is the formula, where both of its terms matter.
	if f, err = NewFilter(privacy.Budget{Epsilon: 60, Delta: 1e-5}, slack); err != nil || f.Charge(3, 0) != nil || f.Charge(4, 0) != nil {
		t.Fatal(err)
	}
	if want := math.Sqrt(2*math.Log(1/slack)*25) + 12.5; math.Abs(f.Spent()-want) > 1e-12*want {
		t.Errorf("epsilons 3 and 4 spend %v, want %v", f.Spent(), want)
	}
	// All of delta is slack: pure terms only.
	if f, err = NewFilter(b, b.Delta); err != nil || f.Charge(0.1, 0) != nil || f.Charge(0.1, 1e-300) == nil {
		t.Errorf("without delta for the terms: %+v, %v", f, err)
	}
}

func TestFilterRefusals(t *testing.T) {
	good := privacy.Budget{Epsilon: 1, Delta: 1e-5}
	renyi, err := NewRenyiFilter(good, 30)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := NewFilter(good, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for want, call := range map[string]func() error{
		"epsilon is 0":       func() error { _, err := NewRenyiFilter(privacy.Budget{Delta: 0.1}, 2); return err },
		"order is 1":         func() error { _, err := NewRenyiFilter(good, 1); return err },
		"order is NaN":       func() error { _, err := NewRenyiFilter(good, math.NaN()); return err },
		"delta is 0":         func() error { _, err := NewRenyiFilter(privacy.Budget{Epsilon: 1}, 2); return err },
		"order 2 leaves":     func() error { _, err := NewRenyiFilter(good, 2); return err },
		"filter: epsilon is": func() error { _, err := NewFilter(privacy.Budget{Epsilon: -1}, 0.1); return err },
		"slack is 0.1":       func() error { _, err := NewFilter(good, 0.1); return err },
		"slack is 0,":        func() error { _, err := NewFilter(good, 0); return err },
		"divergence is NaN":  func() error { return renyi.ChargeDivergence(math.NaN()) },
		"divergence is -1":   func() error { return renyi.ChargeDivergence(-1) },
		"takes a divergence": func() error { return renyi.Charge(1, 0) },
		"takes epsilon":      func() error { return plain.ChargeDivergence(1) },
		"epsilon is NaN":     func() error { return plain.Charge(math.NaN(), 0) },
		"delta is 2":         func() error { return plain.Charge(0, 2) },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if renyi.Spent() != 0 || plain.Spent() != 0 {
		t.Error("a refusal was charged")
	}
}
