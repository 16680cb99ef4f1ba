package classic_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/classic"
	"privrec/internal/privacy/accountant/rdp"
)

func value(t interface{ Fatal(...any) }) func(v float64, err error) float64 {
	return func(v float64, err error) float64 {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// The limits of the conversion to zCDP, and that conversions of other kinds of
// mechanism are not it.
func TestPureToZCDPLimits(t *testing.T) {
	for _, e := range []float64{1e-8, 1e-4, 0.1, 1, 20, 1e4} {
		rho := value(t)(classic.PureToZCDP(e))
		if e <= 0.1 && math.Abs(rho/(e*e/2)-1) > e*e {
			t.Errorf("epsilon %v: rho %v, epsilon²/2 is %v", e, rho, e*e/2)
		}
		if e >= 20 && math.Abs(rho/e-1) > 1e-8 || rho > e {
			t.Errorf("epsilon %v: rho %v, at most epsilon", e, rho)
		}
		curve, err := rdp.PureDP(e)
		if err != nil {
			t.Fatal(err)
		}
		// epsilon²/8 is what mechanisms of bounded range have, not all of pure DP.
		if e >= 0.1 && curve(1+1e-6) <= e*e/8 && e < 7 {
			t.Errorf("epsilon %v: epsilon²/8 would be enough for %v", e, curve(1+1e-6))
		}
	}
}

// What a filter says has been spent does not depend on the order of what was
// charged, and a refusal in between, of any kind, leaves no trace.
func TestFiltersForgetRefusals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := privacy.Budget{Epsilon: 5, Delta: 1e-4}
		costs := rapid.SliceOfN(rapid.Float64Range(0, 0.2), 1, 12).Draw(t, "costs")
		run := func(costs []float64, disturbed bool) (spent [2]float64) {
			f, err := classic.NewFilter(b, 1e-5)
			r, err1 := classic.NewRenyiFilter(b, 8)
			if err := errors.Join(err, err1); err != nil {
				t.Fatal(err)
			}
			for _, c := range costs {
				if disturbed {
					for _, bad := range []error{
						f.Charge(1e3, 0), f.Charge(0, 0.5), f.Charge(math.NaN(), 0), f.Charge(-1, 0), f.Charge(0, -1), f.ChargeDivergence(0),
						r.ChargeDivergence(1e9), r.ChargeDivergence(math.Inf(1)), r.ChargeDivergence(math.NaN()), r.ChargeDivergence(-1), r.Charge(0, 0),
					} {
						if bad == nil {
							t.Fatal("not refused")
						}
					}
				}
				if err := errors.Join(f.Charge(c, c*1e-6), r.ChargeDivergence(c)); err != nil {
					t.Fatal(err)
				}
			}
			return [2]float64{f.Spent(), r.Spent()}
		}
		plain, disturbed := run(costs, false), run(costs, true)
		if plain != disturbed {
			t.Fatalf("%v, with refusals in between %v", plain, disturbed)
		}
		reversed := make([]float64, len(costs))
		for i, c := range costs {
			reversed[len(costs)-1-i] = c
		}
		if back := run(reversed, false); math.Abs(back[0]-plain[0]) > 1e-13*(1+plain[0]) || math.Abs(back[1]-plain[1]) > 1e-13 {
			t.Fatalf("%v, reversed %v", plain, back)
		}
	})
}
