package rdp

import (
	"errors"
	"math"

	"privrec/internal/privacy/accountant/special"
)

// Poisson bounds a mechanism on a Poisson sample, for neighbours with and without one unit:
//
//	e^((n-1) D(n)) <= sum over k of C(n,k) (1-q)^(n-k) q^k e^((k-1) eps(k))
//
// for whole n. It is an equality in the direction of removal if Base is exact (Zhu and Wang,
// "Poisson subsampled Rényi differential privacy", ICML 2019, theorem 5 without its factor 3). That
// this direction is the larger one is proved for pairs of laws that a reflection exchanges
// (Mironov, Talwar, Zhang 2019, theorem 5): additive noise of an even density, such as Laplace and
// normal noise, continuous or on a grid. It does not hold for every mechanism.
type Poisson struct {
	Rate float64 // in (0, 1]
	Base Curve   // without sampling, of an additive mechanism with even noise
}

// Curve returns the bound, at most that of the mechanism without sampling.
func (p Poisson) Curve() (Curve, error) {
	if p.Base == nil {
		return nil, errors.New("no base curve")
	}
	if err := fraction("sampling rate", p.Rate); err != nil {
		return nil, err
	}
	if p.Rate == 1 {
		return p.Base, nil
	}
	base, in, out := memo(p.Base), math.Log(p.Rate), math.Log1p(-p.Rate)
	return Min(p.Base, integers(func(n int) float64 {
		s := newLogSum()
		for k := 2; k <= n; k++ {
			// The weights of all k sum to 1, so that 1 may be subtracted from every power.
			s.add(special.LogBinomial(n, k) + float64(k)*in + float64(n-k)*out + special.LogExpm1(float64(k-1)*base(k)))
		}
		return s.log1p()
	})), nil
}

// amplified returns the curve of an epsilon-DP mechanism on a sample: it is log(1 + q (e^epsilon -
// 1))-DP (Balle, Barthe, Gaboardi, NeurIPS 2018, theorems 8 and 9: Poisson with add-remove
// neighbours, without replacement with replace).
func amplified(q, epsilon float64) (Curve, error) {
	e := math.Log1p(q * math.Expm1(epsilon))
	if math.IsInf(e, 1) {
		e = special.Log1pExp(math.Log(q) + special.LogExpm1(epsilon))
	}
	if !(e > 0) {
		e = math.SmallestNonzeroFloat64
	}
	return PureDP(e)
}
