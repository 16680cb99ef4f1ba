// Package modeltest helps the tests and the examples of models: it scores all items for
// users, and it does arithmetic over plain slices for what an example computes by loops.
package modeltest

import (
	"math"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Scorer is a model that scores all its items for users.
type Scorer interface {
	Items() int
	Score(t *autograd.Tape, users []int32, scores tensor.Matrix) error
}

// Score returns the scores of users (len(users), Items()); an error ends the test.
func Score(t testing.TB, m Scorer, users []int32) tensor.Matrix {
	t.Helper()
	out := tensor.New(len(users), m.Items())
	if err := m.Score(autograd.NewTape(), users, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Everyone returns the users 0..n-1.
func Everyone(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

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
