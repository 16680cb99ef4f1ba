package numeric

import "math"

// LogPhi returns the logarithm of the standard normal density at x.
func LogPhi(x float64) float64 { return -x*x/2 - logSqrt2Pi }

// logSqrt2Pi is log(sqrt(2 pi)).
const logSqrt2Pi = 0.91893853320467274178032973640562

// Upper returns Q(x), the probability that a standard normal variable is above x. It underflows to 0 beyond x = 38.6.
func Upper(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }

// Mills returns the ratio Q(x)/phi(x) of the upper tail to the density (Mills), to full relative
// accuracy at any x that is not far below zero.
func Mills(x float64) float64 {
	if x < millsSplit {
		return Upper(x) / math.Exp(LogPhi(x))
	}
	return 1 / (x + millsTail(x))
}

// millsSlope returns minus the derivative of Mills, 1 - x Mills(x). With K = millsTail(x) it is K/(x+K), which has no
// cancellation at large x.
func millsSlope(x float64) float64 {
	if x < millsSplit {
		return 1 - x*Mills(x)
	}
	k := millsTail(x)
	return k / (x + k)
}

const millsSplit = 2

// millsTail returns the continued fraction 1/(x + 2/(x + 3/(x + ...))) of Laplace, so that Mills(x)
// = 1/(x + millsTail(x)). Its error after n terms falls like exp(-2 x sqrt(n)). The number of terms
// gives 1e-17 for x >= 2.
func millsTail(x float64) float64 {
	n := int(400/(x*x)) + 12
	k := 0.0
	for i := n; i >= 1; i-- {
		k = float64(i) / (x + k)
	}
	return k
}

// Narrow is the width below which MillsDifference computes a difference as an integral.
const Narrow = 0.5

// MillsDifference returns Mills(x) - Mills(x+w) for x >= -Narrow/2, w >= 0. A narrow difference is
// the integral of the slope, because subtracting would cancel.
func MillsDifference(x, w float64) float64 {
	if w > Narrow {
		return Mills(x) - Mills(x+w)
	}
	// Gauss-Legendre nodes and weights of order 8 on [-1, 1], positive half.
	nodes := [4]float64{0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}
	weights := [4]float64{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}
	s, mid, half := 0.0, x+w/2, w/2
	for i, t := range nodes {
		s += weights[i] * (millsSlope(mid-half*t) + millsSlope(mid+half*t))
	}
	return s * half
}

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
