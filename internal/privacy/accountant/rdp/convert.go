package rdp

import (
	"fmt"
	"math"
)

// Conversion names a formula that turns a divergence at one order into a guarantee.
type Conversion string

const (
	Best    Conversion = "best"    // Tight, and epsilon 0 if delta is above the total variation
	Tight   Conversion = "tight"   // Balle et al. 2020, theorem 21
	Classic Conversion = "classic" // Mironov 2017, proposition 3
)

// Validate returns an error for a conversion that is not one of the constants. Empty means Best.
func (c Conversion) Validate() error {
	switch c {
	case "", Best, Tight, Classic:
		return nil
	}
	return fmt.Errorf("unknown conversion %q, want %s, %s or %s", string(c), Best, Tight, Classic)
}

// ClassicEpsilon returns rdp + log(1/delta)/(alpha-1) for alpha > 1, delta in (0, 1).
func ClassicEpsilon(rdp, alpha, delta float64) float64 { return rdp - math.Log(delta)/(alpha-1) }

// TightEpsilon returns rdp + log(1-1/alpha) - log(delta alpha)/(alpha-1) for alpha > 1, delta in
// (0, 1). It can be negative, which means 0.
func TightEpsilon(rdp, alpha, delta float64) float64 {
	if math.IsInf(alpha, 1) {
		return rdp
	}
	return rdp + math.Log1p(-1/alpha) - math.Log(delta*alpha)/(alpha-1)
}

// ClassicDelta returns e^((alpha-1)(rdp-epsilon)), at most 1.
func ClassicDelta(rdp, alpha, epsilon float64) float64 {
	return math.Min(1, math.Exp(logDelta(Classic, rdp, alpha, epsilon)))
}

// TightDelta returns e^((alpha-1)(rdp-epsilon+log(1-1/alpha)))/alpha, at most 1.
func TightDelta(rdp, alpha, epsilon float64) float64 {
	return math.Min(1, math.Exp(logDelta(Tight, rdp, alpha, epsilon)))
}

// TotalVariation returns an upper bound on the total variation distance, which is delta at epsilon 0. kl is the
// Kullback-Leibler divergence, or any Rényi divergence of higher order, which is larger. The bound is the smaller of
// Pinsker's sqrt(kl/2) and Bretagnolle and Huber's sqrt(1-e^-kl).
func TotalVariation(kl float64) float64 { return math.Sqrt(math.Min(kl/2, -math.Expm1(-kl))) }

// epsilonAt returns the epsilon of a divergence at one order.
func epsilonAt(c Conversion, rdp, alpha, delta float64) float64 {
	switch {
	case math.IsInf(rdp, 1):
		return rdp
	case c == Classic:
		return ClassicEpsilon(rdp, alpha, delta)
	case c != Tight && TotalVariation(rdp) <= delta:
		return 0
	case alpha <= 1:
		return math.Inf(1)
	}
	return TightEpsilon(rdp, alpha, delta)
}

// logDelta returns the logarithm of the delta of a divergence at one order.
func logDelta(c Conversion, rdp, alpha, epsilon float64) float64 {
	if math.IsInf(alpha, 1) {
		if rdp <= epsilon {
			return math.Inf(-1)
		}
		return 0
	}
	if c == Classic {
		return (alpha - 1) * (rdp - epsilon)
	}
	v := math.Inf(1)
	if alpha > 1 {
		v = (alpha-1)*(rdp-epsilon+math.Log1p(-1/alpha)) - math.Log(alpha)
	}
	if c != Tight {
		v = math.Min(v, math.Log(TotalVariation(rdp)))
	}
	return v
}

// ZCDPEpsilon returns rho + 2 sqrt(rho log(1/delta)), the classic epsilon of a rho-zCDP mechanism
// at its best order (Bun and Steinke 2016, proposition 1.3).
func ZCDPEpsilon(rho, delta float64) (float64, error) {
	if err := checkZCDP(rho, delta); err != nil {
		return 0, err
	}
	return rho + 2*math.Sqrt(-rho*math.Log(delta)), nil
}

// ZCDPTightEpsilon returns the tight epsilon of a rho-zCDP mechanism at its best order, where
// (alpha-1)² rho = -log(delta alpha). It is at least 0.
func ZCDPTightEpsilon(rho, delta float64) (float64, error) {
	if err := checkZCDP(rho, delta); err != nil {
		return 0, err
	}
	if rho == 0 {
		return 0, nil
	}
	b := rootUp(func(b float64) float64 { return b*b*rho + math.Log(delta) + math.Log1p(b) })
	return math.Max(0, TightEpsilon((1+b)*rho, 1+b, delta)), nil
}

// ZCDPTightDelta returns the tight delta of a rho-zCDP mechanism at epsilon >= 0 and its best
// order, where (2 alpha-1) rho - epsilon + log(1-1/alpha) = 0 (Canonne, Kamath, Steinke 2020,
// corollary 13). It is at most 1.
func ZCDPTightDelta(rho, epsilon float64) (float64, error) {
	if err := checkZCDP(rho, 0.5); err != nil {
		return 0, err
	}
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return 0, fmt.Errorf("epsilon is %v, want at least 0 and finite", epsilon)
	}
	if rho == 0 {
		return 0, nil
	}
	b := rootUp(func(b float64) float64 { return (2*b+1)*rho - epsilon - math.Log1p(1/b) })
	return TightDelta((1+b)*rho, 1+b, epsilon), nil
}

func checkZCDP(rho, delta float64) error {
	if !(rho >= 0) || math.IsInf(rho, 1) {
		return fmt.Errorf("rho is %v, want at least 0 and finite", rho)
	}
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("delta is %v, want between 0 and 1", delta)
	}
	return nil
}

// rootUp returns the root of an increasing function of a positive argument, by bisection of the logarithm.
func rootUp(f func(x float64) float64) float64 {
	lo, hi := -700.0, 700.0
	for range 200 {
		mid := (lo + hi) / 2
		if mid <= lo || mid >= hi {
			break
		}
		if f(math.Exp(mid)) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Exp(hi)
}
