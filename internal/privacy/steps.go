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

// WholeSteps returns the largest whole number of grid steps that what is integer may move
// by, where a sensitivity bounds that: the sensitivity rounded down, or up to the next
// whole number where it is within 1e-9 of it. It is at least 1 for a valid event.
func WholeSteps(sensitivity float64) float64 {
	if up := math.Floor(sensitivity) + 1; up-sensitivity <= nearlyWhole*up {
		return up
	}
	return math.Floor(sensitivity)
}

// atLeastStep reports a sensitivity of less than one grid step: no integer moves by
// that, so an event that says so was computed wrong.
func atLeastStep(sensitivity float64) error {
	if WholeSteps(sensitivity) < 1 {
		return fmt.Errorf("sensitivity is %v grid steps, want at least 1: what is integer does not move by less", sensitivity)
	}
	return nil
}

// OnGrid returns a release of integers with the sensitivity that these can have, so that
// equal releases are equal events however their sensitivity was rounded; any other event
// as it is.
func OnGrid(e Event) Event {
	if d, ok := e.(interface{ onGrid() Event }); ok {
		return d.onGrid()
	}
	return e
}
