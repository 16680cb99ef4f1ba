// Package ggnntest computes the gated graph networks a second time, straight
// from their formulas: one session, dense n x n adjacency, float64, loops. Tests
// compare the packed implementations with it, so it shares only the parameters'
// values with them.
package ggnntest

import (
	"math"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Dense is a matrix, given by its rows.
type Dense [][]float64

// New returns a zero matrix.
func New(rows, cols int) Dense {
	m := make(Dense, rows)
	for i := range m {
		m[i] = make([]float64, cols)
	}
	return m
}

// Values copies the value of a parameter.
func Values(p *autograd.Param) Dense {
	m := New(p.Value.Rows, p.Value.Cols)
	for i := range m {
		for j, v := range tensor.Row(p.Value, i) {
			m[i][j] = float64(v)
		}
	}
	return m
}

// Mul returns the product a b.
func Mul(a, b Dense) Dense {
	y := New(len(a), len(b[0]))
	for i := range a {
		for k, x := range a[i] {
			for j := range y[i] {
				y[i][j] += x * b[k][j]
			}
		}
	}
	return y
}

// Affine returns W x + b for every row of x; b may be nil.
func Affine(w, b *autograd.Param, x Dense) Dense {
	weights := Values(w)
	y := New(len(x), len(weights))
	for i := range x {
		for j, row := range weights {
			y[i][j] = Dot(row, x[i])
			if b != nil {
				y[i][j] += float64(b.Value.Data[j])
			}
		}
	}
	return y
}

// Dot returns the inner product.
func Dot(x, y []float64) (s float64) {
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// Join puts the rows of several matrices side by side.
func Join(parts ...Dense) Dense {
	y := make(Dense, len(parts[0]))
	for i := range y {
		for _, p := range parts {
			y[i] = append(y[i], p[i]...)
		}
	}
	return y
}

// Repeat returns a matrix of n equal rows.
func Repeat(row []float64, n int) Dense { return slices.Repeat(Dense{row}, n) }

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
