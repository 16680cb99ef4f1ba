package synthetic

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// above returns the probability that a standard normal number is above t.
func above(t float64) float64 { return 0.5 * math.Erfc(t/math.Sqrt2) }

// threshold returns the t that a standard normal number is above with probability p.
func threshold(p float64) float64 { return -distuv.UnitNormal.Quantile(p) }

// nodes and weights are those of a Gauss-Legendre rule on 0 to 1.
var nodes, weights = func() (x, w []float64) {
	const points = 16
	x, w = make([]float64, points), make([]float64, points)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	return x, w
}()

// bothAbove returns the probability that two standard normal numbers of a correlation are above s and t; apart is that
// of no correlation. It integrates the density over the correlation, from 0 (Plackett, "A reduction formula for normal
// multivariate integrals", Biometrika 1954), in its arc sine; its error is below 1e-6 for correlations of at most 0.95
// (TestBothAbove).
func bothAbove(apart, s, t, correlation float64) float64 {
	angle, half := math.Asin(correlation), (s*s+t*t)/2
	sum := 0.0
	for k, x := range nodes {
		sin := math.Sin(angle * x)
		sum += weights[k] * math.Exp(-(half-s*t*sin)/(1-sin*sin))
	}
	return apart + angle*sum/(2*math.Pi)
}

// mostCorrelated bounds the size of a correlation.
const mostCorrelated = 0.95

// correlation returns the correlation at which two standard normal numbers are both above s and t with probability p,
// within the bounds, by bisection.
func correlation(s, t, p float64) float64 {
	apart := above(s) * above(t)
	lo, hi := -mostCorrelated, mostCorrelated
	for range 24 { // to 1e-7
		mid := (lo + hi) / 2
		if bothAbove(apart, s, t, mid) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}
