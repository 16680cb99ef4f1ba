package privacy

import (
	"fmt"
	"math"
)

// nearlyWhole is how far below a whole number, relative to it, a sensitivity still
// counts as that number: 1e-9, and a little for the rounding of a sensitivity that
// was itself computed as that. Sums of decimal fractions end up there: ten times
// 0.1 is 0.9999999999999999.
const nearlyWhole = 1e-9 * (1 + 0x1p-20)

// wholeSteps is the largest whole number that is at most v, or above it by no more
// than nearlyWhole: what is integer moves by no more.
func wholeSteps(v float64) float64 {
	if up := math.Floor(v) + 1; up-v <= nearlyWhole*up {
		return up
	}
	return math.Floor(v)
}

// Steps returns the largest whole number of grid steps, in the l1 norm, that x may
// move by: the sensitivity rounded down, or up to the next whole number where it is
// within 1e-9 of it. It is at least 1 for a valid event.
func (e DiscreteLaplace) Steps() float64 { return wholeSteps(e.Sensitivity) }

// Squared returns the largest square of the Euclidean distance, in grid steps, that
// x may move by. It is a whole number, and in one dimension the square of one;
// rounded as Steps are. It is at least 1 for a valid event.
func (e DiscreteGaussian) Squared() float64 {
	steps := wholeSteps(e.Sensitivity)
	if e.Dimension == 1 {
		return steps * steps
	}
	return math.Max(steps*steps, wholeSteps(e.Sensitivity*e.Sensitivity))
}

// atLeastStep reports a sensitivity of less than one grid step: no integer moves by
// that, so an event that says so was computed wrong.
func atLeastStep(sensitivity float64) error {
	if wholeSteps(sensitivity) < 1 {
		return fmt.Errorf("sensitivity is %v grid steps, want at least 1: what is integer does not move by less", sensitivity)
	}
	return nil
}
