package classic

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/reference"
)

// An adversary who picks each epsilon after the last answer gets no more from a
// filter than its budget: whatever ran, its exact composition is within it.
func TestFilterAgainstAdversaries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := privacy.Budget{Epsilon: rapid.Float64Range(0.1, 8).Draw(t, "epsilon"), Delta: math.Pow(10, rapid.Float64Range(-8, -2).Draw(t, "delta"))}
		slack := b.Delta * rapid.Float64Range(0.01, 1).Draw(t, "slack")
		f, err := NewFilter(b, slack)
		if err != nil {
			t.Fatal(err)
		}
		choices := []float64{0.001, 0.05, 0.3} // few, so that the composition can be summed
		ran := map[float64]int64{}
		delta, refused := 0.0, 0
		for range 60 {
			e := rapid.SampledFrom(choices).Draw(t, "next")
			d := b.Delta * rapid.SampledFrom([]float64{0, 0, 1e-3, 0.3}).Draw(t, "fails")
			spent := f.Spent()
			switch err := f.Charge(e, d); {
			case err == nil:
				ran[e]++
				delta += d
			case errors.Is(err, ErrExhausted):
				if refused++; f.Spent() != spent {
					t.Fatal("a refusal was charged")
				}
			default:
				t.Fatal(err)
			}
		}
		if f.Spent() > b.Epsilon || delta+slack > b.Delta*(1+1e-9) {
			t.Fatalf("spent (%v, %v) of %+v", f.Spent(), delta+slack, b)
		}
		var parts []reference.Guarantee
		for e, n := range ran {
			parts = append(parts, reference.Guarantee{Epsilon: e, Count: n})
		}
		if len(parts) == 0 {
			return
		}
		if d := reference.KFoldDelta(parts, b.Epsilon); d > slack*(1+1e-9) {
			t.Fatalf("%v have delta %v at epsilon %v, slack %v (%d refused)", ran, d, b.Epsilon, slack, refused)
		}
	})
}

// The same for divergences, and for a mechanism chosen to fit exactly.
func TestRenyiFilterAgainstAdversaries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := privacy.Budget{Epsilon: rapid.Float64Range(0.5, 10).Draw(t, "epsilon"), Delta: math.Pow(10, rapid.Float64Range(-9, -2).Draw(t, "delta"))}
		order := math.Pow(10, rapid.Float64Range(0.5, 3).Draw(t, "order"))
		f, err := NewRenyiFilter(b, order)
		if err != nil {
			return // nothing is left at this order, and that is said
		}
		for range 30 {
			sigma := math.Pow(10, rapid.Float64Range(-1, 2).Draw(t, "sigma"))
			curve, err := rdp.Gaussian(sigma, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.ChargeDivergence(curve(order)); err != nil && !errors.Is(err, ErrExhausted) {
				t.Fatal(err)
			}
		}
		if err := f.ChargeDivergence((f.Limit() - f.Spent()) * (1 - 1e-12)); err != nil && f.Limit()-f.Spent() > 1e-12*f.Limit() {
			t.Fatalf("what is left does not fit: %v", err)
		}
		if e := rdp.TightEpsilon(f.Spent(), order, b.Delta); e > b.Epsilon*(1+1e-12) {
			t.Fatalf("spent %v at order %v: epsilon %v of %v", f.Spent(), order, e, b.Epsilon)
		}
		if err := f.ChargeDivergence(f.Limit() * 1e-9); !errors.Is(err, ErrExhausted) {
			t.Fatalf("the filter is full and goes on: %v", err)
		}
	})
}

// rho of pure DP is that of the curves of package rdp: no order of any of them asks
// for more, and randomised response of two answers comes as near as one likes.
func TestPureToZCDPCoversTheCurves(t *testing.T) {
	for _, e := range []float64{0.01, 0.5, 2, 8} {
		rho, err := PureToZCDP(e)
		if err != nil {
			t.Fatal(err)
		}
		two, err1 := rdp.RandomizedResponse(e, 2)
		nine, err2 := rdp.RandomizedResponse(e, 9)
		laplace, err3 := rdp.Laplace(1, e)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		for name, curve := range map[string]rdp.Curve{"two": two, "nine": nine, "laplace": laplace} {
			for alpha := 1.001; alpha < 1e5; alpha *= 1.2 {
				if d := curve(alpha); d > alpha*rho*(1+1e-9) {
					t.Errorf("%s, epsilon %v, order %v: divergence %v above %v", name, e, alpha, d, alpha*rho)
				}
			}
		}
		if near := two(1 + 1e-6); near < rho*(1-1e-5) {
			t.Errorf("epsilon %v: randomised response asks for %v only, rho is %v", e, near, rho)
		}
	}
}
