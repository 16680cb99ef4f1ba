package audit

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"privrec/internal/privacy/numeric"
)

// Curve maps x to the smallest probability, under one of two neighbours, of any event with probability x under the
// other. For a symmetric trade-off function f it is f(1-x). It maps [0, 1] to [0, x], is convex and never falls.
type Curve func(x float64) float64

// GaussianCurve returns the curve of mu-Gaussian-DP, Phi(Phi^-1(x) - mu) (Dong, Roth, Su 2022,
// equation 6). mu is at least 0.
func GaussianCurve(mu float64) Curve {
	return func(x float64) float64 {
		if !(x > 0) {
			return 0
		}
		return numeric.Upper(mu - mathext.NormalQuantile(math.Min(1, x)))
	}
}

// rejects reports whether the counts reject, at level, that the curve protects each single canary (Mahloujifar,
// Melis, Chaudhuri 2024, algorithm 3, "audit_rh_with_cap", for in-or-out guesses). The recursion turns the tail of
// the number of right guesses into a lower bound on a total probability, and rejects if that exceeds one.
func (c Count) rejects(curve Curve, level float64) bool {
	m, n := float64(c.Canaries), float64(c.Guesses)
	r := level * float64(c.Correct) / m
	h := level * float64(c.Guesses-c.Correct) / m
	for i := c.Correct - 1; i >= 0; i-- {
		next := math.Max(h, curve(r))
		if next == h { // from here on neither changes
			break
		}
		r = math.Min(1, r+float64(i)/(n-float64(i))*(next-h))
		h = next
	}
	return (r+h)*(1-margin) > n/m
}

// mu returns the largest mu, rounded down, such that the counts reject mu-Gaussian-DP at level; 0 if they reject none.
func (c Count) mu(level float64) float64 {
	return (1 - margin) * largest(func(mu float64) bool { return c.rejects(GaussianCurve(mu), level) })
}
