// Package modeltest helps the tests of models that score all items for users.
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

// Score is the scores of users, (len(users), Items()).
func Score(t testing.TB, m Scorer, users []int32) tensor.Matrix {
	t.Helper()
	out := tensor.New(len(users), m.Items())
	if err := m.Score(autograd.NewTape(), users, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Everyone is 0..n-1.
func Everyone(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}
