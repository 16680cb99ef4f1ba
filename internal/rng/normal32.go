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
