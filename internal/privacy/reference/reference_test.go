package reference

import (
	"math"
	"testing"
)

// curveOf solves a delta curve that falls in epsilon, written down in a test.
func curveOf(delta float64, curve func(eps float64) float64) float64 {
	lo, hi := 0.0, 1e3
	for range 80 {
		if mid := (lo + hi) / 2; curve(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// gaussianDelta is Balle and Wang's curve of mu.
func gaussianDelta(mu float64) func(float64) float64 {
	return func(eps float64) float64 {
		return phi(mu/2-eps/mu) - math.Exp(eps)*phi(-mu/2-eps/mu)
	}
}

// Against closed forms the reference is below, and by little.
func TestEpsilonIsJustBelow(t *testing.T) {
	const delta = 1e-5
	binomial := func(eps0 float64, n int) func(float64) float64 { // n randomised responses of two values
		return func(eps float64) float64 {
			p := 1 / (1 + math.Exp(-eps0))
			sum := 0.0
			for k := range n + 1 {
				a, _ := math.Lgamma(float64(n + 1))
				b, _ := math.Lgamma(float64(k + 1))
				c, _ := math.Lgamma(float64(n - k + 1))
				if l := float64(2*k-n) * eps0; l > eps {
					sum += math.Exp(a-b-c+float64(k)*math.Log(p)+float64(n-k)*math.Log(1-p)) * -math.Expm1(eps-l)
				}
			}
			return sum
		}
	}
	for name, c := range map[string]struct {
		parts []Part
		want  float64
	}{
		"one normal release":          {[]Part{{normal{1}, 1}}, curveOf(delta, gaussianDelta(1))},
		"nine, together three":        {[]Part{{normal{1}, 9}}, curveOf(delta, gaussianDelta(3))},
		"two kinds, together five":    {[]Part{{normal{3}, 1}, {normal{4}, 1}}, curveOf(delta, gaussianDelta(5))},
		"a small one":                 {[]Part{{normal{.01}, 1}}, curveOf(delta, gaussianDelta(.01))},
		"laplace":                     {[]Part{{laplace{2}, 1}}, 2 + 2*math.Log1p(-delta)},
		"discrete laplace, one step":  {[]Part{{discreteLaplace(2, 1), 1}}, curveOf(delta, func(eps float64) float64 { return max(0, -math.Expm1(eps-.5)) / (1 + math.Exp(-.5)) })},
		"twelve responses":            {[]Part{{response(.7, 2), 12}}, curveOf(delta, binomial(.7, 12))},
		"sampled, removed":            {[]Part{{sampled{normal{2}, .1, true}, 1}}, curveOf(delta, func(eps float64) float64 { return .1 * gaussianDelta(2)(math.Log1p(math.Expm1(eps)/.1)) })},
		"sampled where it is no part": {[]Part{{hidden{normal{2}, .1}, 1}}, curveOf(delta, func(eps float64) float64 { return .1 * gaussianDelta(2)(eps) })},
		"nothing":                     {nil, 0},
	} {
		got := Epsilon(c.parts, delta)
		if got > c.want*(1+1e-6)+1e-9 {
			t.Errorf("%s: %v, which is above %v", name, got, c.want)
		}
		if got < c.want*.98-1e-3 {
			t.Errorf("%s: %v, which is far below %v", name, got, c.want)
		}
	}
}

// A discrete normal release composes like a normal one that has nearly its variance.
func TestDiscreteNormal(t *testing.T) {
	got := Epsilon([]Part{{discreteNormal(6, 3), 4}}, 1e-5)
	if want := curveOf(1e-5, gaussianDelta(1)); math.Abs(got-want) > .02*want {
		t.Errorf("%v, want about %v", got, want)
	}
}

// Every law is one: it rises from 0 to 1, and the mean of e^-loss is at most 1.
func TestLawsAreLaws(t *testing.T) {
	for name, l := range map[string]Law{
		"normal": normal{1.3}, "laplace": laplace{2}, "response": response(1, 5), "two": response(1, 2),
		"discrete laplace": discreteLaplace(1.5, 3), "discrete normal": discreteNormal(2, 3),
		"removed": sampled{normal{2}, .2, true}, "added": sampled{normal{2}, .2, false},
		"removed laplace": sampled{laplace{2}, .3, true}, "added response": sampled{response(2, 3), .3, false},
		"hidden": hidden{normal{1}, .3}, "mirrored": mirrored{1, .4},
	} {
		lo, hi := l.Span()
		const n = 200000
		before, sum := l.Below(lo), 0.0
		if before > 1e-15 {
			t.Errorf("%s: %v below its span", name, before)
		}
		for i := range n + 1 {
			next := l.Below(lo + (hi-lo)*float64(i+1)/n)
			if next < before-1e-15 {
				t.Fatalf("%s: falls", name)
			}
			sum += (next - before) * math.Exp(-(lo + (hi-lo)*(float64(i)+.5)/n))
			before = next
		}
		if math.Abs(before-1) > 1e-12 {
			t.Errorf("%s: %v at the end of its span", name, before)
		}
		if math.Abs(sum-1) > 1e-3 {
			t.Errorf("%s: the mean of e^-loss is %v, want 1", name, sum)
		}
	}
}
