package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Student's t through the regularised incomplete beta function (Abramowitz and Stegun
// 26.7.1). Package distuv has it too, and brings a linear algebra library along that
// nothing else in the program needs.

// studentTail returns Pr[T <= -|t|] for T of Student's law with nu > 0 degrees of freedom.
func studentTail(t, nu float64) float64 {
	return 0.5 * mathext.RegIncBeta(nu/2, 0.5, nu/(nu+t*t))
}

// studentQuantile returns the t with Pr[T <= t] = p, for p in [1/2, 1).
func studentQuantile(p, nu float64) float64 {
	x := mathext.InvRegIncBeta(nu/2, 0.5, 2*(1-p))
	return math.Sqrt(nu * (1 - x) / x)
}
