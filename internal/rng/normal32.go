package rng

import "math"

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
	s := th + th*(t2*(sin0+t2*(sin1+t2*sin2)))
	c := 1 + t2*(-0.5+t2*(cos0+t2*(cos1+t2*cos2)))
	if b&(1<<30) != 0 { // a quarter turn: (cos, sin) -> (-sin, cos)
		c, s = -s, c
	}
	if b&(1<<31) != 0 { // a half turn
		c, s = -c, -s
	}
	return r * c, r * s
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
)

var logPoly = [9]float32{
	7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
	-1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
	2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
}

// log32 is ln u for normal positive u, with full relative accuracy near 1.
func log32(u float32) float32 {
	bits := math.Float32bits(u)
	e := float32(int(bits>>23) - 127)
	m := math.Float32frombits(bits&0x007fffff | 0x3f800000) // [1, 2)
	if m >= math.Sqrt2 {
		m *= 0.5
		e++
	}
	f := m - 1
	z := f * f
	p := logPoly[0]
	for _, c := range logPoly[1:] {
		p = p*f + c
	}
	return f + (f*z*p - 0.5*z) + e*math.Ln2
}
