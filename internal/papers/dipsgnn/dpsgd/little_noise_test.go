//go:build !f64

// What noise costs does not depend on the width of numbers: float64 has no such test.

package dpsgd

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/run/runtest"
)

// With next to no noise no divergence of a user's samples is finite. The run ends, with an infinite epsilon
// for a user beside the finite one for a sample or an interaction.
func TestLittleNoise(t *testing.T) {
	for _, unit := range []string{"sample", "interaction"} {
		dir, _ := start(t, slices.Concat(units[unit], []string{"privacy.epsilon=1e6", "train.epochs=1"})...)
		a := runtest.ReadJSON[Privacy](t, dir, "privacy.json", true)
		last := a.Units[len(a.Units)-1]
		if last.Unit != "user" || !math.IsInf(float64(last.Total), 1) || !math.IsInf(float64(a.Total), 1) || math.IsInf(float64(a.Units[0].Total), 1) {
			t.Errorf("%s: %+v", unit, a.Units)
		}
	}
}
