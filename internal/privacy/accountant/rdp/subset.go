package rdp

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy/accountant/special"
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

// WithoutReplacement bounds a mechanism on a random subset of fixed size, for neighbours with one
// unit exchanged for another (Wang, Balle, Kasiviswanathan 2019, theorem 9): for whole n, (n-1)
// D(n) is at most
//
//	log(1 + q² C(n,2) min{4 (e^eps(2) - 1), e^eps(2) min(2, x²)}
//	      + sum from j=3 to n of q^j C(n,j) e^((j-1) eps(j)) min(2, x^j))
//
// with x = e^eps(inf) - 1. Without Capped it can exceed the curve without sampling, and it has a
// floor that no amount of noise removes.
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
	logX := special.LogExpm1(w.EpsInf)
	base, logQ := memo(w.Base), math.Log(w.Rate)
	raw := integers(func(n int) float64 {
		s := newLogSum()
		e2 := base(2)
		s.add(2*logQ + special.LogBinomial(n, 2) + math.Min(math.Log(4)+special.LogExpm1(e2), e2+math.Min(math.Ln2, square*logX)))
		for j := 3; j <= n; j++ {
			k := float64(j)
			s.add(k*logQ + special.LogBinomial(n, j) + (k-1)*base(j) + math.Min(math.Ln2, k*logX))
		}
		return s.log1p()
	})
	if !w.Capped {
		return raw, nil
	}
	top := math.Inf(1)
	if !math.IsInf(w.EpsInf, 1) {
		top = special.Log1pExp(logQ + logX)
	}
	return Min(raw, w.Base, bounded(func(float64) float64 { return top })), nil
}
