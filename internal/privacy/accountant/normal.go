package accountant

import "math"

// logPhi is the logarithm of the standard normal density at x.
func logPhi(x float64) float64 { return -x*x/2 - 0.5*math.Log(2*math.Pi) }

// upper is the probability of a standard normal above x.
func upper(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }

// mills is the ratio Q(x)/phi(x) of the upper tail to the density (Mills), to
// full relative accuracy at any x that is not far below zero.
func mills(x float64) float64 {
	if x < millsSplit {
		return upper(x) / math.Exp(logPhi(x))
	}
	return 1 / (x + millsTail(x))
}

// millsSlope is minus the derivative of mills: 1 - x mills(x). From
// the fraction K of millsTail it is K/(x+K): nothing cancels at large x.
func millsSlope(x float64) float64 {
	if x < millsSplit {
		return 1 - x*mills(x)
	}
	k := millsTail(x)
	return k / (x + k)
}

const millsSplit = 2

// millsTail is the continued fraction 1/(x + 2/(x + 3/(x + ...))) of Laplace,
// so that mills(x) = 1/(x + millsTail(x)). Its error after n terms falls like
// exp(-2 x sqrt(n)): the number of terms gives 1e-17 for x >= 2.
func millsTail(x float64) float64 {
	n := int(400/(x*x)) + 12
	k := 0.0
	for i := n; i >= 1; i-- {
		k = float64(i) / (x + k)
	}
	return k
}

// Gauss-Legendre nodes and weights of order 8 on [-1, 1], positive half.
var (
	legendreX = [4]float64{0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}
	legendreW = [4]float64{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}
)

// narrow is the width below which a difference is taken as an integral.
const narrow = 0.5

// millsDifference is mills(x) - mills(x+w) for x >= -narrow/2, w >= 0. A narrow
// difference is the integral of the slope, where subtracting would cancel.
func millsDifference(x, w float64) float64 {
	if w > narrow {
		return mills(x) - mills(x+w)
	}
	s, mid, half := 0.0, x+w/2, w/2
	for i, t := range legendreX {
		s += legendreW[i] * (millsSlope(mid-half*t) + millsSlope(mid+half*t))
	}
	return s * half
}
