package secure

import (
	"fmt"
	"math"
	"unsafe"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
)

// lattice holds the grid of a discrete mechanism, with its noise and its sensitivity. It depends only on the
// mechanism's settings and on the data's type, not on the data.
type lattice struct {
	channel.Grid
	noise       Ratio   // sigma or scale of the noise in steps, as Scale
	sensitivity float64 // in steps, including the effect of rounding
}

// Constants for the choice of a grid.
const (
	// An output beyond its limit is clamped. That costs no privacy, since it happens after the
	// noise, but it changes the noise. So the limit keeps a distance from the bound that noise
	// crosses with probability 2e-31 (12 sigma) or 3e-33 (75 scales).
	gaussianReach, laplaceReach = 12, 75
	// finest is the largest number of steps to a sigma or scale in a grid that is chosen here,
	// as a power of two. With it, samples need only 64-bit arithmetic, and rounding is small
	// against the noise.
	finest = 26
)

// request holds the fields that DiscreteGaussian and DiscreteLaplace share.
type request struct {
	scale, sensitivity float64
	moved              float64 // what rounding adds to the sensitivity, in steps
	reach              float64
	bound, grid        float64
	whole              bool
}

// digits returns the number of bits in T's significand.
func digits[T mechanism.Float]() int {
	var t T
	if unsafe.Sizeof(t) == 4 {
		return 24
	}
	return 53
}

// normal returns the exponents of the smallest normal number of a type with this
// many digits, and of the first power of two beyond it.
func normal(digits int) (low, beyond int) {
	if digits == 24 {
		return -126, 128
	}
	return -1022, 1024
}

// plan returns the grid of a mechanism on data whose type has this many digits, with its noise and sensitivity in
// steps.
//
// Rounding to the nearest step moves every coordinate by at most half a step. So the distance of two neighbours grows
// by at most one step in every coordinate in which they may differ: by sqrt(d) in the l2 norm and by d in the l1 norm.
// The noise is widened by the same factor, rounded up, so that its ratio to the sensitivity is at least the stated one.
// The resulting sensitivity is at least the requested one.
func plan(digits int, q request) (*lattice, error) {
	if !(q.bound > 0) || math.IsInf(q.bound, 1) {
		return nil, fmt.Errorf("bound is %v, want positive and finite", q.bound)
	}
	if q.whole && q.grid == 0 {
		return nil, fmt.Errorf("whole values need a grid, but grid is 0")
	}
	if q.grid != 0 {
		if f, _ := math.Frexp(q.grid); f != 0.5 {
			return nil, fmt.Errorf("grid is %v, want a power of two, or 0 to choose one", q.grid)
		}
		return fit(digits, q)
	}
	_, e := math.Frexp(q.scale)
	low, _ := normal(digits)
	for q.grid = math.Ldexp(1, max(low, e-finest)); ; q.grid *= 2 {
		if q.grid > 2*q.scale { // noise of less than a step
			return nil, fmt.Errorf("values up to %g with noise of scale %g do not fit into %d bits", q.bound, q.scale,
				digits)
		}
		if l, err := fit(digits, q); err == nil || !retry(err) {
			return l, err
		}
	}
}

// tooFine is the error for a grid that the type cannot hold.
type tooFine struct{ error }

func retry(err error) bool { _, ok := err.(tooFine); return ok }

// fit returns the result of plan for a given grid.
func fit(digits int, q request) (*lattice, error) {
	l := &lattice{Grid: channel.Grid{Step: q.grid, PerStep: 1 / q.grid, Whole: q.whole, Limit: 1 << digits}}
	l.Bound = math.Floor(q.bound * l.PerStep)
	if l.Bound < 1 {
		return nil, fmt.Errorf("bound is %g, below one step of the grid, %g", q.bound, q.grid)
	}
	l.sensitivity = q.sensitivity * l.PerStep
	wanted := q.scale * l.PerStep
	if !q.whole {
		l.sensitivity = math.Nextafter(l.sensitivity+q.moved, math.Inf(1))
		if q.moved > q.sensitivity*l.PerStep {
			return nil, fmt.Errorf("on a grid of %g rounding would move neighbours apart by %g steps, more than the "+
				"sensitivity itself, %g: fewer coordinates, a smaller bound or a wider type is needed",
				q.grid, q.moved, q.sensitivity*l.PerStep)
		}
		wanted = up(wanted * up(l.sensitivity/(q.sensitivity*l.PerStep)))
	}
	var err error
	if l.noise, err = ratioAbove(wanted); err != nil {
		return nil, fmt.Errorf("noise on a grid of %g: %w", q.grid, err)
	}
	l.Scale = l.noise.Float64()
	_, e := math.Frexp(q.grid)
	low, beyond := normal(digits)
	switch {
	case e-1 < low, l.Bound+q.reach*l.Scale > float64(l.Limit):
		return nil, tooFine{fmt.Errorf(
			"values up to %g with noise of scale %g need more than the %d bits of the data's type on a grid of %g",
			q.bound, q.scale, digits, q.grid)}
	case e-1+digits >= beyond:
		return nil, fmt.Errorf("grid is %g, outside the range of the data's type", q.grid)
	}
	return l, nil
}

func up(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// ratioAbove returns a ratio equal to x if x has at most 27 digits, and otherwise above x by at most a relative 2^-26.
func ratioAbove(x float64) (Ratio, error) {
	_, e := math.Frexp(x)
	shift := finest + 1 - e
	if !(x > 0 && x < maxSteps) || shift > 53 {
		return Ratio{}, fmt.Errorf("its scale is %g steps, want within [2^-26, 2^50]", x)
	}
	if shift < 0 {
		return Ratio{uint64(math.Ceil(x)), 1}, nil
	}
	r := Ratio{uint64(math.Ceil(math.Ldexp(x, shift))), 1 << shift}
	for r.Num&1 == 0 && r.Den > 1 {
		r.Num, r.Den = r.Num/2, r.Den/2
	}
	return r, nil
}

// gridLaw returns the law of discrete normal noise, of sigma steps of a grid, that records event e.
func gridLaw(e privacy.Event, sigma, step float64) channel.Law {
	d := DiscreteGaussianLaw{sigma}
	m := channel.Moments{
		// At most the function of a normal law: the law is sub-Gaussian (Canonne, Kamath,
		// Steinke 2020), since shifting the integers within theta only makes it smaller.
		Sum:  func(t float64) float64 { return t * t / 2 },
		Size: d.LogSquares, SumLimit: 64, SizeLimit: 0.5, Unchanged: d.PMF(0), Root: 2,
	}
	scale := sigma * step
	return channel.Law{Event: e, Scale: scale, Tails: 6,
		Check: func(t *channel.Tally, purpose string, x float64) error { return m.Check(t, purpose, scale, x) }}
}
