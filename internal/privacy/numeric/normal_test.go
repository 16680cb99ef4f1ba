package numeric

import (
	"fmt"
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

// Values in 60-digit arithmetic (mpmath).
func TestMills(t *testing.T) {
	for _, c := range [][2]float64{
		{-0.25, 1.548372621547658}, {0, 1.2533141373155003}, {0.5, 0.8763644564536923}, {1.9999, 0.4213849559764444},
		{2, 0.4213692292880545}, {2.5, 0.35426511132979366}, {5, 0.19280810471531576}, {30, 0.03329641907249721},
		{10000.0, 9.999999900000004e-05},
	} {
		near(t, fmt.Sprintf("Mills(%v)", c[0]), Mills(c[0]), c[1], 1e-14)
	}
}

// Values in 60-digit arithmetic (mpmath): the integral of the slope, the plain
// difference, and where subtraction would leave nothing.
func TestMillsDifference(t *testing.T) {
	for _, c := range [][3]float64{
		{-0.25, 0.5, 0.5105480456939314}, {-0.25, 1e-09, 1.3870931544393416e-09}, {0, 0.001, 0.000999373676108078},
		{0, 0.5, 0.3769496808618079}, {0, 0.51, 0.3825382228822219}, {0, 3, 0.948723838605397}, {1.9, 0.3, 0.045720020034012716},
		{5, 1e-06, 3.595946991806102e-08}, {5, 0.4999, 0.01648209654991212}, {30, 0.2, 0.00022002358234733197},
		{10000.0, 0.1, 9.999899701006005e-10}, {10000.0, 100, 9.900989804911395e-07},
	} {
		near(t, fmt.Sprintf("MillsDifference(%v, %v)", c[0], c[1]), MillsDifference(c[0], c[1]), c[2], 2e-14)
	}
}
