package reference

import "math"

// CLTMuUniform returns the mu of the central limit theorem for batches of fixed size (Dong et al. 2022, corollary 5).
// It is an approximation, never a guarantee. With v = 1/sigma it is q sqrt(2 steps) times the root of
//
//	e^(v²) Phi(1.5 v) + 3 Phi(-0.5 v) - 2 = (e^(v²)-1) Phi(1.5 v) + erf(1.5 v/sqrt 2)/2 - 1.5 erf(0.5 v/sqrt 2)
//
// where the last two terms cancel to about v³.
func CLTMuUniform(q, sigma, steps float64) float64 {
	v := 1 / sigma
	normal := 0.5 * math.Erfc(-1.5*v/math.Sqrt2) // Phi(1.5 v)
	return math.Sqrt2 * q * math.Sqrt(steps*(math.Expm1(v*v)*normal+erfDifference(v/math.Sqrt2)))
}

// erfDifference returns erf(1.5 x)/2 - 1.5 erf(0.5 x). The linear terms of its series are equal.
func erfDifference(x float64) float64 {
	if x > cltSeries {
		return math.Erf(1.5*x)/2 - 1.5*math.Erf(0.5*x)
	}
	sum, term, y := 0.0, x/math.SqrtPi, x*x
	high, low := 1.5, 1.5 // 1.5^(2n+1), 3 0.5^(2n+1)
	for n := 1.0; n <= 20; n++ {
		term *= -y / n // (-1)^n x^(2n+1)/(n! sqrt pi)
		high *= 2.25
		low *= 0.25
		sum += term * (high - low) / (2*n + 1)
	}
	return sum
}

// cltSeries is the largest x for which the series of 20 terms is used; there it is exact. Above it the plain difference
// loses at most one digit.
const cltSeries = 0.5
