package rdp

import (
	"fmt"
	"math"
)

// maxGroup is the largest group that Group takes, since it sums one term for each unit.
const maxGroup = 1 << 20

// Group bounds the divergence between data sets that differ in k units, by the curve for one unit:
//
//	D_k(alpha) <= sum over j = 1..k of w_j D(w'_j),  w'_j = k alpha - j + 1,  w_j = k alpha/w'_j
//
// It is the weak triangle inequality D_a(P,R) <= (a - 1/p)/(a-1) D_pa(P,Q) + D_(pa-1)/(p-1)(Q,R)
// (Mironov 2017, proposition 11) along the chain of single changes. Its p is the one that gives k²
// rho for a rho-zCDP mechanism, as in Bun and Steinke 2016, proposition 1.9. At no order is the
// bound above k times the pure epsilon. k is from 1 to 2^20.
func Group(c Curve, k int64) (Curve, error) {
	if err := atLeast("group size", k, 1); err != nil {
		return nil, err
	}
	if k > maxGroup {
		return nil, fmt.Errorf("group size is %d, want at most %d", k, maxGroup)
	}
	if k == 1 {
		return c, nil
	}
	n := float64(k)
	return bounded(func(alpha float64) float64 {
		if math.IsInf(alpha, 1) {
			return n * c(alpha)
		}
		pure := n * c(math.Inf(1))
		alpha = math.Max(alpha, 1+1e-9) // the inequality is for orders above 1; the divergence grows with the order
		s := 0.0
		for j := 1.0; j <= n; j++ {
			order := n*alpha - j + 1
			s += n * alpha / order * c(order)
		}
		return math.Min(s, pure)
	}), nil
}
