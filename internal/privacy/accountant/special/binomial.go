package special

import "math"

// LogBinomial is the logarithm of the binomial coefficient n over k, -Inf where
// it is 0 (k < 0 or k > n). It is right to a few units in the last place of the
// logarithm for n up to 2^53, where differences of log-gammas lose 1e-16 log(n!).
//
// With Stirling's series for the three factorials the large parts combine into
// k log(n/k) + (n-k) log(n/(n-k)), a sum of positive terms (Loader, "Fast and
// accurate computation of binomial probabilities", 2000).
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
	return main + (stirling(x) - stirling(y) - stirling(z)) - 0.5*math.Log(2*math.Pi*y*(z/x))
}

// stirling is log(x!) minus Stirling's (x+1/2) log x - x + log(2 pi)/2, for
// whole x >= 1.
func stirling(x float64) float64 {
	small := [...]float64{ // for 1 to 9
		0.08106146679532726, 0.04134069595540929, 0.02767792568499834, 0.02079067210376509, 0.01664469118982119,
		0.01387612882307075, 0.01189670994589177, 0.01041126526197209, 0.009255462182712733,
	}
	if x < 10 {
		return small[int(x)-1]
	}
	// The asymptotic series alternates: the error is below the first term left
	// out, 3617/(122400 x^15), which is 3e-17 at 10.
	y := 1 / (x * x)
	return (1.0/12 - y*(1.0/360-y*(1.0/1260-y*(1.0/1680-y*(1.0/1188-y*(691.0/360360-y*(1.0/156))))))) / x
}
