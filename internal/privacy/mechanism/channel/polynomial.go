package channel

import (
	"fmt"
	"math"

	"privrec/internal/privacy/mechanism"
)

// Polynomial holds the coefficients of a polynomial of degree 2 in a vector w. Quadratic holds those of the monomials
// w_m w_n with m <= n, row by row, (d+1)d/2 of them: the set Phi_2 of the functional mechanism. Splitting a monomial
// into the two ordered products, as d² coefficients, would not change the sensitivity and would double the variance of
// their sum.
type Polynomial[T mechanism.Float] struct {
	Constant  T
	Linear    []T
	Quadratic []T
}

// at returns the index of the monomial w_m w_n, m <= n, in Quadratic.
func (p *Polynomial[T]) at(m, n int) int { return m*len(p.Linear) - m*(m+1)/2 + n }

// Coefficient returns the coefficient of the monomial w_m w_n, in either order.
func (p *Polynomial[T]) Coefficient(m, n int) T { return p.Quadratic[p.at(min(m, n), max(m, n))] }

// Value returns the value of the polynomial at w.
func (p *Polynomial[T]) Value(w []T) float64 {
	v := float64(p.Constant)
	k := 0
	for m, x := range w {
		v += float64(p.Linear[m]) * float64(x)
		for _, y := range w[m:] {
			v += float64(p.Quadratic[k]) * float64(x) * float64(y)
			k++
		}
	}
	return v
}

// Gradient adds the gradient at w to dst.
func (p *Polynomial[T]) Gradient(dst, w []T) {
	k := 0
	for m := range w {
		dst[m] += p.Linear[m]
		for n := m; n < len(w); n++ {
			q := p.Quadratic[k]
			dst[m] += q * w[n]
			dst[n] += q * w[m] // the diagonal twice: the derivative of w² is 2w
			k++
		}
	}
}

// The Taylor coefficients of ln(1 + e^-x) at 0: ln 2 - x/2 + x²/8. The next term is -x⁴/192, so
// the error is below 0.006 for |x| <= 1.
const (
	logisticConstant  = math.Ln2
	logisticLinear    = -0.5
	logisticQuadratic = 0.125
)

// AddLogistic adds weight times the degree-2 Taylor form of ln(1 + exp(-w.q)) to the
// polynomial. With q = q_uv - q_uv' that is one triple of the ranking loss of the GERAI paper
// (equation 17); with q = y x, y = ±1, it is one example of a logistic regression. It fails on
// a value of q outside [-1, 1], on which the sensitivity relies. The mean over n examples has
// weight 1/n.
func (p *Polynomial[T]) AddLogistic(weight float64, q []T) error {
	if len(q) != len(p.Linear) {
		return fmt.Errorf("logistic loss of %d values in %d variables", len(q), len(p.Linear))
	}
	for i, x := range q {
		if !(x >= -1 && x <= 1) {
			return fmt.Errorf("value %d is %v, want within [-1, 1]: the sensitivity does not hold", i, x)
		}
	}
	p.Constant += T(weight * logisticConstant)
	k := 0
	for m, x := range q {
		p.Linear[m] += T(weight * logisticLinear * float64(x))
		p.Quadratic[k] += T(weight * logisticQuadratic * float64(x) * float64(x))
		k++
		for _, y := range q[m+1:] { // x y and y x
			p.Quadratic[k] += T(weight * 2 * logisticQuadratic * float64(x) * float64(y))
			k++
		}
	}
	return nil
}

// PaperLogisticSensitivity returns the sensitivity of lemma 4.3 of the GERAI paper, d + d²/4.
func PaperLogisticSensitivity(dim int) float64 { d := float64(dim); return d + d*d/4 }
