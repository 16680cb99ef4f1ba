package numeric

import "math"

// LogAdd returns log(e^a + e^b). Either may be -Inf, the logarithm of 0.
func LogAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) || math.IsInf(a, 1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// Log1mExp returns log(1 - e^x) for x <= 0, and -Inf from 0 on (Mächler, "Accurately computing
// log(1 - exp(-|a|))", 2012: two forms that meet at log 1/2).
func Log1mExp(x float64) float64 {
	switch {
	case x >= 0:
		return math.Inf(-1)
	case x > -math.Ln2:
		return math.Log(-math.Expm1(x))
	}
	return math.Log1p(-math.Exp(x))
}

// Log1pExp returns log(1 + e^x) for every x.
func Log1pExp(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// LogExpm1 returns log(e^x - 1) for x >= 0: -Inf at 0, and x itself far out, where e^x has no
// float.
func LogExpm1(x float64) float64 {
	if x > 30 {
		return x + Log1mExp(-x)
	}
	return math.Log(math.Expm1(x))
}

// LogMixed returns log(1 - q + q e^x) for q in (0, 1): the privacy loss on a Poisson sample of rate q of a release
// whose loss is x. Near log(1-q), its least value, it is accurate relative to one only, not to 1 - q + q e^x.
func LogMixed(q, x float64) float64 {
	if x > 30 { // e^x may overflow
		return x + math.Log(q) + math.Log1p((1-q)/q*math.Exp(-x))
	}
	return math.Log1p(q * math.Expm1(x))
}

// LogUnmixed returns log(1 + (e^x - 1)/q), the inverse of LogMixed, for x > log(1 - q).
func LogUnmixed(q, x float64) float64 {
	if x > 30 {
		return x - math.Log(q) + math.Log1p(-(1-q)*math.Exp(-x))
	}
	return math.Log1p(math.Expm1(x) / q)
}

// expm1mxSeries is the bound on |x| below which Expm1mx sums a series.
const expm1mxSeries = 0.5

// Expm1mx returns e^x - 1 - x, which is never negative, to full relative accuracy. Moments use it after subtracting a
// known mean.
func Expm1mx(x float64) float64 {
	if math.Abs(x) >= expm1mxSeries {
		return math.Expm1(x) - x
	}
	return Expm1mxSeries(x)
}

// Expm1mxSeries returns Expm1mx for |x| <= 0.5 only, where the Taylor series to degree 15 is right
// to the last place. It is small enough to be inlined in loops.
func Expm1mxSeries(x float64) float64 {
	y := x * x
	even := 1./2 + y*(1./24+y*(1./720+y*(1./40320+y*(1./3628800+y*(1./479001600+y/87178291200)))))
	odd := 1./6 + y*(1./120+y*(1./5040+y*(1./362880+y*(1./39916800+y*(1./6227020800+y/1307674368000)))))
	return y * (even + x*odd)
}

// Log1pmx returns log(1+x) - x, which is never positive, to full relative accuracy for x > -1. With
// r = x/(2+x), log(1+x) is 2 atanh(r) and 2r - x is -rx.
func Log1pmx(x float64) float64 {
	if x < -0.4 || x > 0.7 {
		return math.Log1p(x) - x
	}
	r := x / (2 + x)
	y := r * r
	s, c := 0.0, 1.0
	for k := 3.0; k < 60; k += 2 { // |r| <= 0.26: y^28 is below 1e-32
		term := c / k
		if s += term; term < 0x1p-56*s {
			break
		}
		c *= y
	}
	return r * (2*y*s - x)
}
