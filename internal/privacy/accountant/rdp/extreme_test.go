package rdp_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
)

// Parameters at the ends of what floats hold: every value is a number or +Inf,
// never negative, and grows with the order; none takes long or much memory.
func TestExtremeParameters(t *testing.T) {
	tiny, huge := []float64{5e-324, 1e-300, 1e-150, 1e-20, 1e-6}, []float64{1e6, 1e20, 1e150, 1e300, math.MaxFloat64}
	sizes := append(append(append([]float64{}, tiny...), 0.5, 1, 30), huge...)
	rates := append(append([]float64{}, tiny...), 0.3, 1-1e-9, 1-0x1p-53, 1)
	orders := []float64{1, 1 + 0x1p-52, 1 + 1e-9, 1.5, 2, 3, 64, 1e4, 1e9, 1e200, math.MaxFloat64, math.Inf(1)}
	look := func(what string, x, y float64, c rdp.Curve, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s %v, %v: %v", what, x, y, err)
			return
		}
		last := 0.0
		for _, a := range orders {
			v := c(a)
			if math.IsNaN(v) || v < 0 || v < last*(1-1e-9)-1e-290 { // what is subnormal has few digits
				t.Errorf("%s %v, %v: %v at order %v after %v", what, x, y, v, a, last)
			}
			last = v
		}
	}
	for _, x := range sizes {
		for _, y := range sizes {
			c, err := rdp.Gaussian(x, y)
			look("gaussian", x, y, c, err)
			c, err = rdp.Laplace(x, y)
			look("laplace", x, y, c, err)
			if y < 1e3 || y > 1e5 { // in between there is a sum over the distance
				c, err = rdp.DiscreteLaplace(x, y)
				look("discrete laplace", x, y, c, err)
			}
		}
		c, err := rdp.PureDP(x)
		look("pure", x, 0, c, err)
		c, err = rdp.RandomizedResponse(x, math.MaxInt64)
		look("randomized response", x, 0, c, err)
		c, err = rdp.BoundedRange(x)
		look("bounded range", x, 0, c, err)
		for _, q := range rates {
			c, err := rdp.SampledGaussian(q, x)
			look("sampled gaussian", q, x, c, err)
		}
	}
}

// Whole queries at the same ends: a finite epsilon of at least 0 that falls with
// delta, or an error; never NaN.
func TestExtremeQueries(t *testing.T) {
	for _, s := range []float64{1e-150, 1e-3, 0.02, 0.2, 1e3, 1e150} {
		for _, q := range []float64{1e-300, 1e-9, 0.5, 1} {
			for _, steps := range []int64{1, 1 << 20, math.MaxInt64} {
				c := rdp.Times(must(rdp.SampledGaussian(q, s))(t), steps)
				last := math.Inf(1)
				for _, delta := range []float64{5e-324, 1e-300, 1e-9, 0.5, 1 - 0x1p-53} {
					p, err := rdp.Epsilon(context.Background(), c, delta, rdp.Options{})
					if errors.Is(err, rdp.ErrNoOrder) {
						continue
					}
					if err != nil || !(p.Epsilon >= 0) || p.Epsilon > last*(1+1e-9) || math.IsInf(p.Epsilon, 0) {
						t.Errorf("q %v, s %v, %d steps, delta %v: %+v, %v after %v", q, s, steps, delta, p, err, last)
					}
					last = p.Epsilon
				}
				for _, epsilon := range []float64{0, 1e-300, 1, 1e300} {
					d, err := rdp.Delta(context.Background(), c, epsilon, rdp.Options{})
					if err != nil && !errors.Is(err, rdp.ErrNoOrder) || !(d.Delta >= 0 && d.Delta <= 1) {
						t.Errorf("q %v, s %v, %d steps, epsilon %v: %+v, %v", q, s, steps, epsilon, d, err)
					}
				}
			}
		}
	}
}

// Targets at the ends: noise that is enough, or an error.
func TestExtremeTargets(t *testing.T) {
	for _, epsilon := range []float64{1e-300, 1e-9, 1e-3, 50, 1e9, 1e300} {
		for _, delta := range []float64{1e-300, 1e-9, 0.9} {
			for _, steps := range []int64{1, 1 << 40} {
				b := privacy.Budget{Epsilon: epsilon, Delta: delta}
				for _, q := range []float64{1e-9, 0.01, 1} {
					s, err := rdp.CalibrateSampledGaussian(context.Background(), q, steps, b, rdp.Options{})
					if err != nil {
						if s != 0 {
							t.Errorf("%+v, q %v, %d steps: %v, %v", b, q, steps, s, err)
						}
						continue
					}
					p := must(rdp.Epsilon(context.Background(), rdp.Times(must(rdp.SampledGaussian(q, s))(t), steps), delta, rdp.Options{}))(t)
					if !(p.Epsilon <= epsilon) {
						t.Errorf("%+v, q %v, %d steps: noise %v costs %+v", b, q, steps, s, p)
					}
				}
			}
		}
	}
}
