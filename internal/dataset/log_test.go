package dataset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestLessIDs(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{[]string{"10", "9", "-1", "07", "7"}, []string{"-1", "07", "7", "9", "10"}},
		{[]string{"10", "9", "a"}, []string{"10", "9", "a"}},
		{[]string{"99999999999999999999", "9", "10"}, []string{"10", "9", "99999999999999999999"}}, // beyond 64 bits: words
		{nil, nil},
	} {
		_, got := Ascending(c.in)
		if d := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	}
}
