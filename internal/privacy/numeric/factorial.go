package numeric

import "math"

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
	return main + (Stirling(x) - Stirling(y) - Stirling(z)) - 0.5*math.Log(2*math.Pi*y*(z/x))
}

// Stirling returns log n! - log(sqrt(2 pi n) (n/e)^n), the error of Stirling's formula, for integer
// n >= 1.
func Stirling(n float64) float64 {
	if n < float64(len(stirlings)) {
		return stirlings[int(n)]
	}
	// 1/(12 n) - 1/(360 n³) + ...: the sixth term is below 1e-17 from n = 16 on.
	v := 1 / (n * n)
	return (1.0/12 - v*(1.0/360-v*(1.0/1260-v*(1.0/1680-v*(1.0/1188-v*691.0/360360))))) / n
}

// stirlings has the values for n = 0 (unused) to 15.
var stirlings = [...]float64{
	0, 0.081061466795327258219670264, 0.041340695955409294093822081, 0.0276779256849983391487892927,
	0.020790672103765093111522771, 0.0166446911898211921631948653, 0.013876128823070747998745727,
	0.0118967099458917700950557241,
	0.010411265261972096497478567, 0.0092554621827127329177286366, 0.008330563433362871256469318,
	0.0075736754879518407949720242,
	0.006942840107209529865664152, 0.0064089941880042070684396310, 0.005951370112758847735624416,
	0.0055547335519628013710386899,
}
