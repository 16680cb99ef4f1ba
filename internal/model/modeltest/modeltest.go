// Package modeltest helps the tests and the examples of models: it scores all items for
// users, and it does arithmetic over plain slices for what an example computes by loops.
package modeltest

import (
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
