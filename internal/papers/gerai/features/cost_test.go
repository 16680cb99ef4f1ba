package features

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/privacy/mechanism/local"
)

// CostOf against brute force on a number and two attributes: the log-ratio of an output is the sum
// over the drawn features, by the density of the piecewise mechanism on a coarse grid of outputs and
// by the probabilities of all vectors of bits; its maximum over subsets, rows and outputs, for rows
// that differ in m features, is CostOf(m). The mean over subsets, which would count sampling as
// protection, is less.
func TestCostByBruteForce(t *testing.T) {
	kinds := []local.FeatureKind{{Name: "number"}, {Name: "two", Categories: 2}, {Name: "three", Categories: 3}}
	for _, c := range []struct {
		epsilon float64
		draw, k int
	}{{1, 0, 1}, {5, 0, 2}, {8, 0, 3}, {4, 2, 2}} {
		f := local.FeatureSampler{Epsilon: c.epsilon, Features: kinds, Choose: c.draw}
		if f.K() != c.k {
			t.Fatalf("epsilon %g: k is %d", c.epsilon, f.K())
		}
		var worst []float64 // of each feature: the largest log-ratio of an output
		for _, k := range kinds {
			worst = append(worst, worstOf(k, f.PerFeature()))
		}
		for m := 1; m <= len(kinds); m++ {
			largest, mean, subsets := 0.0, 0.0, 0.0
			for a := range 1 << len(kinds) {
				if bits(a) != f.K() {
					continue
				}
				at := 0.0
				for d := range 1 << len(kinds) { // the features that differ
					if bits(d) != m {
						continue
					}
					sum := 0.0
					for i := range kinds {
						if a>>i&1 == 1 && d>>i&1 == 1 {
							sum += worst[i]
						}
					}
					largest = max(largest, sum)
					if d == 1<<m-1 {
						at = sum
					}
				}
				mean += at
				subsets++
			}
			if got := CostOf(f, m); math.Abs(got-largest) > 1e-9 {
				t.Errorf("epsilon %g, %d drawn, %d differ: %g, by brute force %g", c.epsilon, f.K(), m, got, largest)
			}
			if m == 1 && c.k < len(kinds) && mean/subsets > largest-0.1 {
				t.Errorf("epsilon %g, %d differ: the mean over subsets, %g, would pass for the maximum", c.epsilon, m, mean/subsets)
			}
		}
	}
}

func bits(a int) (n int) {
	for ; a > 0; a >>= 1 {
		n += a & 1
	}
	return n
}

// worstOf is the largest log-ratio of an output of one feature, over pairs of inputs.
func worstOf(k local.FeatureKind, e float64) (worst float64) {
	if k.Categories == 0 {
		m := local.Piecewise{Epsilon: e}
		for i := range 41 {
			y := m.C() * (float64(i)/20 - 1)
			for _, x := range []float64{-1, -0.5, 0, 0.5, 1} {
				for _, z := range []float64{-1, -0.5, 0, 0.5, 1} {
					worst = max(worst, math.Log(m.Density(y, x)/m.Density(y, z)))
				}
			}
		}
		return worst
	}
	u := local.UnaryEncoding{Epsilon: e}
	vector := func(on int) []bool {
		v := make([]bool, k.Categories)
		v[on] = true
		return v
	}
	for out := range 1 << k.Categories {
		y := make([]bool, k.Categories)
		for i := range y {
			y[i] = out>>i&1 == 1
		}
		for a := range k.Categories {
			for b := range k.Categories {
				if x, z := vector(a), vector(b); !slices.Equal(x, z) {
					worst = max(worst, math.Log(u.Probability(y, x)/u.Probability(y, z)))
				}
			}
		}
	}
	return worst
}
