package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Another implementation, the closed forms for one and two degrees of freedom, and the
// printed table (Fisher and Yates) for the usual interval.
func TestStudent(t *testing.T) {
	for _, nu := range []float64{1, 2, 3, 4, 9, 29, 1000} {
		d := distuv.StudentsT{Sigma: 1, Nu: nu}
		for _, x := range []float64{0, 1e-3, 0.5, 1, 2.5, 12, 400} {
			if got, want := studentTail(x, nu), d.CDF(-x); math.Abs(got-want) > 1e-12*want {
				t.Errorf("tail at %g, nu %g: %v, want %v", x, nu, got, want)
			}
		}
		for _, p := range []float64{0.5, 0.6, 0.9, 0.95, 0.975, 0.995, 0.9999} {
			got := studentQuantile(p, nu)
			if want := d.Quantile(p); math.Abs(got-want) > 1e-9*(1+want) {
				t.Errorf("quantile %g, nu %g: %v, want %v", p, nu, got, want)
			}
			if back := 1 - studentTail(got, nu); math.Abs(back-p) > 1e-10 {
				t.Errorf("quantile %g, nu %g leads back to %v", p, nu, back)
			}
		}
	}
	for _, x := range []float64{0.3, 1, 6} {
		if got, want := studentTail(x, 1), 0.5-math.Atan(x)/math.Pi; math.Abs(got-want) > 1e-14 {
			t.Errorf("nu 1, tail at %g: %v, want %v", x, got, want)
		}
		if got, want := studentTail(x, 2), 0.5-x/2/math.Sqrt(2+x*x); math.Abs(got-want) > 1e-14 {
			t.Errorf("nu 2, tail at %g: %v, want %v", x, got, want)
		}
	}
	for nu, want := range map[float64]float64{1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 30: 2.042} {
		if got := studentQuantile(0.975, nu); math.Abs(got-want) > 5e-4 {
			t.Errorf("nu %g: %v, the table has %v", nu, got, want)
		}
	}
}
