package local

import (
	"fmt"
	"math"

	"privrec/internal/privacy/mechanism"
)

// gridBits sets the grid of the piecewise mechanism: outputs are multiples of 2^-gridBits.
const gridBits = 20

// finestGrid is the smallest epsilon of the piecewise mechanism on a grid. There C is 2^30, so that
// an output is below 2^51 steps of the grid, which a float64 holds exactly.
const finestGrid = 0x1p-28

// gridPiecewise is the piecewise mechanism with outputs on a grid, for a number in [-1, 1]. It chooses by integer
// comparisons on mechanism.Draws, so it has a secure form.
//
// Outputs are the integers from -N to N, times the step of the grid. A window of W = 2H+1 of these is likely, and the
// input decides only where the window lies: around m(x), an integer from -(N-H) to N-H. With probability t the output
// is uniform in the window, else uniform among the M = 2N+1-W others.
//
// It is epsilon-private. W and M do not depend on x, so every output has one of two probabilities under every input,
// t/W and (1-t)/M. t is a multiple of 2^-128, not above W e^eps/(W e^eps + M):
//
//	(t/W) / ((1-t)/M) <= e^eps
//
// and the other ratio, ((1-t)/M)/(t/W), is at most 1, because t >= W/(W+M) for eps >= 2^-28. No rounding of x, of m(x),
// of N or of H matters: whatever they are, the law is of this kind.
//
// W is (C-1)/step rounded up to an odd number, and N is the least one that makes the mean of the output x, up to the
// rounding of m(x): with A = t - (1-t) W/M, the mean is A m(x) steps, since all outputs sum to zero, and A (N-H) steps
// is at least 1. |mean - x| is at most half a step.
type gridPiecewise struct {
	step  float64 // of the grid, a power of two
	n, h  int64   // N, H
	slope float64 // of m: 1/(A step)
	odds  mechanism.Odds
}

// newGridPiecewise returns the mechanism on the grid of 2^-bits.
func newGridPiecewise(epsilon float64, bits int) (gridPiecewise, error) {
	g := gridPiecewise{step: math.Ldexp(1, -bits)}
	if !(epsilon >= finestGrid) {
		return g, fmt.Errorf("epsilon of one number is %v, want at least %v: with less the output is noise and "+
			"nothing else", epsilon, finestGrid)
	}
	m := Piecewise{Epsilon: epsilon}
	g.h = int64(math.Ceil((m.width()/g.step - 1) / 2))
	w := 2*g.h + 1
	for g.n = max(g.h+1, int64(m.C()/g.step)-2); ; g.n++ {
		others := 2*g.n + 1 - w
		g.odds = mechanism.NewSetOdds(epsilon, uint64(w), uint64(others))
		// A is t (1 - e^-eps), without the difference that cancels.
		a := -g.odds.P * math.Expm1(-epsilon)
		if g.slope = 1 / (a * g.step); float64(g.n-g.h) >= g.slope {
			return g, nil
		}
	}
}

// middle returns m(x).
func (g *gridPiecewise) middle(x float64) int64 {
	m, most := int64(math.RoundToEven(x*g.slope)), g.n-g.h
	return max(-most, min(most, m))
}

// draw returns an output, in steps of the grid, and whether it is in the window of x.
func (g *gridPiecewise) draw(d *mechanism.Draws, x float64) (y int64, inside bool) {
	low := g.middle(x) - g.h
	if d.Keep(&g.odds) {
		return low + int64(d.Below(uint64(2*g.h+1))), true
	}
	if y = int64(d.Below(g.odds.Others)) - g.n; y >= low {
		y += 2*g.h + 1
	}
	return y, false
}
