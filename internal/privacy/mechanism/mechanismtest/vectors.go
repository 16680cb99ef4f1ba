package mechanismtest

import (
	"math"
	"math/big"
)

// SquareNorm returns the exact sum of squares. Its 4400 bits hold the squares of any two float64 numbers, and their
// sums.
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

// Two128 returns 2^128.
func Two128() *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 128))
}

// Threshold returns a threshold of 128 bits as a number.
func Threshold(hi, lo uint64) *big.Rat {
	t := new(big.Int).SetUint64(hi)
	t.Lsh(t, 64)
	return new(big.Rat).SetInt(t.Add(t, new(big.Int).SetUint64(lo)))
}

// Log returns ln x as a float64.
func Log(x *big.Rat) float64 {
	f, _ := x.Float64()
	return math.Log(f)
}

// Above returns an upper bound of e^eps from the lower bound that thresholds are computed with.
func Above(x *big.Rat) *big.Rat {
	d := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 198))
	return d.Add(x, d.Mul(d, x))
}

// Float64 returns the nearest float64.
func Float64(x *big.Rat) float64 { f, _ := x.Float64(); return f }

// Rat returns a float64 as a fraction, exactly.
func Rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
