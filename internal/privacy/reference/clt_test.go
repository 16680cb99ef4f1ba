package reference

import (
	"math"
	"testing"
)

// The limit for batches of fixed size against 60-digit arithmetic, from little
// noise to very much, where the terms of the formula cancel to 1/sigma³.
func TestCLTMuUniform(t *testing.T) {
	for _, c := range []struct{ sigma, want float64 }{
		{0.5, 10.295670338513974025}, {1, 1.7101424755953306091}, {1.99, 0.63153379924039987245},
		{2, 0.62755264172883935248},
		{2.01, 0.62362155444465599231}, {5, 0.21746426777618665643}, {50, 0.020160953467674765607},
		{983, 0.0010177070376820152421},
		{1e5, 0.000010000039894398463488}, {1e9, 1.0000000003989422806e-9}, {1e15, 1.0000000000000003989e-15},
	} {
		if got := CLTMuUniform(1, c.sigma, 1); !(math.Abs(got-c.want) <= 1e-15*c.want) {
			t.Errorf("sigma %v: %.17g, want %.17g, relative error %.2g", c.sigma, got, c.want, (got-c.want)/c.want)
		}
		if got := CLTMuUniform(0.25, c.sigma, 16); !(math.Abs(got-c.want) <= 1e-15*c.want) {
			t.Errorf("sigma %v, rate 1/4, 16 steps: %.17g, want %.17g", c.sigma, got, c.want)
		}
	}
	// The two forms meet where one takes over, and the limit falls with sigma.
	at, last := 1/(cltSeries*math.Sqrt2), math.Inf(1)
	for _, s := range []float64{at / 2, at * (1 - 1e-12), at, at * (1 + 1e-12), at * 2} {
		got := CLTMuUniform(1, s, 1)
		if !(got < last) {
			t.Errorf("sigma %v: %.17g, after %.17g at less noise", s, got, last)
		}
		last = got
	}
}
