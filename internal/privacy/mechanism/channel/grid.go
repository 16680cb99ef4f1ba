package channel

import (
	"fmt"
	"math"

	"privrec/internal/privacy/mechanism"
)

// Grid describes the numbers that a channel of discrete noise can release: whole steps up to a limit. A mechanism fixes
// it before it sees a value.
type Grid struct {
	Step, PerStep float64 // a power of two in the data's unit, and 1/Step
	Bound         float64 // steps that a value is clamped to before noise
	Limit         int64   // steps that an output is clamped to: the type represents all integers up to it exactly
	Whole         bool    // values are on the grid already
	Scale         float64 // of the noise, in steps
}

// Round returns the value in steps, clamped and rounded to the nearest step. Clamping never moves two values apart.
func (g *Grid) Round(x float64) float64 {
	return math.RoundToEven(max(-g.Bound, min(g.Bound, x*g.PerStep)))
}

// admits returns an error for values that must not be released.
func admits[T mechanism.Float](g *Grid, row []T) error {
	for j, x := range row {
		v := float64(x)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("value %d is %v, want finite", j, v)
		}
		if g.Whole && v*g.PerStep != math.Trunc(v*g.PerStep) {
			return fmt.Errorf("value %d is %v, want a multiple of %g", j, v, g.Step)
		}
	}
	return nil
}

// steps returns the tally of after-before on the grid, in units of the noise. A value off the grid gives a tally that
// fails every check.
func steps[T mechanism.Float](g *Grid, before, after []T, absolute bool) (t Tally) {
	for i, y := range after {
		v := float64(y) * g.PerStep
		k := v - g.Round(float64(before[i]))
		if k == 0 {
			t.Zeros++
		}
		if v != math.Trunc(v) {
			k = math.NaN()
		}
		k /= g.Scale
		t.Sum += k
		if absolute {
			t.Sq += math.Abs(k)
		} else {
			t.Sq += k * k
		}
	}
	t.N = int64(len(after))
	return t
}
