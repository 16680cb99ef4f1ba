package channel

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The same for the Laplace law, whose sizes add up to a gamma law; and the bands
// are not much wider than they need be.
func TestLaplaceBandsAreAsRareAsStated(t *testing.T) {
	size := func(t float64) float64 { return -math.Log1p(-t) }
	for _, x := range []float64{1, 5, 15, 23} {
		for _, n := range []float64{1, 2, 10, 150, 48_000} {
			gamma := distuv.Gamma{Alpha: n, Beta: 1}
			high := Chernoff(size, 1, n, x)
			low := -Chernoff(func(t float64) float64 { return size(-t) }, 1, n, x)
			if p := gamma.Survival(high); p > math.Exp(-x)*(1+1e-9)+1e-14 {
				t.Errorf("n %g, x %g: size above its band with probability %g", n, x, p)
			}
			if low > 0 {
				if p := gamma.CDF(low); p > math.Exp(-x)*(1+1e-9)+1e-14 {
					t.Errorf("n %g, x %g: size below its band with probability %g", n, x, p)
				}
			}
			if need := math.Sqrt(2*n*x) + x; high-n > 1.05*need+1 {
				t.Errorf("n %g, x %g: the band ends %g above its middle, want about %g", n, x, high-n, need)
			}
		}
	}
	if b := Chernoff(func(t float64) float64 { return -math.Log1p(-t * t) }, 1, 1, 20); 0.5*math.Exp(-b) > math.Exp(-20) {
		t.Errorf("one value is beyond %g with probability above exp(-20)", b)
	}
}
