package rdp

import (
	"fmt"
	"math"
)

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

// rootUp returns the root of a growing function of a positive argument, by bisection of the
// logarithm.
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
