package special

import (
	"math"

	"privrec/internal/privacy/binomial"
)

// LogBinomial returns the logarithm of the binomial coefficient n over k, -Inf where it is 0 (k < 0
// or k > n). It is right to a few units in the last place of the logarithm for n up to 2^53.
// Differences of log-gammas would lose 1e-16 log(n!).
//
// With Stirling's series for the three factorials the large terms combine into k log(n/k) + (n-k)
// log(n/(n-k)), a sum of positive terms (Loader, "Fast and accurate computation of binomial
// probabilities", 2000).
func LogBinomial(n, k int) float64 {
	if n < 0 || k < 0 || k > n {
		return math.Inf(-1)
	}
	k = min(k, n-k)
	if k == 0 {
		return 0
	}
	if n <= 61 { // C(61, 30) times 61 is below 2^63
		c := uint64(1)
		for i := range k {
			c = c * uint64(n-i) / uint64(i+1)
		}
		return math.Log(float64(c))
	}
	x, y := float64(n), float64(k)
	if k <= 3 {
		s := 0.0
		for i := range k {
			s += math.Log((x - float64(i)) / float64(i+1))
		}
		return s
	}
	z := x - y
	main := y*math.Log(x/y) - z*math.Log1p(-y/x)
	return main + (binomial.Stirling(x) - binomial.Stirling(y) - binomial.Stirling(z)) - 0.5*math.Log(2*math.Pi*y*(z/x))
}
