package system

import (
	"errors"
	"testing"
)

// Every number is worked on once, also after an error, and the error is that of the lowest number.
func TestTogether(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	for _, n := range []int{0, 1, 100} {
		did := make([]int, n)
		err := Together(n, func(i int) error {
			did[i]++
			return map[int]error{7: first, 60: second}[i]
		})
		if want := map[int]error{100: first}[n]; err != want {
			t.Errorf("of %d: %v, want %v", n, err, want)
		}
		for i, times := range did {
			if times != 1 {
				t.Errorf("%d of %d was worked on %d times", i, n, times)
			}
		}
	}
}
