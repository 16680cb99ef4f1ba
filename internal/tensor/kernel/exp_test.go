package kernel

import (
	"math"
	"testing"
)

// curves are the transcendental kernels with their bound in units in the last
// place, over every float32 exponent and the special values.
var curves = []struct {
	name string
	run  func(x, y []Float)
	want func(x float64) float64
	ulps float64
}{
	{"exp", func(x, y []Float) { ExpSum(0, x, y) }, math.Exp, 2},
	{"sigmoid", Sigmoid, func(x float64) float64 {
		if x < 0 { // 1/(1+exp(-x)) rounds badly here even in float64
			return math.Exp(x) / (1 + math.Exp(x))
		}
		return 1 / (1 + math.Exp(-x))
	}, 4},
	{"tanh", Tanh, math.Tanh, 3},
}

// arguments returns float32 values: specials, borders, a walk over all bit
// patterns, and a fine grid where the curves bend.
func arguments() []Float {
	inf := math.Inf(1)
	var all []Float
	for _, x := range []float64{0, inf, math.NaN(), 1e-45, 1e-40, 1.1754944e-38, 87.33654, 88.02969, 88.72283, 88.722839, 88.72285, 89, 103.2789, 103.97207, 103.9721,
		104, 105, 150, 1e30, 3.4e38, 0.62499994, 0.625, 0.62500006, 9.01, 9.02, 0.34657359, 0.34657362, math.Ln2} {
		all = append(all, Float(float32(x)), Float(-float32(x)))
	}
	for b := uint64(0); b < 1<<32; b += 65521 { // a prime stride
		if x := math.Float32frombits(uint32(b)); x == x {
			all = append(all, Float(x))
		}
	}
	for x := float32(-110); x < 110; x += 0.0017 {
		all = append(all, Float(x))
	}
	return all
}

// ulp is the spacing of Float at y, that of the denormals at least.
func ulp(y float64) float64 {
	low := 0x1p-149
	if !single {
		low = 0x1p-1074
	}
	return max(unit()*math.Abs(y), low)
}

func TestCurves(t *testing.T) {
	x := arguments()
	for _, c := range curves {
		eachLevel(t, func(t *testing.T) {
			y := make([]Float, len(x))
			c.run(x, y)
			worst, at := 0.0, Float(0)
			for i := range x {
				want := c.want(float64(x[i]))
				rounded := float64(Float(want)) // where it overflows
				if near(y[i], rounded, 0) {
					continue
				}
				e := math.Abs(float64(y[i])-want) / ulp(want)
				if !(e <= worst) {
					worst, at = e, x[i]
				}
			}
			t.Logf("%s: worst error %.2f ulp at %g", c.name, worst, at)
			if !(worst <= c.ulps) {
				t.Errorf("%s: error %.2f ulp at %g, want %g at most", c.name, worst, at, c.ulps)
			}
		})
	}
}

// TestCurvesTails runs every length, in place too, and checks the bounds.
func TestCurvesTails(t *testing.T) {
	for _, c := range curves {
		eachLevel(t, func(t *testing.T) {
			for n := range 70 {
				whole := make([]Float, n+40)
				for i := range whole {
					whole[i] = Float(math.NaN())
				}
				x := whole[20 : 20+n]
				for i := range x {
					x[i] = Float(i)/8 - 4
				}
				c.run(x, x)
				for i, v := range x {
					if want := c.want(float64(i)/8 - 4); !near(v, want, c.ulps*ulp(want)) {
						t.Fatalf("%s, length %d, element %d: %g, want %g", c.name, n, i, v, want)
					}
				}
				checkFence(t, n, whole)
			}
		})
	}
}

func TestExpSum(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := range 100 {
			x, y := make([]Float, n), make([]Float, n)
			var want float64
			for i := range x {
				x[i] = Float(i%13) + 80
				want += math.Exp(float64(i%13) - 12)
			}
			if got := ExpSum(92, x, y); !near(got, want, 8*unit()*want) {
				t.Fatalf("sum of %d: %g, want %g", n, got, want)
			}
		}
	})
}
