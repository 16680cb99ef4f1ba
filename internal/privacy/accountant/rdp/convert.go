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
