package channel

import (
	"math"
	"unsafe"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// addNormals adds normal noise of standard deviation sigma to dst, as the research sampler.
func addNormals[T mechanism.Float](s rng.Stream, dst []T, sigma T) {
	if x, ok := as[float32](dst); ok {
		s.AddNormals32(x, float32(sigma))
		return
	}
	x, _ := as[float64](dst)
	var z [64]float64
	for len(x) > 0 {
		n := min(len(x), len(z))
		s.Normals64(z[:n])
		for i, v := range z[:n] {
			x[i] += float64(sigma) * v
		}
		x = x[n:]
	}
}

// difference returns the tally of after-before in units of sigma.
func difference[T mechanism.Float](before, after []T, perSigma float64) Tally {
	var m rng.Moments
	if x, ok := as[float32](before); ok {
		y, _ := as[float32](after)
		m.Differences32(x, y)
	} else {
		x, _ := as[float64](before)
		y, _ := as[float64](after)
		m.Differences64(x, y)
	}
	return Tally{N: m.N, Zeros: m.Zeros, Sum: m.Sum() * perSigma, Sq: m.SumSq() * perSigma * perSigma}
}

// as returns a slice as one of element type U, if U underlies T. It allocates nothing, unlike a type switch on an
// interface.
func as[U, T mechanism.Float](x []T) ([]U, bool) {
	var t T
	var u U
	if unsafe.Sizeof(t) != unsafe.Sizeof(u) {
		return nil, false
	}
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(x))), len(x)), true
}

// atLeast returns a scale as a T, rounded up, so that noise is never less than its event says. Rounding to the nearest
// float32 would make one scale in two too small, by up to one part in 2^24.
func atLeast[T mechanism.Float](scale float64) T {
	t := T(scale)
	if float64(t) < scale { // a float32
		t = T(math.Nextafter32(float32(t), float32(math.Inf(1))))
	}
	return t
}

// representable reports whether a scale is a positive finite T, both rounded to nearest and rounded up.
func representable[T mechanism.Float](scale float64) bool {
	return T(scale) > 0 && !math.IsInf(float64(atLeast[T](scale)), 1)
}
