package rdp

import (
	"errors"
	"math"

	"privrec/internal/privacy/accountant/special"
)

// Gaussian returns alpha D²/(2 sigma²) for noise of standard deviation sigma on what moves by at
// most sensitivity D in the Euclidean norm (Mironov 2017, proposition 7). Both are positive and
// finite.
func Gaussian(sigma, sensitivity float64) (Curve, error) {
	if err := errors.Join(positive("sigma", sigma), positive("sensitivity", sensitivity)); err != nil {
		return nil, err
	}
	m := sensitivity / sigma
	return ZCDP(m * m / 2), nil
}

// ZCDP returns the curve alpha rho of a rho-zCDP mechanism (Bun and Steinke 2016, definition 1.1).
// rho is 0 or more.
func ZCDP(rho float64) Curve {
	return bounded(func(alpha float64) float64 {
		if math.IsInf(alpha, 1) {
			return alpha
		}
		return alpha * rho
	})
}

// DiscreteGaussian returns the zCDP bound D²/(2 sigma²) of discrete normal noise, independent in
// each coordinate, on integers that move by at most D in the Euclidean norm (Canonne, Kamath,
// Steinke 2020, theorem 4 and corollary). The truth is below.
func DiscreteGaussian(sigma, sensitivity float64) (Curve, error) { return Gaussian(sigma, sensitivity) }

// PureDP returns the largest curve that an epsilon-DP mechanism can have: binary randomized
// response with a log-ratio of epsilon. At alpha = 1 it is epsilon tanh(epsilon/2), not 0.
func PureDP(epsilon float64) (Curve, error) { return RandomizedResponse(epsilon, 2) }

// RandomizedResponse returns the exact curve of a report of one of k >= 2 values: the true one with
// probability e^epsilon/(e^epsilon + k - 1), each other one with equal probability.
//
// With the probability r of a wrong value, e^((alpha-1) D) - 1 is r (1 - e^(-(alpha-1) epsilon))
// (e^(alpha epsilon) - 1): no term cancels.
func RandomizedResponse(epsilon float64, k int64) (Curve, error) {
	if err := errors.Join(positive("epsilon", epsilon), atLeast("categories", k, 2)); err != nil {
		return nil, err
	}
	logR := -special.LogAdd(epsilon, math.Log(float64(k-1)))
	return bounded(func(alpha float64) float64 {
		b := alpha - 1
		switch {
		case math.IsInf(alpha, 1):
			return epsilon
		case b == 0:
			return epsilon * math.Exp(logR+special.LogExpm1(epsilon))
		}
		v := special.Log1pExp(logR+special.Log1mExp(-b*epsilon)+special.LogExpm1(alpha*epsilon)) / b
		return math.Min(v, epsilon)
	}), nil
}

// BoundedRange returns the bound for a choice with log-ratios in an interval of length epsilon,
// such as the exponential mechanism: min(epsilon, t - 1 - log t + (alpha-1) epsilon²/8) with t =
// epsilon/(e^epsilon - 1), the largest Kullback-Leibler divergence and Hoeffding's slope.
func BoundedRange(epsilon float64) (Curve, error) {
	if err := positive("epsilon", epsilon); err != nil {
		return nil, err
	}
	logT := math.Log(epsilon) - special.LogExpm1(epsilon)
	kl := math.Exp(logT) - 1 - logT
	if epsilon < 1 { // t is near 1: t - 1 = -(e^epsilon - 1 - epsilon)/(e^epsilon - 1)
		kl = -special.Log1pmx(-special.Expm1mx(epsilon) / math.Expm1(epsilon))
	}
	return bounded(func(alpha float64) float64 {
		return math.Min(epsilon, kl+(alpha-1)*epsilon*epsilon/8)
	}), nil
}
