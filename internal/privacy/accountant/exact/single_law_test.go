package exact_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/accountant/exact"
)

// number is a value that must come without an error and be a probability.
func number(t *rapid.T) func(d float64, err error) float64 {
	return func(d float64, err error) float64 {
		if err != nil || !(d >= 0 && d <= 1) {
			t.Fatalf("%v, %v", d, err)
		}
		return d
	}
}

// More noise, more epsilon and shorter moves never raise a delta; grids refined
// together with the move come down on the continuous law; and all are 0 beyond the
// largest loss.
func TestSinglesAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noise, eps := draw(t, "noise", 0.3, 60), rapid.Float64Range(0, 3).Draw(t, "eps")
		shift, k := rapid.Int64Range(1, 20).Draw(t, "shift"), rapid.Int64Range(2, 50).Draw(t, "categories")
		more := 1 + draw(t, "more", 1e-3, 1)
		at := number(t)
		for name, d := range map[string][4]float64{ // plain, more noise, more epsilon, a longer move
			"laplace": {at(exact.LaplaceDelta(noise, float64(shift), eps)), at(exact.LaplaceDelta(noise*more, float64(shift), eps)),
				at(exact.LaplaceDelta(noise, float64(shift), eps*more)), at(exact.LaplaceDelta(noise, float64(shift+1), eps))},
			"discrete laplace": {at(exact.DiscreteLaplaceDelta(noise, eps, shift)), at(exact.DiscreteLaplaceDelta(noise*more, eps, shift)),
				at(exact.DiscreteLaplaceDelta(noise, eps*more, shift)), at(exact.DiscreteLaplaceDelta(noise, eps, shift+1))},
			"discrete gaussian": {at(exact.DiscreteGaussianDelta(noise, eps, shift)), 0,
				at(exact.DiscreteGaussianDelta(noise, eps*more, shift)), at(exact.DiscreteGaussianDelta(noise, eps, shift+1))},
			"response": {at(exact.ResponseDelta(3, k, eps)), at(exact.ResponseDelta(3/more, k, eps)), at(exact.ResponseDelta(3, k, eps*more)), at(exact.ResponseDelta(3, max(2, k-1), eps))},
		} {
			const slack = 1e-12
			if d[1] > d[0]*(1+slack)+1e-300 || d[2] > d[0]*(1+slack)+1e-300 || d[3] < d[0]*(1-slack) {
				t.Fatalf("%s of noise %g, shift %d, categories %d at %g, by %g: %v", name, noise, shift, k, eps, more, d)
			}
		}
		// Continuous noise on an integer is integer noise with more noise added.
		if grid, free := at(exact.DiscreteLaplaceDelta(noise, eps, shift)), at(exact.LaplaceDelta(noise, float64(shift), eps)); free > grid*(1+1e-12) {
			t.Fatalf("noise %g, shift %d: %g on the grid, %g off it", noise, shift, grid, free)
		}
		fine := at(exact.DiscreteLaplaceDelta(noise*1024, eps, shift*1024))
		if free := at(exact.LaplaceDelta(noise, float64(shift), eps)); math.Abs(fine-free) > 1e-5 {
			t.Fatalf("noise %g, shift %d at %g: %g on a fine grid, %g off it", noise, shift, eps, fine, free)
		}
		if past := float64(shift) / noise * (1 + 1e-12); at(exact.LaplaceDelta(noise, float64(shift), past)) != 0 || at(exact.DiscreteLaplaceDelta(noise, past, shift)) != 0 || at(exact.ResponseDelta(3, k, 3)) != 0 {
			t.Fatalf("beyond the largest loss of noise %g, shift %d", noise, shift)
		}
	})
}

// Every argument out of its range, at both ends and where no number is: an error
// that names it, with the range, and no delta.
func TestSinglesRefuseEverything(t *testing.T) {
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -1e-300}
	refused := func(name string, want string) func(d float64, err error) {
		return func(d float64, err error) {
			if err == nil || d != 0 || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "want") {
				t.Errorf("%s: %v, %v, want %q", name, d, err, want)
			}
		}
	}
	for _, v := range append(bad, 0) {
		refused("laplace", "scale is")(exact.LaplaceDelta(v, 1, 1))
		refused("laplace", "sensitivity is")(exact.LaplaceDelta(1, v, 1))
		refused("discrete laplace", "scale is")(exact.DiscreteLaplaceDelta(v, 1, 1))
		refused("discrete gaussian", "sigma is")(exact.DiscreteGaussianDelta(v, 1, 1))
	}
	for _, v := range bad {
		refused("laplace", "epsilon is")(exact.LaplaceDelta(1, 1, v))
		refused("response", "response: epsilon is")(exact.ResponseDelta(v, 2, 1))
		refused("response", "epsilon is")(exact.ResponseDelta(1, 2, v))
		refused("discrete laplace", "epsilon is")(exact.DiscreteLaplaceDelta(1, v, 1))
		refused("discrete gaussian", "epsilon is")(exact.DiscreteGaussianDelta(1, v, 1))
	}
	for _, n := range []int64{0, -1, math.MinInt64, 1<<53 + 1, math.MaxInt64} {
		refused("discrete laplace", "shift is")(exact.DiscreteLaplaceDelta(1, 1, n))
		refused("discrete gaussian", "shift is")(exact.DiscreteGaussianDelta(1, 1, n))
		refused("response", "categories are")(exact.ResponseDelta(1, n, 1))
	}
	refused("response", "categories are")(exact.ResponseDelta(1, 1, 1))
	refused("discrete gaussian", "at most 1e+07")(exact.DiscreteGaussianDelta(1.0000001e7, 1, 1))
}
