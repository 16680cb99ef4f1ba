package attribute

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// convex is a smooth convex function.
type convex interface {
	// value returns the function's value at w and sets g to its gradient.
	value(w, g []float64) float64
	// product sets h to the second derivatives at the last value times v.
	product(v, h []float64)
}

// The search ends when no element of the gradient exceeds gradientLimit times the larger of one and the gradient's
// norm at the start.
const gradientLimit = 1e-9

// minimise returns the minimum of f over n numbers, from zero, by Newton's method with conjugate gradients for the step
// (Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.1).
func minimise(ctx context.Context, f convex, n int) ([]float64, error) {
	w, g := make([]float64, n), make([]float64, n)
	trial, trialG, step := make([]float64, n), make([]float64, n), make([]float64, n)
	scratch := [3][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
	at := f.value(w, g)
	limit := gradientLimit * max(1, norm(g))
	for range 200 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if largest(g) <= limit {
			return w, nil
		}
		newtonStep(f, g, step, scratch)
		slope := inner(g, step)
		moved := false
		for size := 1.0; size > 1e-12; size /= 2 {
			for i := range w {
				trial[i] = w[i] + size*step[i]
			}
			v := f.value(trial, trialG)
			// Close to the minimum the fall is lost in rounding, and the gradient tells.
			flat := math.Abs(v-at) <= 1e-13*math.Abs(at) && norm(trialG) < norm(g)
			if v <= at+1e-4*size*slope || flat {
				w, trial, g, trialG, at, moved = trial, w, trialG, g, v, true
				break
			}
		}
		if !moved {
			return nil, fmt.Errorf("no step lowers the objective, with a gradient of %g left", largest(g))
		}
	}
	return nil, errors.New("200 Newton steps did not reach the minimum")
}

// newtonStep sets step to approximately minus the inverse of the second derivatives times g. It stops early where g is
// large.
func newtonStep(f convex, g, step []float64, scratch [3][]float64) {
	rest, dir, prod := scratch[0], scratch[1], scratch[2]
	clear(step)
	for i, v := range g {
		rest[i], dir[i] = -v, -v
	}
	sq := inner(rest, rest)
	goal := min(0.25, sq) * sq // |rest| <= min(1/2, |g|) |g|: the last steps converge quadratically
	for range 1000 {
		f.product(dir, prod)
		curve := inner(dir, prod)
		if curve <= 0 {
			return // rounding: the function is convex
		}
		size := sq / curve
		for i := range step {
			step[i] += size * dir[i]
			rest[i] -= size * prod[i]
		}
		next := inner(rest, rest)
		if next <= goal {
			return
		}
		for i := range dir {
			dir[i] = rest[i] + next/sq*dir[i]
		}
		sq = next
	}
}

func inner(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func norm(a []float64) float64 { return math.Sqrt(inner(a, a)) }

func largest(a []float64) float64 {
	top := 0.0
	for _, v := range a {
		top = max(top, math.Abs(v))
	}
	return top
}
