package special

import (
	"math"
	"testing"
)

// The two branches of a difference of Mills ratios meet, and the slope agrees
// with a numerical derivative on both sides of its own split.
func TestMillsSeams(t *testing.T) {
	for _, x := range []float64{-0.2, 0, 0.5, 1.9999, 2, 2.0001, 5, 30, 1e4, 1e8} {
		if narrowest, split := MillsDifference(x, Narrow), Mills(x)-Mills(x+Narrow); math.Abs(narrowest/split-1) > 1e-13*(1+x*x) {
			t.Errorf("x %g: %g by integral, %g by difference", x, narrowest, split)
		}
		h := 1e-4 * (1 + math.Abs(x))
		if d := (Mills(x-h) - Mills(x+h)) / (2 * h); math.Abs(d/millsSlope(x)-1) > 1e-6 {
			t.Errorf("x %g: slope %g, numerically %g", x, millsSlope(x), d)
		}
	}
	// Known values: Mills(0) = sqrt(pi/2), Mills(2) and Mills(10) to 15 digits.
	for x, want := range map[float64]float64{0: math.Sqrt(math.Pi / 2), 2: 0.4213692292880545, 10: 0.0990285964717319} {
		if got := Mills(x); math.Abs(got/want-1) > 1e-14 {
			t.Errorf("Mills(%g) = %.16g, want %.16g", x, got, want)
		}
	}
}
