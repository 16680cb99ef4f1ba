package rdp

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy/numeric"
)

// Variant names a form of theorem 9 of Wang, Balle and Kasiviswanathan.
type Variant string

const (
	// Theorem9 has the factor min(2, (e^eps(inf) - 1)²) in the term of degree 2, as the theorem and
	// its proof do.
	Theorem9 Variant = "theorem-9"
	// Printed is equation 5 of the RDP-GCF paper, which lacks the square. For eps(inf) below log 2
	// it is looser. Between log 2 and log 3 it is below what is proved. For Gaussian noise the two
	// agree.
	Printed Variant = "rdp-gcf"
)

// WithoutReplacement computes a bound on a mechanism that runs on a random subset of fixed size, for neighbours with
// one unit exchanged for another (Wang, Balle, Kasiviswanathan 2019, theorem 9): for whole n, (n-1) D(n) is at most
//
//	log(1 + q² C(n,2) min{4 (e^eps(2) - 1), e^eps(2) min(2, x²)}
//	      + sum from j=3 to n of q^j C(n,j) e^((j-1) eps(j)) min(2, x^j))
//
// with x = e^eps(inf) - 1. Without Capped it can exceed the curve without sampling, and there is a floor below which no
// amount of noise brings it.
type WithoutReplacement struct {
	Rate   float64 // share of the units that are in the subset, in (0, 1]
	Base   Curve   // without sampling, under Replace
	EpsInf float64 // largest log-ratio of the mechanism; +Inf for Gaussian noise
	// Theorem9 if empty; Printed is for comparison with the paper
	Variant Variant
	// Capped takes the minimum with Base and with log(1 + q (e^eps(inf) - 1)).
	Capped bool
}

// Curve returns the bound.
func (w WithoutReplacement) Curve() (Curve, error) {
	if w.Base == nil {
		return nil, errors.New("no base curve")
	}
	if err := fraction("sampling rate", w.Rate); err != nil {
		return nil, err
	}
	if !(w.EpsInf > 0) {
		return nil, fmt.Errorf("largest log-ratio is %v, want positive", w.EpsInf)
	}
	square := 2.0
	switch w.Variant {
	case "", Theorem9:
	case Printed:
		square = 1
	default:
		return nil, fmt.Errorf("unknown variant %q, want %s or %s", string(w.Variant), Theorem9, Printed)
	}
	logX := numeric.LogExpm1(w.EpsInf)
	base, logQ := memo(w.Base), math.Log(w.Rate)
	raw := integers(func(n int) float64 {
		s := newLogSum()
		e2 := base(2)
		s.add(2*logQ + numeric.LogBinomial(n, 2) + math.Min(math.Log(4)+numeric.LogExpm1(e2),
			e2+math.Min(math.Ln2, square*logX)))
		for j := 3; j <= n; j++ {
			k := float64(j)
			s.add(k*logQ + numeric.LogBinomial(n, j) + (k-1)*base(j) + math.Min(math.Ln2, k*logX))
		}
		return s.log1p()
	})
	if !w.Capped {
		return raw, nil
	}
	top := math.Inf(1)
	if !math.IsInf(w.EpsInf, 1) {
		top = numeric.Log1pExp(logQ + logX)
	}
	return Min(raw, w.Base, bounded(func(float64) float64 { return top })), nil
}

// WithoutReplacementGaussian returns the bound of theorem 27 of Wang, Balle and Kasiviswanathan for Gaussian noise. It
// is theorem 9 with a different factor for degree j where that is smaller: 4 sqrt(B(l) B(m)) in place of 2 e^((j-1)
// eps(j)), for the even numbers l and m next to j, with B(l) = E_Q[(P/Q - 1)^l]. q is the share of the units that are
// in the subset. s is the noise divided by the sensitivity under Replace; for a sum of clipped vectors that sensitivity
// is twice the clipping norm.
//
// The moments are computed as integrals of non-negative functions, by the trapezoid rule. As alternating sums they
// would lose every digit from s = 10 on. Like theorem 9 the bound can exceed that of the plain Gaussian; take the Min
// of the two.
func WithoutReplacementGaussian(q, s float64) (Curve, error) {
	if err := errors.Join(fraction("sampling rate", q), positive("noise multiplier", s)); err != nil {
		return nil, err
	}
	rho, logQ := 1/(2*s*s), math.Log(q)
	var even []float64 // log B(2), log B(4), ...
	moment := func(l int) float64 {
		for len(even) < l/2 {
			even = append(even, logCentralMoment(2*(len(even)+1), s))
		}
		return even[l/2-1]
	}
	term := func(j int) float64 {
		k := float64(j)
		raw := math.Ln2 + k*(k-1)*rho
		// By Minkowski and Cauchy-Schwarz sqrt(B B) is at least e^((j-1) eps(j)) (1 - e^(-(j-1)
		// rho))^j. If that factor is above a half the moments cannot be the smaller ones.
		if k*numeric.Log1mExp(-(k-1)*rho) >= -math.Ln2 {
			return raw
		}
		return math.Min(raw, math.Log(4)+(moment(j/2*2)+moment((j+1)/2*2))/2)
	}
	return integers(func(n int) float64 {
		sum := newLogSum()
		sum.add(2*logQ + numeric.LogBinomial(n, 2) + math.Min(math.Log(4)+numeric.LogExpm1(2*rho), math.Ln2+2*rho))
		for j := 3; j <= n; j++ {
			sum.add(float64(j)*logQ + numeric.LogBinomial(n, j) + term(j))
		}
		return sum.log1p()
	}), nil
}

// logCentralMoment returns log E_Q[(P/Q - 1)^l] for even l >= 2 between normal laws at a distance
// of 1/s standard deviations. The integrand is entire and has peaks of about unit width within
// sqrt(l) of 0 and at l/s.
func logCentralMoment(l int, s float64) float64 {
	const h = 0.25
	x := float64(l)
	wide := reach + math.Sqrt(x)
	from, to := int(math.Floor(-wide/h)), int(math.Ceil((wide+x/s)/h))
	logs := make([]float64, 0, to-from+1)
	top := math.Inf(-1)
	for n := from; n <= to; n++ {
		t := float64(n) * h
		w := t/s - 1/(2*s*s)
		v := x*math.Log(math.Abs(math.Expm1(w))) - t*t/2
		if w > 30 {
			v = x*numeric.LogExpm1(w) - t*t/2
		}
		top = math.Max(top, v)
		logs = append(logs, v)
	}
	sum := 0.0
	for _, v := range logs {
		if v-top > -45 {
			sum += math.Exp(v - top)
		}
	}
	return top + math.Log(sum) + math.Log(h/math.Sqrt(2*math.Pi))
}
