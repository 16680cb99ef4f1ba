package dpfactor

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The solution solves the equations: A x = b for A = lambda I + sum of x x'.
func TestSolve(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, terms := rapid.IntRange(1, 12).Draw(rt, "n"), rapid.IntRange(0, 20).Draw(rt, "terms")
		lambda := rapid.SampledFrom([]float64{1e-3, 1, 50}).Draw(rt, "lambda")
		number := rapid.Float64Range(-2, 2)
		full, s := make([]float64, n*n), newSquare(n)
		s.reset(7) // what was there before does not stay
		s.reset(lambda)
		for i := range n {
			full[i*n+i] = lambda
		}
		for range terms {
			x := rapid.SliceOfN(number, n, n).Draw(rt, "x")
			s.add(x)
			for i := range n {
				for j := range n {
					full[i*n+j] += x[i] * x[j]
				}
			}
		}
		b := rapid.SliceOfN(number, n, n).Draw(rt, "b")
		x := append([]float64{}, b...)
		s.factor()
		s.solve(x)
		for i := range n {
			sum := 0.0
			for j := range n {
				sum += full[i*n+j] * x[j]
			}
			if math.Abs(sum-b[i]) > 1e-8 {
				rt.Fatalf("row %d: %g, want %g", i, sum, b[i])
			}
		}
	})
}
