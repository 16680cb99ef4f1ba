package correlated

import (
	"math"
	"testing"
)

// TestLBFGS finds the lowest points of functions whose lowest points are known.
func TestLBFGS(t *testing.T) {
	valley := func(x []float64) (float64, []float64) { // of Rosenbrock
		rise := x[1] - x[0]*x[0]
		return 1 + 100*rise*rise + (1-x[0])*(1-x[0]), []float64{-400*x[0]*rise - 2*(1-x[0]), 200 * rise}
	}
	bowl := func(x []float64) (float64, []float64) { // of curvatures 1 to 1e4, lowest at 1, 2, 3 and so on
		v, slope := 1.0, make([]float64, len(x))
		for i := range x {
			curve, far := math.Pow(1e4, float64(i)/float64(len(x)-1)), x[i]-float64(i+1)
			v += curve * far * far / 2
			slope[i] = curve * far
		}
		return v, slope
	}
	flat := func([]float64) (float64, []float64) { return 3, []float64{0} }
	ten := make([]float64, 10)
	for i := range ten {
		ten[i] = float64(i + 1)
	}
	for name, c := range map[string]struct {
		f           func([]float64) (float64, []float64)
		start, want []float64
	}{
		"valley": {valley, []float64{-1.2, 1}, []float64{1, 1}}, "bowl": {bowl, make([]float64, 10), ten},
		"flat": {flat, []float64{7}, []float64{7}},
	} {
		x := lbfgs(c.start, c.f)
		for i := range x {
			if math.Abs(x[i]-c.want[i]) > 1e-4*c.want[i] {
				t.Errorf("%s: the point %v, want %v", name, x, c.want)
			}
		}
		before, _ := c.f(c.start)
		if after, _ := c.f(x); after > before {
			t.Errorf("%s: value %v from %v", name, after, before)
		}
	}
}

// TestDot holds products of every length around four against a plain loop.
func TestDot(t *testing.T) {
	for n := range 10 {
		a, b, want := make([]float64, n+n%2), make([]float64, n+1), 0.0
		for i := range a {
			a[i] = float64(i + 1)
		}
		for i := range b {
			b[i] = float64(3 - i)
		}
		for i := range min(len(a), len(b)) {
			want += a[i] * b[i]
		}
		if got := dot(a, b); got != want {
			t.Errorf("%v times %v is %v, want %v", a, b, got, want)
		}
	}
}
