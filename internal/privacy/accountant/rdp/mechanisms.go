package rdp

import (
	"errors"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/numeric"
)

// Gaussian returns the curve alpha D²/(2 sigma²) of normal noise with standard deviation sigma on a value that moves by
// at most sensitivity D in the Euclidean norm (Mironov 2017, proposition 7). Both are positive and finite.
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

// RandomizedResponse returns the exact curve of a report of one of k >= 2 values: the true one with probability
// e^epsilon/(e^epsilon + k - 1), each other one with equal probability.
//
// If r is the probability of one wrong value, e^((alpha-1) D) - 1 is r (1 - e^(-(alpha-1) epsilon)) (e^(alpha epsilon)
// - 1), where no terms cancel.
func RandomizedResponse(epsilon float64, k int64) (Curve, error) {
	if err := errors.Join(positive("epsilon", epsilon), atLeast("categories", k, 2)); err != nil {
		return nil, err
	}
	logR := -numeric.LogAdd(epsilon, math.Log(float64(k-1)))
	return bounded(func(alpha float64) float64 {
		b := alpha - 1
		switch {
		case math.IsInf(alpha, 1):
			return epsilon
		case b == 0:
			return epsilon * math.Exp(logR+numeric.LogExpm1(epsilon))
		}
		v := numeric.Log1pExp(logR+numeric.Log1mExp(-b*epsilon)+numeric.LogExpm1(alpha*epsilon)) / b
		return math.Min(v, epsilon)
	}), nil
}

// BoundedRange returns the bound for a choice whose log-ratios lie in an interval of length epsilon, such as the
// exponential mechanism. It is min(epsilon, t - 1 - log t + (alpha-1) epsilon²/8) with t = epsilon/(e^epsilon - 1): the
// largest Kullback-Leibler divergence and Hoeffding's slope.
func BoundedRange(epsilon float64) (Curve, error) {
	if err := positive("epsilon", epsilon); err != nil {
		return nil, err
	}
	logT := math.Log(epsilon) - numeric.LogExpm1(epsilon)
	kl := math.Exp(logT) - 1 - logT
	if epsilon < 1 { // t is near 1: t - 1 = -(e^epsilon - 1 - epsilon)/(e^epsilon - 1)
		kl = -numeric.Log1pmx(-numeric.Expm1mx(epsilon) / math.Expm1(epsilon))
	}
	return bounded(func(alpha float64) float64 {
		return math.Min(epsilon, kl+(alpha-1)*epsilon*epsilon/8)
	}), nil
}

// Laplace returns the exact curve of Laplace noise of scale b on a value that moves by at most sensitivity D in the l1
// norm (Mironov 2017, proposition 6). Both are positive and finite.
//
// With e = D/b and beta = alpha-1, e^(beta D) - 1 is ((beta+1) x(beta e) + beta x(-alpha e))/(2 beta+1) for x(y) = e^y
// - 1 - y >= 0. The linear terms are cancelled by hand, so small e loses no digits.
func Laplace(b, sensitivity float64) (Curve, error) {
	if err := errors.Join(positive("scale", b), positive("sensitivity", sensitivity)); err != nil {
		return nil, err
	}
	e := sensitivity / b
	return bounded(func(alpha float64) float64 {
		beta := alpha - 1
		switch {
		case math.IsInf(alpha, 1) || math.IsInf(e, 1):
			return e
		case beta == 0:
			return numeric.Expm1mx(-e)
		case beta*e > 500:
			// log of the first term; the second is below 1.
			return math.Min(e, e+math.Log(alpha/(alpha+beta))/beta+math.Exp(-beta*e))
		}
		s := (alpha*numeric.Expm1mx(beta*e) + beta*numeric.Expm1mx(-alpha*e)) / (alpha + beta)
		return math.Min(e, math.Log1p(s)/beta)
	}), nil
}

// DiscreteLaplace returns the curve of noise with P(k) proportional to e^(-|k|/b) on an integer
// that moves by at most D (in the l1 norm if there are several), both in grid steps. Integers move
// by whole steps, at least one: D is rounded as privacy.WholeSteps does. Up to 4096 steps the curve
// is exact. Beyond, it is above the truth by at most 0.2 %.
func DiscreteLaplace(b, sensitivity float64) (Curve, error) {
	if err := errors.Join(positive("scale", b), positive("sensitivity", sensitivity)); err != nil {
		return nil, err
	}
	d := math.Max(1, privacy.WholeSteps(sensitivity))
	e := d / b
	// P is the law at distance d from Q's centre 0; the loss at k is (2k-d)/b.
	rho := -1 / b // log
	edge := -numeric.Log1pExp(rho)
	type atom struct{ mass, loss float64 }
	atoms := []atom{{math.Exp(edge), e}, {math.Exp(edge + d*rho), -e}}
	// Far distances come in blocks of n, each with the loss of its worse end.
	n := math.Max(1, math.Ceil((d-1)/maxDirect))
	for k := 1.0; k < d; k += n {
		size := math.Min(n, d-k)
		last := k + size - 1
		loss := (last - (d - last)) / b
		if first := (k - (d - k)) / b; math.Abs(first) > math.Abs(loss) {
			loss = first
		}
		atoms = append(atoms, atom{math.Exp(edge + numeric.Log1mExp(size*rho) + rho*(d-last)), loss})
	}
	kl := 0.0
	for _, a := range atoms {
		if e > 1 {
			kl += a.mass * a.loss
		} else { // and e^-loss - 1, which has the mean 0
			kl += a.mass * numeric.Expm1mx(-a.loss)
		}
	}
	return bounded(func(alpha float64) float64 {
		beta := alpha - 1
		switch {
		case math.IsInf(alpha, 1) || beta*e > 1e15: // a mass above 2^-52 e is all that e leaves out
			return e
		case beta == 0:
			return math.Min(e, kl)
		case beta*e > 500:
			s := newLogSum()
			for _, a := range atoms {
				s.add(math.Log(a.mass) + beta*a.loss)
			}
			return math.Min(e, s.log()/beta)
		}
		s := beta * kl
		for _, a := range atoms {
			s += a.mass * numeric.Expm1mx(beta*a.loss)
		}
		return math.Min(e, math.Log1p(s)/beta)
	}), nil
}

// maxDirect is the largest number of atoms of discrete noise that are summed one by one.
const maxDirect = 4096
