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

// boxMuller32 maps 64 random bits to two independent standard normals in
// float32 arithmetic; the vector kernels compute the same expressions.
//
// Radius: u = a/2^32 + 2^-33 in (0, 1], r = sqrt(-2 ln u). Angle: the low 30
// bits of b, signed, are an angle in [-pi/4, pi/4) of relative accuracy 1e-7 near
// zero; its top two bits turn that by a multiple of a quarter.
func boxMuller32(a, b uint32) (cos, sin float32) {
	u := float32(a)*0x1p-32 + 0x1p-33
	r := float32(math.Sqrt(float64(-2 * log32(u))))
	th := float32(int32(b<<2)>>2) * (math.Pi / 2 * 0x1p-30)
	t2 := th * th
	s := math.Float32bits(r * (th + th*(t2*(sin0+t2*(sin1+t2*sin2)))))
	c := math.Float32bits(r * (1 + t2*(-0.5+t2*(cos0+t2*(cos1+t2*cos2)))))
	// A quarter turn takes (c, s) to (-s, c), a half turn to (-c, -s). Without
	// branches: half of them would be mispredicted.
	swap := (c ^ s) & uint32(int32(b<<1)>>31)
	const sign = 1 << 31
	return math.Float32frombits(c ^ swap ^ (b^b<<1)&sign), math.Float32frombits(s ^ swap ^ b&sign)
}

// Minimax polynomials of the Cephes library (Moshier), single precision:
// sin and cos on [-pi/4, pi/4], log(1+f) on [1/sqrt 2 - 1, sqrt 2 - 1].
const (
	sin0 = -1.6666654611e-1
	sin1 = 8.3321608736e-3
	sin2 = -1.9515295891e-4
	cos0 = 4.166664568298827e-2
	cos1 = -1.388731625493765e-3
	cos2 = 2.443315711809948e-5

	log0 = 7.0376836292e-2
	log1 = -1.1514610310e-1
	log2 = 1.1676998740e-1
	log3 = -1.2420140846e-1
	log4 = 1.4249322787e-1
	log5 = -1.6668057665e-1
	log6 = 2.0000714765e-1
	log7 = -2.4999993993e-1
	log8 = 3.3333331174e-1
)

// log32 returns ln u for normal positive u, with full relative accuracy near 1.
func log32(u float32) float32 {
	const sqrtHalf = 0x3f3504f3 // bits of 1/sqrt 2
	shifted := math.Float32bits(u) + (0x3f800000 - sqrtHalf)
	e := float32(int32(shifted>>23) - 127)
	f := math.Float32frombits(shifted&0x007fffff+sqrtHalf) - 1 // mantissa in [1/sqrt 2, sqrt 2)
	z := f * f
	p := (((((((log0*f+log1)*f+log2)*f+log3)*f+log4)*f+log5)*f+log6)*f+log7)*f + log8
	return f + (f*z*p - 0.5*z) + e*math.Ln2
}
