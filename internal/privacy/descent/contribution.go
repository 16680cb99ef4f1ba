package descent

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
)

// Limits of the grid of a sum of contributions.
const (
	mostRadius  = 1 << 30 // steps to the longest contribution: its square fits 64 bits
	mostSum     = 1 << 51 // steps that a sum can reach: a float64 holds them, with room for noise
	finestSigma = 1 << 27 // steps to a sigma: samples need only 64-bit arithmetic
	leastSigma  = 1 << 10 // least number of steps to a sigma, so that rounding is small against the noise
	leastRadius = 1 << 6  // steps to the longest contribution, so that it says more than a sign
)

// grid describes the lattice on which contributions are summed: vectors of whole steps, no longer than a clipping norm
// C.
//
// A contribution x is clipped to |x| <= C (channel.Clip, whose bound holds for the values as they are stored),
// multiplied by 1/step, a power of two, which is exact, and cut to whole numbers towards zero: |k_i| <= |x_i|/step in
// every coordinate, so sum k_i² <= (C/step)². Rounding to the nearest step would not do: it can make a vector longer by
// half a step in every coordinate, and its length by sqrt(d)/2 steps. Sums of whole numbers are exact and do not depend
// on their order. So, between two data sets of which one has one contribution more, a sum over a sample that both share
// moves by a whole vector of length at most C/step, or not at all. This is the sensitivity that the event states;
// nothing is left out for rounding.
type grid struct {
	clip, step, perStep float64
	squared             uint64 // the largest squared length, floor((C/step)²)
	most                int64  // steps that a sum of all contributions can reach in a coordinate
}

// newGrid returns the finest grid within the limits for n contributions of at most clip, under noise of deviation
// sigma.
func newGrid(clip, sigma float64, n int64) (grid, error) {
	_, e := math.Frexp(sigma / finestSigma)
	step := math.Ldexp(1, e)
	for clip/step > mostRadius || clip/step*float64(n) > mostSum {
		step *= 2
	}
	radius := clip / step // exact: no number is near the ends of the type
	if sigma/step < leastSigma || radius < leastRadius || !(step > 0x1p-900 && step < 0x1p900) {
		return grid{}, fmt.Errorf("a noise multiplier of %g on sums of up to %d vectors has no grid: the noise has "+
			"%.3g steps, want at least %d, and the longest vector %.3g, want at least %d",
			sigma/clip, n, sigma/step, leastSigma, radius, leastRadius)
	}
	r := new(big.Float).SetFloat64(radius)
	square, _ := r.SetPrec(200).Mul(r, r).Uint64() // rounds down
	return grid{clip: clip, step: step, perStep: 1 / step, squared: square, most: int64(math.Ceil(radius)) * n}, nil
}

// place clips a vector, in place, and adds its steps to sum. A vector with a value that is not finite counts as 0.
func place[T mechanism.Float](g *grid, v []T, sum func(i int, k int64)) error {
	if _, err := channel.Clip(v, g.clip); err != nil {
		clear(v)
	}
	square, carry := uint64(0), uint64(0)
	for _, x := range v {
		k := uint64(math.Abs(float64(x)) * g.perStep) // below 2^31
		if square, carry = bits.Add64(square, k*k, 0); carry != 0 || square > g.squared {
			return &mechanism.CheckError{What: "squared length of a contribution, in steps", Got: float64(square),
				High: float64(g.squared), N: int64(len(v)), Hint: "it was not clipped"}
		}
	}
	for i, x := range v {
		if k := int64(float64(x) * g.perStep); k != 0 { // towards zero
			sum(i, k)
		}
	}
	return nil
}
