package correlated

import (
	"math"
	"slices"
)

const (
	lbfgsPairs = 20   // steps that lbfgs remembers
	lbfgsSteps = 1000 // at most
	lbfgsLook  = 20   // over so many steps it wants a gain
	lbfgsGain  = 1e-8 // that is at least this part of the value
)

// pair is a step of lbfgs and how the slope changed over it.
type pair struct {
	step, turn []float64
	with       float64 // product of both, above 0
}

// lbfgs returns a point with a smaller value of f than x has, or x. f returns the value, above 0, and the slope. It
// takes Newton steps by the curvature along its last steps, and halves a step until it gains a part of what the slope
// promises (Liu, Nocedal, "On the limited memory BFGS method for large scale optimization", Mathematical Programming
// 1989). No product is fused with a sum, so that every processor takes the same steps to the last bit, if f is so.
func lbfgs(x []float64, f func([]float64) (float64, []float64)) []float64 {
	v, slope := f(x)
	var pairs []pair
	values := []float64{v}
	for range lbfgsSteps {
		down := newton(slope, pairs)
		promise := dot(slope, down)
		y, w, next := x, v, slope
		for scale := 1.0; scale > 1e-9; scale /= 2 {
			y = slices.Clone(x)
			add(y, -scale, down)
			if w, next = f(y); w <= v-float64(1e-4*float64(scale*promise)) {
				break
			}
		}
		if !(w < v) {
			break
		}
		p := pair{step: slices.Clone(y), turn: slices.Clone(next)}
		add(p.step, -1, x)
		add(p.turn, -1, slope)
		p.with = dot(p.step, p.turn)
		if p.with > 1e-12*math.Sqrt(float64(dot(p.step, p.step)*dot(p.turn, p.turn))) {
			pairs = append(pairs, p)
			pairs = pairs[max(0, len(pairs)-lbfgsPairs):]
		}
		x, v, slope = y, w, next
		values = append(values, v)
		if before := len(values) - 1 - lbfgsLook; before >= 0 && values[before]-v < float64(lbfgsGain*v) {
			break
		}
	}
	return x
}

// newton returns the slope times an estimate of the inverse of the second derivatives. The first time it is the slope,
// a tenth long.
func newton(slope []float64, pairs []pair) []float64 {
	d := slices.Clone(slope)
	parts := make([]float64, len(pairs))
	for i, p := range slices.Backward(pairs) {
		parts[i] = dot(p.step, d) / p.with
		add(d, -parts[i], p.turn)
	}
	scale := 0.0
	if len(pairs) > 0 {
		last := pairs[len(pairs)-1]
		scale = last.with / dot(last.turn, last.turn)
	} else if length := math.Sqrt(dot(slope, slope)); length > 0 {
		scale = 0.1 / length
	}
	for j := range d {
		d[j] *= scale
	}
	for i, p := range pairs {
		add(d, parts[i]-dot(p.turn, d)/p.with, p.step)
	}
	return d
}

// dot returns the product of two vectors, the shorter one as if 0 followed it. Each product is rounded before it is
// added.
func dot(a, b []float64) float64 {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	var s, t, u, v float64
	for len(a) >= 4 && len(b) >= 4 {
		s += float64(a[0] * b[0])
		t += float64(a[1] * b[1])
		u += float64(a[2] * b[2])
		v += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s += float64(a[i] * b[i])
	}
	return (s + t) + (u + v)
}

// add adds a multiple of b to a of the same length.
func add(a []float64, times float64, b []float64) {
	for i := range a {
		a[i] += float64(times * b[i])
	}
}
