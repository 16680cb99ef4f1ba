// Package evaltest tests scorers.
package evaltest

import (
	"slices"
	"testing"

	"privrec/internal/eval"
)

// Sparse demands that the lists of a scorer of users, by the items that each changes, are those by all scores, with
// equal bits, and that it refuses users from n on. It fails if so many items change that all scores are used.
func Sparse(t testing.TB, s eval.Sparse, n int, seen func(u int) []int32) {
	t.Helper()
	users := make([]int32, n)
	for u := range users {
		users[u] = int32(u)
	}
	if changed, err := s.Changed(users); err != nil || changed == nil {
		t.Fatalf("no list of changes: %v", err)
	}
	for _, bad := range []int32{-1, int32(n)} {
		if _, err := s.Changed([]int32{0, bad}); err == nil {
			t.Errorf("user %d is no error", bad)
		}
	}
	o := eval.Options{Exclude: func(u int32) []int32 { return seen(int(u)) }}
	got, err := eval.Top(t.Context(), s, users, 10, o)
	if err != nil {
		t.Fatal(err)
	}
	want, err := eval.Top(t.Context(), struct{ eval.Scorer }{s}, users, 10, o)
	if err != nil {
		t.Fatal(err)
	}
	for u := range want {
		if !slices.Equal(got[u], want[u]) {
			t.Fatalf("user %d: %v, want %v", u, got[u], want[u])
		}
	}
}
