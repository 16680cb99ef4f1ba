//go:build slow

package sequence

import (
	"math/big"
	"testing"

	law "privrec/internal/privacy/audit/exact"
)

// Larger domains than fit in every run of the tests, with all seven classes of
// neighbours.
func TestSequenceWorstRatiosOfLargerDomains(t *testing.T) {
	seen := map[string]int{}
	for _, size := range [][2]int{{4, 3}, {2, 4}, {5, 3}, {4, 4}} {
		for c, n := range verifySequences(t, size[0], size[1], size[0] == 2, big.NewRat(3, 1)) {
			seen[c] += n
		}
	}
	for _, c := range law.SequenceClasses() {
		if seen[string(c)] == 0 {
			t.Errorf("no pair of class %q", c)
		}
	}
	t.Log(seen)
}
