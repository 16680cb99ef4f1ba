package reference

import "math"

// Advanced returns the epsilon of count adaptive mechanisms that are (epsilon, delta)-DP each, at count delta + slack
// (Dwork and Roth, "The algorithmic foundations of differential privacy", 2014, theorem 3.20):
//
//	epsilon sqrt(2 k ln(1/slack)) + k epsilon (e^epsilon - 1)
func Advanced(epsilon float64, count int64, slack float64) float64 {
	return advanced(epsilon, float64(count), slack, math.Expm1(epsilon))
}

// AdvancedTight returns the epsilon of Advanced with the mean loss (e^epsilon-1)/(e^epsilon+1), at the delta
// 1-(1-delta)^k (1-slack). It is the third form of Kairouz, Oh, Viswanath 2015, theorem 3.5, with equal terms.
func AdvancedTight(epsilon float64, count int64, slack float64) float64 {
	return advanced(epsilon, float64(count), slack, math.Tanh(epsilon/2))
}

func advanced(epsilon, k, slack, drift float64) float64 {
	return epsilon * (math.Sqrt(-2*k*math.Log(slack)) + k*drift)
}

// Sampled returns the epsilon of an epsilon-DP mechanism on a Poisson sample, which has each unit with probability
// rate, under the add-remove relation: log(1 + rate (e^epsilon-1)) (Balle, Barthe, Gaboardi, "Privacy amplification
// by subsampling: tight analyses via couplings and divergences", NeurIPS 2018). Its delta is rate times that of the
// mechanism.
func Sampled(rate, epsilon float64) float64 {
	if epsilon > 50 { // e^epsilon may overflow
		return math.Max(0, epsilon+math.Log(rate)+math.Log1p((1-rate)/rate*math.Exp(-epsilon)))
	}
	return math.Log1p(rate * math.Expm1(epsilon))
}
