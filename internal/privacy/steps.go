package privacy

import (
	"fmt"
	"math"
)

// nearlyWhole is the relative tolerance within which a sensitivity just below a whole number counts as that number:
// 1e-9, and a little for the rounding of the sensitivity. Sums of decimal fractions end up there: ten times 0.1 is
// 0.9999999999999999.
const nearlyWhole = 1e-9 * (1 + 0x1p-20)

// WholeSteps returns the largest whole number of grid steps that integers may move by under a
// sensitivity. It rounds the sensitivity down, or up to the next whole number within 1e-9 of it.
// The result is at least 1 for a valid event.
func WholeSteps(sensitivity float64) float64 {
	if up := math.Floor(sensitivity) + 1; up-sensitivity <= nearlyWhole*up {
		return up
	}
	return math.Floor(sensitivity)
}

// atLeastStep returns an error for a sensitivity of less than one grid step. No integer moves by less, so such a
// sensitivity was computed wrong.
func atLeastStep(sensitivity float64) error {
	if WholeSteps(sensitivity) < 1 {
		return fmt.Errorf("sensitivity is %v grid steps, want at least 1: integers do not move by less", sensitivity)
	}
	return nil
}

// OnGrid rounds the sensitivity of a release of integers to one that integers can have, so that equal releases are
// equal events however their sensitivity was rounded. It returns any other event unchanged.
func OnGrid(e Event) Event {
	if d, ok := e.(interface{ onGrid() Event }); ok {
		return d.onGrid()
	}
	return e
}

// timesUp returns v times n, rounded up.
func timesUp(v float64, n int64) float64 {
	k := float64(n)
	if n > 1<<53 {
		k = math.Nextafter(k, math.Inf(1))
	}
	p := v * k
	if math.FMA(v, k, -p) > 0 {
		p = math.Nextafter(p, math.Inf(1))
	}
	return p
}
