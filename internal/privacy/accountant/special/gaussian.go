package special

import "math"

// GaussianLogDelta returns the logarithm of the exact delta of a mu-Gaussian-DP mechanism at
// epsilon (Balle and Wang, "Improving the Gaussian mechanism", ICML 2018, theorem 8; Dong, Roth,
// Su, "Gaussian differential privacy", JRSS-B 2022, corollary 1):
//
//	delta = Phi(mu/2 - eps/mu) - exp(eps) Phi(-mu/2 - eps/mu)
//
// It needs mu > 0 and epsilon >= 0. It is accurate relative to delta itself, also in the far tail
// and for tiny mu: exp(eps) phi(b) = phi(a) for the two arguments a and b, so that delta is phi(a)
// times a difference of Mills ratios.
func GaussianLogDelta(mu, epsilon float64) float64 {
	a := mu/2 - epsilon/mu
	if a > 0 && mu > Narrow {
		// The first term is at least a half and the second well below it.
		return math.Log(Upper(-a) - math.Exp(LogPhi(a))*Mills(mu-a))
	}
	return LogPhi(a) + math.Log(MillsDifference(-a, mu))
}
