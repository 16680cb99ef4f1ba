package rdp

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy/accountant/special"
)

// Laplace is the exact curve of Laplace noise of scale b on what moves by at most
// sensitivity D in the l1 norm (Mironov 2017, proposition 6). Both are positive
// and finite.
//
// With e = D/b and beta = alpha-1, e^(beta D) - 1 is ((beta+1) x(beta e) + beta
// x(-alpha e))/(2 beta+1) for x(y) = e^y - 1 - y >= 0: the linear parts cancel on
// paper, so that small e loses nothing.
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
			return special.Expm1mx(-e)
		case beta*e > 500:
			// log of the first term; the second is below 1.
			return math.Min(e, e+math.Log(alpha/(alpha+beta))/beta+math.Exp(-beta*e))
		}
		s := (alpha*special.Expm1mx(beta*e) + beta*special.Expm1mx(-alpha*e)) / (alpha + beta)
		return math.Min(e, math.Log1p(s)/beta)
	}), nil
}

// DiscreteLaplace is the exact curve of noise with P(k) proportional to
// e^(-|k|/b) on an integer that moves by at most D (in the l1 norm where there
// are several), both in grid steps. What is integer moves by whole steps, at
// least one: D is rounded accordingly.
func DiscreteLaplace(b, sensitivity float64) (Curve, error) {
	if err := errors.Join(positive("scale", b), positive("sensitivity", sensitivity)); err != nil {
		return nil, err
	}
	d := math.Max(1, math.Floor(sensitivity+1e-9))
	e := d / b
	if d > maxDirect {
		return discreteLaplaceFar(b, d), nil
	}
	// P is the law at distance d from Q's centre 0; the losses 2k-d over b.
	rho := -1 / b // log
	edge := -special.Log1pExp(rho)
	type atom struct{ mass, loss float64 }
	atoms := []atom{{math.Exp(edge), e}, {math.Exp(edge + d*rho), -e}}
	inner := special.Log1mExp(rho) + edge
	for k := 1.0; k < d; k++ {
		atoms = append(atoms, atom{math.Exp(inner + rho*(d-k)), (2*k - d) / b})
	}
	kl := 0.0
	for _, a := range atoms {
		if e > 1 {
			kl += a.mass * a.loss
		} else { // and e^-loss - 1, whose mean is 0
			kl += a.mass * special.Expm1mx(-a.loss)
		}
	}
	return bounded(func(alpha float64) float64 {
		beta := alpha - 1
		switch {
		case math.IsInf(alpha, 1):
			return e
		case beta == 0:
			return kl
		case beta*e > 500:
			s := newLogSum()
			for _, a := range atoms {
				s.add(math.Log(a.mass) + beta*a.loss)
			}
			return math.Min(e, s.log()/beta)
		}
		s := beta * kl
		for _, a := range atoms {
			s += a.mass * special.Expm1mx(beta*a.loss)
		}
		return math.Min(e, math.Log1p(s)/beta)
	}), nil
}

// maxDirect is the distance up to which the atoms of discrete noise are summed.
const maxDirect = 4096

// discreteLaplaceFar sums the geometric series of the inner atoms. What is left
// after subtracting 1 has an absolute error of a few 1e-16, which is added.
func discreteLaplaceFar(b, d float64) Curve {
	e := d / b
	return bounded(func(alpha float64) float64 {
		beta := alpha - 1
		if math.IsInf(alpha, 1) || beta*e > 500 {
			return e
		}
		beta = math.Max(beta, 1e-6) // the divergence grows with the order
		edge := -special.Log1pExp(-1 / b)
		g := (1 + 2*beta) / b // log-ratio of neighbouring inner terms
		inner := special.Log1mExp(-1/b) + edge - (1+beta)*e + special.LogExpm1(g*(d-1)) + g - special.LogExpm1(g)
		a := math.Exp(edge+beta*e) + math.Exp(edge-(1+beta)*e) + math.Exp(inner)
		return math.Min(e, math.Log(a*(1+4e-13*(1+beta*e))+1e-15)/beta)
	})
}

// LaplaceScale is the scale D/epsilon that makes one release epsilon-DP.
func LaplaceScale(epsilon, sensitivity float64) (float64, error) {
	if err := errors.Join(positive("epsilon", epsilon), positive("sensitivity", sensitivity)); err != nil {
		return 0, err
	}
	b := sensitivity / epsilon
	for sensitivity/b > epsilon {
		b = math.Nextafter(b, math.Inf(1))
	}
	return b, positive("scale", b)
}

// LaplaceVariance is the variance 2 b² of Laplace noise of scale b.
func LaplaceVariance(b float64) float64 { return 2 * b * b }

// LaplaceTail is the probability e^(-t/b) that Laplace noise of scale b is
// further than t >= 0 from 0.
func LaplaceTail(b, t float64) float64 { return math.Exp(-t / b) }

// LaplaceDelta is the exact delta of one release at epsilon >= 0:
// 1 - e^((epsilon - D/b)/2), and 0 from epsilon = D/b on.
func LaplaceDelta(b, sensitivity, epsilon float64) (float64, error) {
	if err := errors.Join(positive("scale", b), positive("sensitivity", sensitivity)); err != nil {
		return 0, err
	}
	if !(epsilon >= 0) {
		return 0, fmt.Errorf("epsilon is %v, want at least 0", epsilon)
	}
	return math.Max(0, -math.Expm1((epsilon-sensitivity/b)/2)), nil
}
