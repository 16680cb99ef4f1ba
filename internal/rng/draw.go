package rng

import (
	"math"
	"math/bits"
)

// Uint64 returns the next 64 bits.
func (s *Stream) Uint64() uint64 {
	p := s.pos
	s.pos++
	if p&1 == 1 {
		return s.odd
	}
	lo, hi := s.id.block(p >> 1)
	s.odd = hi
	return lo
}

// Float64 returns a uniform value in [0, 1), a multiple of 2^-53.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// IntN returns a uniform integer in [0, n) without bias (Lemire, "Fast random
// integer generation in an interval", TOMACS 2019). It panics if n <= 0.
func (s *Stream) IntN(n int) int {
	if n <= 0 {
		panic("rng: IntN of a non-positive bound")
	}
	bound := uint64(n)
	hi, lo := bits.Mul64(s.Uint64(), bound)
	if lo < bound {
		for reject := -bound % bound; lo < reject; {
			hi, lo = bits.Mul64(s.Uint64(), bound)
		}
	}
	return int(hi)
}

// NormFloat64 returns a standard normal. It takes one whole block (two words), so
// n draws always move the position by the same number of words.
func (s *Stream) NormFloat64() float64 {
	a, b := s.id.block(s.align())
	s.pos += 2
	z, _ := boxMuller64(a, b)
	return z
}

// boxMuller64 maps 128 random bits to two independent standard normals.
// The radius comes from u = (a+1/2)/2^64 in (0, 1]: |z| <= 9.5.
func boxMuller64(a, b uint64) (float64, float64) {
	u := float64(a)*0x1p-64 + 0x1p-65
	r := math.Sqrt(-2 * math.Log(u))
	sin, cos := math.Sincos(float64(b>>11) * (2 * math.Pi * 0x1p-53))
	return r * cos, r * sin
}

// Perm returns a uniform permutation of 0..n-1.
func (s *Stream) Perm(n int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	s.Shuffle(n, func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}

// Shuffle permutes n elements uniformly through swap (Fisher-Yates, from the
// last element down).
func (s *Stream) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, s.IntN(i+1))
	}
}
