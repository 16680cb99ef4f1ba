package rdp

import "math"

// DeltaAt returns the delta of a divergence at one order, at most 1.
func DeltaAt(c Conversion, rdp, alpha, epsilon float64) float64 {
	return math.Min(1, math.Exp(logDelta(c, rdp, alpha, epsilon)))
}
