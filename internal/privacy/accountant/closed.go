package accountant

import (
	"math"

	"privrec/internal/privacy/accountant/special"
)

// Closed is the epsilon of mu-Gaussian-DP under the classic conversion of
// Rényi DP at its best order, alpha = 1 + sqrt(2 ln(1/delta))/mu:
//
//	eps = mu²/2 + mu sqrt(2 ln(1/delta))
//
// With mu² = T C²/sigma² it is theorem 4.2 of the DIPSGNN paper. It takes mu² so
// that compositions add up without roots. delta is in (0, 1).
func Closed(mu2, delta float64) float64 {
	return mu2/2 + math.Sqrt(mu2)*closedB(delta)
}

// ClosedMu is the inverse: the mu at which Closed gives epsilon, without
// cancellation and without a root finder.
func ClosedMu(epsilon, delta float64) float64 {
	b := closedB(delta)
	return 2 * epsilon / (b + math.Sqrt(b*b+2*epsilon))
}

// ClosedSigma is the standard deviation that theorem 4.2 asks of steps
// releases of sensitivity c for a claimed epsilon.
func ClosedSigma(c, steps, epsilon, delta float64) float64 {
	return c * math.Sqrt(steps) / ClosedMu(epsilon, delta)
}

// closedB is sqrt(2 ln(1/delta)).
func closedB(delta float64) float64 { return math.Sqrt(-2 * math.Log(delta)) }

// ClassicalSigma is the textbook sensitivity*sqrt(2 ln(1.25/delta))/epsilon,
// proved for epsilon below 1 only (Dwork and Roth 2014, theorem A.1).
func ClassicalSigma(sensitivity, epsilon, delta float64) float64 {
	return sensitivity * math.Sqrt(2*math.Log(1.25/delta)) / epsilon
}

// CLTMuPoisson is the mu that the central limit theorem gives for steps
// Poisson-sampled Gaussian releases of rate q and noise multiplier sigma (Bu et
// al. 2020). It is an approximation and can be below the truth: never a guarantee.
func CLTMuPoisson(q, sigma, steps float64) float64 {
	return q * math.Sqrt(steps*math.Expm1(1/(sigma*sigma)))
}

// CLTMuUniform is the same for batches of fixed size (Dong et al. 2022,
// corollary 5): an approximation, never a guarantee.
func CLTMuUniform(q, sigma, steps float64) float64 {
	v := 1 / sigma
	return math.Sqrt2 * q * math.Sqrt(steps*(math.Exp(v*v)*special.Upper(-1.5*v)+3*special.Upper(0.5*v)-2))
}
