package attribute

import (
	"math"
	"testing"
)

// TestExpectedLogistic compares the mean of the logistic function under a normal law with a sum over a fine grid. The
// five error functions are within 2e-3 of the logistic function.
func TestExpectedLogistic(t *testing.T) {
	for _, mean := range []float64{-6, -1.5, -0.2, 0, 0.7, 3, 40} {
		for _, variance := range []float64{1e-4, 0.3, 1} {
			sum, mass := 0.0, 0.0
			for z := -10.0; z <= 10; z += 1e-3 {
				w := math.Exp(-z * z / 2)
				sum, mass = sum+w*logistic(mean+math.Sqrt(variance)*z), mass+w
			}
			if got := expectedLogistic(mean, variance); math.Abs(got-sum/mass) > 2e-3 {
				t.Errorf("mean %v, variance %v: %v, want %v", mean, variance, got, sum/mass)
			}
		}
	}
	// A mean that is lost beside one half still decides between two classes.
	if up, down := expectedLogistic(1e-40, 1), expectedLogistic(-1e-40, 1); !(down < 0.5 && 0.5 < up) || expectedLogistic(0, 1) != 0.5 || up-down > 1e-15 {
		t.Errorf("tiny means give %v and %v", down, up)
	}
	tr := &training{present: []int32{0, 1}}
	p := []float64{0, expectedLogistic(1e-40, 1)}
	if tr.share(p); Argmax(p) != 1 {
		t.Errorf("a tiny mean for class 1 gives %v", p)
	}
	p = []float64{0, expectedLogistic(-1e-40, 1)}
	if tr.share(p); Argmax(p) != 0 {
		t.Errorf("a tiny mean against class 1 gives %v", p)
	}
	tr.present = []int32{0, 2, 3}
	p = []float64{0, 0, 0, 0}
	if tr.share(p); p[1] != 0 || p[0] != 1.0/3 || p[3] != 1.0/3 {
		t.Errorf("three processes that are sure of the rest give %v", p)
	}
}
