package mechanism

import (
	"math"
	"unsafe"

	"privrec/internal/rng"
)

// addNormals is the research sampler.
func addNormals[T Float](s rng.Stream, dst []T, sigma T) {
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

// difference tallies after-before in units of sigma.
func difference[T Float](before, after []T, perSigma float64) tally {
	var m rng.Moments
	if x, ok := as[float32](before); ok {
		y, _ := as[float32](after)
		m.Differences32(x, y)
	} else {
		x, _ := as[float64](before)
		y, _ := as[float64](after)
		m.Differences64(x, y)
	}
	return tally{n: m.N, zeros: m.Zeros, sum: m.Sum() * perSigma, sq: m.SumSq() * perSigma * perSigma}
}

// as views a slice under its underlying element type U, if that is it. It
// allocates nothing, which a type switch on an interface would.
func as[U, T Float](x []T) ([]U, bool) {
	var t T
	var u U
	if unsafe.Sizeof(t) != unsafe.Sizeof(u) {
		return nil, false
	}
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(x))), len(x)), true
}

// representable reports whether sigma is still a positive number as a T.
func representable[T Float](sigma float64) bool {
	s := float64(T(sigma))
	return s > 0 && !math.IsInf(s, 1)
}
