package ggnntest

import (
	"testing"

	"privrec/internal/autograd"
)

// Tiny returns a batch for gradient checks that holds every shape a session graph
// takes: a repeated item, a repeated transition, a self loop, a prefix of one
// item, two users, and one prefix twice.
func Tiny() Batch {
	return Batch{
		Items:     4,
		Sequences: [][]int32{{1, 2, 1, 2, 2, 3}, {3, 4, 1}},
		User:      []int32{0, 0, 0, 1, 1}, Length: []int32{1, 3, 5, 1, 2}, Samples: []int32{2, 3, 1, 0, 4, 2},
	}
}

// SameTransitions returns two sessions with the same items, the same last item and
// the same distinct transitions, which they take in different numbers.
func SameTransitions() Batch {
	return Batch{
		Items: 2, Sequences: [][]int32{{1, 1, 2, 2, 1, 2, 1}, {2, 1, 1, 1, 2, 2, 1}},
		User: []int32{0, 1}, Length: []int32{6, 6}, Samples: []int32{0, 1},
	}
}

// CheckParams reports an error unless there are want parameters, all with
// different names, and the first is named as given.
func CheckParams(t testing.TB, params []*autograd.Param, want int, first string) {
	t.Helper()
	if len(params) != want || params[0].Name != first {
		t.Errorf("%d parameters, the first %q; want %d and %q", len(params), params[0].Name, want, first)
	}
	seen := map[string]bool{}
	for _, p := range params {
		if seen[p.Name] {
			t.Errorf("two parameters are named %q", p.Name)
		}
		seen[p.Name] = true
	}
}
