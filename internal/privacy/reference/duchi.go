package reference

import "math"

// DuchiBound returns the magnitude (e^eps+1)/(e^eps-1) of the two outputs of the mechanism of
// Duchi, Jordan and Wainwright for one number x in [-1, 1] (JASA 2018; algorithm 1 of Wang et
// al., ICDE 2019). The positive one has probability 1/2 + x/(2 bound).
func DuchiBound(epsilon float64) float64 { return 1 / math.Tanh(epsilon/2) }

// DuchiVariance returns the variance of the output of the mechanism of DuchiBound at input x, largest at 0.
func DuchiVariance(epsilon, x float64) float64 {
	b := DuchiBound(epsilon)
	return (b - x) * (b + x)
}

// hybridFrom is the epsilon from which on the hybrid mechanism uses the piecewise mechanism
// (Wang et al., ICDE 2019, equation 6, which rounds it to 0.61).
const hybridFrom = 0.61

// HybridShare returns the probability with which the hybrid mechanism of Wang et al. (ICDE
// 2019, section III.C) draws from the piecewise mechanism and not from that of Duchi et al.: 1
// - e^(-eps/2) above an epsilon of 0.61, else 0.
func HybridShare(epsilon float64) float64 {
	if epsilon > hybridFrom {
		return -math.Expm1(-epsilon / 2)
	}
	return 0
}

// HybridVariance returns the variance of the hybrid mechanism's output at input x in [-1, 1].
// Both parts are unbiased, so it is the mean of their variances.
func HybridVariance(epsilon, x float64) float64 {
	a := HybridShare(epsilon)
	if a == 0 {
		return DuchiVariance(epsilon, x)
	}
	rest := math.Exp(-epsilon / 2) // 1 - a, computed without cancellation
	return rest*DuchiVariance(epsilon, x) + a*piecewiseVariance(epsilon, x)
}

// piecewiseVariance returns the variance of the piecewise mechanism's output at input x (lemma 1 of Wang et al.).
func piecewiseVariance(epsilon, x float64) float64 {
	e := math.Expm1(epsilon / 2)
	return (x*x + (1+4/e)/3) / e
}
