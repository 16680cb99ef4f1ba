package local

import (
	"math"
	"testing"

	"privrec/internal/privacy/mechanism"
)

// driftLaw is the exact law of the sum that a responder watches, after n values x of
// k categories, by convolution on a grid of 1/(2(k-1)).
func driftLaw(m Response, x, n int) (law []float64, centre int, unit float64) {
	k := int(m.Categories)
	others := float64(k - 1)
	mean := (others*(others+1)/2 - float64(x)) / others
	unit = 1 / (2 * others)
	reach := int(math.Ceil(float64(k)/unit)) + 1
	one := make([]float64, 2*reach+1)
	one[reach] += m.Keep()
	for y := range k {
		if y != x {
			one[reach+int(math.Round((float64(y)-mean)/unit))] += m.Other()
		}
	}
	law, centre = []float64{1}, 0
	for range n {
		next := make([]float64, len(law)+2*reach)
		for i, p := range law {
			if p == 0 {
				continue
			}
			for j, q := range one {
				if q != 0 {
					next[i+j] += p * q
				}
			}
		}
		law, centre = next, centre+reach
	}
	return law, centre, unit
}

// The drift of replaced values leaves its band with at most e^-x on each side, by
// the exact law of what randomised response replaces.
func TestDriftBand(t *testing.T) {
	for _, m := range []Response{{Epsilon: 0.1, Categories: 2}, {Epsilon: 1, Categories: 3}, {Epsilon: 3, Categories: 6}} {
		for _, n := range []int{1, 4, 12} {
			for x := range 2 {
				law, centre, unit := driftLaw(m, x, n)
				r := m.responder()
				v := (1 - m.Keep()) * float64(m.Categories) * float64(m.Categories) / 4
				total := 0.0
				for _, tail := range []float64{0.5, 2, 5} {
					above, below := 0.0, 0.0
					total = 0
					for i, p := range law {
						total += p
						c := mechanism.Drift{What: "w", N: int64(n), B: r.moved.B, V: float64(n) * v, Sum: float64(i-centre) * unit}
						if c.Check("p", tail) == nil {
							continue
						}
						if c.Sum > 0 {
							above += p
						} else {
							below += p
						}
					}
					if limit := math.Exp(-tail) * (1 + 1e-9); above > limit || below > limit {
						t.Errorf("%+v, %d values of %d, x %g: outside with %g and %g", m, n, x, tail, above, below)
					}
				}
				if math.Abs(total-1) > 1e-12 {
					t.Fatalf("mass %g", total)
				}
				// The watch adds up what the law is of: the mean of its sum is 0.
				sum := 0.0
				for i, p := range law {
					sum += p * float64(i-centre) * unit
				}
				if math.Abs(sum) > 1e-12*float64(n)*float64(m.Categories) {
					t.Errorf("%+v: the drift has mean %g", m, sum)
				}
			}
		}
	}
}
