package accountant

import (
	"math"

	"privrec/internal/privacy/accountant/special"
)

// Closed returns the epsilon of mu-Gaussian-DP under the classic conversion of Rényi DP at its best order,
// alpha = 1 + sqrt(2 ln(1/delta))/mu:
//
//	eps = mu²/2 + mu sqrt(2 ln(1/delta))
//
// With mu² = T C²/sigma² it is theorem 4.2 of the DIPSGNN paper. Its argument is mu², so that compositions add
// up without roots. delta is in (0, 1).
func Closed(mu2, delta float64) float64 {
	return mu2/2 + math.Sqrt(mu2)*closedB(delta)
}

// ClosedMu returns the inverse: the mu at which Closed gives epsilon. It has no cancellation and needs no root
// finder.
func ClosedMu(epsilon, delta float64) float64 {
	b := closedB(delta)
	return 2 * epsilon / (b + math.Sqrt(b*b+2*epsilon))
}

// ClosedSigma returns the standard deviation that theorem 4.2 asks for: steps releases of sensitivity c at a
// claimed epsilon.
func ClosedSigma(c, steps, epsilon, delta float64) float64 {
	return c * math.Sqrt(steps) / ClosedMu(epsilon, delta)
}

// closedB returns sqrt(2 ln(1/delta)).
func closedB(delta float64) float64 { return math.Sqrt(-2 * math.Log(delta)) }

// ClassicalSigma returns the textbook's sensitivity*sqrt(2 ln(1.25/delta))/epsilon, which is proved only for
// epsilon below 1 (Dwork and Roth 2014, theorem A.1).
func ClassicalSigma(sensitivity, epsilon, delta float64) float64 {
	return sensitivity * math.Sqrt(2*math.Log(1.25/delta)) / epsilon
}

// CLTMuPoisson returns the mu of the central limit theorem for steps Poisson-sampled Gaussian releases of rate
// q and noise multiplier sigma (Bu et al. 2020). It is an approximation that can be below the truth: never a
// guarantee.
func CLTMuPoisson(q, sigma, steps float64) float64 {
	return q * math.Sqrt(steps*math.Expm1(1/(sigma*sigma)))
}

// CLTMuUniform returns the same for batches of fixed size (Dong et al. 2022, corollary 5): an approximation,
// never a guarantee. With v = 1/sigma it is q sqrt(2 steps) times the root of
//
//	e^(v²) Phi(1.5 v) + 3 Phi(-0.5 v) - 2 = (e^(v²)-1) Phi(1.5 v) + erf(1.5 v/sqrt 2)/2 - 1.5 erf(0.5 v/sqrt 2)
//
// where the last two terms cancel to about v³.
func CLTMuUniform(q, sigma, steps float64) float64 {
	v := 1 / sigma
	return math.Sqrt2 * q * math.Sqrt(steps*(math.Expm1(v*v)*special.Upper(-1.5*v)+erfDifference(v/math.Sqrt2)))
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

// cltSeries is the largest x for the series of 20 terms, which is exact there. Above it the plain difference
// loses at most one digit.
const cltSeries = 0.5
