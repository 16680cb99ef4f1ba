package report

import (
	"slices"
	"testing"
)

// Names with numbers stand in the order of the numbers, and equal ones in that of their text.
func TestNatural(t *testing.T) {
	want := []string{"", "007", "7", "EASE", "EASE, run 2", "EASE, run 10", "a1b2", "a1b10", "a01c", "a2", "b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Natural)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, a := range want {
		for _, b := range want {
			if Natural(a, b) != -Natural(b, a) || (Natural(a, b) == 0) != (a == b) {
				t.Errorf("%q and %q", a, b)
			}
		}
	}
}
