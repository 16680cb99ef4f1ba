package mechanismtest

import (
	"math"
	"math/big"
)

// SquareNorm returns the exact sum of squares: 4400 bits hold any two squares of float64
// numbers side by side, and their sums.
func SquareNorm[T ~float32 | ~float64](v []T) *big.Float {
	sum := new(big.Float).SetPrec(4400)
	for _, x := range v {
		y := new(big.Float).SetPrec(4400).SetFloat64(float64(x))
		sum.Add(sum, y.Mul(y, y))
	}
	return sum
}

// Message returns a matrix like an aggregation of messages of norm C: entries of the size of
// sigma, and rows of zeros.
func Message[T ~float32 | ~float64](rows, cols int) []T {
	x := make([]T, rows*cols)
	for i := range x {
		if i/cols%3 != 0 {
			x[i] = T(math.Sin(float64(i)) * 0.4)
		}
	}
	return x
}

// Apart returns the Euclidean distance of two vectors.
func Apart(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}
