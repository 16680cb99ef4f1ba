package modeltest

import (
	"math"

	"privrec/internal/tensor"
)

// Rows copies a matrix into plain slices, so that an example computes from numbers alone.
func Rows(m tensor.Matrix) [][]float64 {
	rows := make([][]float64, m.Rows)
	for i := range rows {
		rows[i] = make([]float64, m.Cols)
		for j, v := range tensor.Row(m, i) {
			rows[i][j] = float64(v)
		}
	}
	return rows
}

// Dot returns the inner product of two vectors of equal length.
func Dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// Affine returns W x + b for weights of shape (out, in); a nil b adds nothing.
func Affine(w [][]float64, x, b []float64) []float64 {
	y := make([]float64, len(w))
	for i := range w {
		if y[i] = Dot(w[i], x); b != nil {
			y[i] += b[i]
		}
	}
	return y
}

// Sigmoid returns 1/(1+exp(-x)).
func Sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
