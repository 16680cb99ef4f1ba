package channel

import "privrec/internal/privacy/mechanism"

// NewPolynomial returns the zero polynomial in dim variables.
func NewPolynomial[T mechanism.Float](dim int) *Polynomial[T] {
	return &Polynomial[T]{Linear: make([]T, dim), Quadratic: make([]T, dim*(dim+1)/2)}
}

// LogisticSensitivity returns the l1 distance between the coefficients of degree 1 and 2 of two
// data sets' sums of AddLogistic with weight 1, in dim variables. It leaves out the constant,
// which depends only on the number of examples and is not released.
//
// Adding or removing one example: |q|_1/2 + |q|_1²/8, at most d/2 + d²/8.
//
// Replacing one example q by r: with s = (q+r)/2, t = (q-r)/2 the coefficients move by |t|_1
// and by
// s t' + t s'|_1/4 <= |s|_1 |t|_1/2, and |s_m| + |t_m| <= 1. So the distance is at most
// T + (d - T) T/2 with T = |t|_1 <= d, largest at T = 1 + d/2: (d+2)²/8 from d = 2 on, and 1
// for d = 1. It is attained (signs flipped in T places; for odd d one place goes from 1 to 0).
//
// The GERAI paper (lemma 4.3) has d + d²/4 for replacing, twice the largest norm. That is valid
// and almost twice too large: 960 for d = 60, where 480.5 is enough.
func LogisticSensitivity(dim int, replace bool) float64 {
	d := float64(dim)
	switch {
	case !replace:
		return d/2 + d*d/8
	case dim == 1:
		return 1
	}
	return (d + 2) * (d + 2) / 8
}
