package correlated

import (
	"math"
	"testing"
)

// TestDescend finds the lowest points of functions whose lowest points are known.
func TestDescend(t *testing.T) {
	bowl := func(x []float64) float64 { return 1 + (x[0]-3)*(x[0]-3) }
	valley := func(x []float64) float64 { // of Rosenbrock, whose lowest point is 1, 1
		return 1 + 100*math.Pow(x[1]-x[0]*x[0], 2) + math.Pow(1-x[0], 2)
	}
	half := func(x []float64) float64 {
		if x[0] < 0 {
			return math.NaN()
		}
		return 1 + x[0]
	}
	for name, c := range map[string]struct {
		f           func([]float64) float64
		start, want []float64
	}{
		"bowl": {bowl, []float64{-7}, []float64{3}}, "valley": {valley, []float64{-1.2, 1}, []float64{1, 1}},
		"edge": {half, []float64{2}, []float64{0}},
	} {
		x, v := descend(c.start, c.f)
		for i := range x {
			if math.Abs(x[i]-c.want[i]) > 1e-3 || v != c.f(x) {
				t.Errorf("%s: value %v at %v, want the point %v", name, v, x, c.want)
			}
		}
	}
}
