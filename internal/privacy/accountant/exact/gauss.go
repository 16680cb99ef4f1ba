package exact

import "math"

// gaussError bounds the relative error of exp(logDelta). The argument of the normal density is a
// difference of two numbers and is squared.
func gaussError(mu, eps float64) float64 {
	a := math.Abs(mu/2 - eps/mu)
	return 16 * ulp * (4 + (1+a)*(mu+eps/mu))
}

// ulp is the largest relative error of one rounding.
const ulp = 0x1p-53

// smallest returns the least eps >= 0 at which log delta(eps), a falling function, is at most
// target, rounded up. most is an eps at which it is, except for rounding. smallest returns +Inf if
// the curve stays above the target up to twice most.
func smallest(log func(eps float64) float64, target, most float64) float64 {
	if !(log(0) > target) {
		return 0
	}
	lo, hi := 0.0, most
	for stretch := 1e-15; log(hi) > target; stretch *= 2 { // only by rounding
		if stretch > 1 {
			return math.Inf(1)
		}
		hi = most*(1+stretch) + math.SmallestNonzeroFloat64
	}
	for {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			return hi
		}
		if log(mid) > target {
			lo = mid
		} else {
			hi = mid
		}
	}
}

// gaussBound returns an epsilon that is enough: the classic conversion of Rényi DP.
func gaussBound(mu, delta float64) float64 {
	return mu*mu/2 + mu*math.Sqrt(-2*math.Log(delta))
}
