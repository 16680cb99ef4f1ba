package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

// exponential holds the constants of exp that stay in registers. The figures are
// those of the plain Go version, width32.go.
type exponential struct {
	*loop
	one reg.VecVirtual
}

var expTerms = []float64{1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
	5.0000001201e-1}

func newExp(l *loop) *exponential { return &exponential{loop: l, one: l.Const("one", 1)} }

// konst returns a constant operand: an embedded broadcast cannot be used by all
// instructions of both sets, so it is a register filled on the spot.
func (l *loop) konst(name string, v float64) reg.VecVirtual { return l.Const(name, v) }

// of replaces x by exp(x): Cephes expf, with the range clamped where the result
// is 0 or infinite anyway. NaN passes: the clamps return their second source.
func (e *exponential) of(x reg.VecVirtual) {
	n, p, r2 := e.Vec(), e.Vec(), e.Vec()
	VBROADCASTSS(simd.Float("expMax", 89), n)
	VMINPS(x, n, x)
	VBROADCASTSS(simd.Float("expMin", -105), n)
	VMAXPS(x, n, x)
	VBROADCASTSS(simd.Float("log2e", math.Log2E), n)
	VMULPS(x, n, n)
	if e.Wide() {
		VRNDSCALEPS(Imm(8), n, n)
	} else {
		VROUNDPS(Imm(8), n, n)
	}
	VBROADCASTSS(simd.Float("ln2Hi", 0.693359375), p)
	VFNMADD231PS(p, n, x)
	VBROADCASTSS(simd.Float("ln2Lo", -2.12194440e-4), p)
	VFNMADD231PS(p, n, x)
	VMULPS(x, x, r2)
	VBROADCASTSS(simd.Float("expTerm0", expTerms[0]), p)
	for i, c := range expTerms[1:] {
		t := e.konst("expTerm"+string(rune('1'+i)), c)
		VFMADD213PS(t, x, p)
	}
	VFMADD213PS(x, r2, p)
	VADDPS(e.one, p, p)
	e.scale2(p, n, x)
}

// scale2 sets dst = p 2^n for whole n. AVX2 multiplies twice, as 2^n alone may
// leave the range of a normal exponent.
func (e *exponential) scale2(p, n, dst reg.VecVirtual) {
	if e.Wide() {
		VSCALEFPS(n, p, dst)
		return
	}
	half, bias := e.Vec(), e.Vec()
	VCVTPS2DQ(n, n)
	VPSRAD(Imm(1), n, half)
	VPSUBD(half, n, n)
	VBROADCASTSS(simd.Float32Bits("expBias", 127), bias)
	VPADDD(bias, half, half)
	VPADDD(bias, n, n)
	VPSLLD(Imm(23), half, half)
	VPSLLD(Imm(23), n, n)
	VMULPS(half, p, p)
	VMULPS(n, p, dst)
}

func expSum(s simd.ISA) {
	l := begin(s, "expSum", "shift float32, x, y []float32) float32",
		"sets y = exp(x - shift) and returns the sum of y.", "x", "y")
	e := newExp(l)
	shift := l.Broadcast("shift")
	acc := l.zeros(2)
	l.each(2, func(u int) {
		x := l.read("x", u)
		VSUBPS(shift, x, x)
		e.of(x)
		l.write(x, "y", u)
		if l.mask != nil {
			l.Keep(x, *l.mask)
		}
		VADDPS(x, acc[u], acc[u])
	})
	addPairs(acc, func(b, a reg.VecVirtual) { VADDPS(b, a, a) })
	r := l.fold(acc[0], func(b, a, dst Op) { VADDPS(b, a, dst) }, 4)
	VZEROUPPER()
	Store(r, ReturnIndex(0))
	RET()
}

// sigmoid returns 1/(1+exp(-x)). It works on exp(-|x|), which neither overflows nor loses the
// lower tail.
func (e *exponential) sigmoid(x reg.VecVirtual) reg.VecVirtual {
	neg := e.Vec()
	VBROADCASTSS(simd.Float32Bits("signMask", 1<<31), neg)
	e.or(x, neg, neg)
	e.of(neg)
	// The numerator is exp(-|x|) for negative x and 1 otherwise.
	num, den := e.Vec(), e.Vec()
	VADDPS(e.one, neg, den)
	e.pickNegative(x, neg, e.one, num)
	VDIVPS(den, num, num)
	return num
}

func sigmoid(s simd.ISA) {
	l := begin(s, "sigmoid", "x, y []float32)", "sets y = 1/(1+exp(-x)).", "x", "y")
	e := newExp(l)
	l.each(1, func(u int) { l.write(e.sigmoid(l.read("x", u)), "y", u) })
	l.end()
}

// sigmoidDot and sigmoidBack emit the hidden layer of an edge of additive attention, forward and backward.
func sigmoidDot(s simd.ISA) {
	l := begin(s, "sigmoidDot", "x, y, w []float32) float32", "returns the inner product of w and 1/(1+exp(-x-y)).",
		"x", "y", "w")
	e := newExp(l)
	acc := l.zeros(1)
	l.each(1, func(u int) {
		x, y := l.read("x", u), l.read("y", u)
		VFMADD231PS(l.read("w", u), e.ofSum(x, y), acc[0])
	})
	r := l.fold(acc[0], func(b, a, dst Op) { VADDPS(b, a, dst) }, 4)
	VZEROUPPER()
	Store(r, ReturnIndex(0))
	RET()
}

func sigmoidBack(s simd.ISA) {
	l := begin(s, "sigmoidBack", "slope float32, x, y, dx, dy, dw []float32)",
		"adds slope s to dw and slope s (1-s) to dx and dy, where s = 1/(1+exp(-x-y)).", "x", "y", "dx", "dy", "dw")
	e := newExp(l)
	slope := l.Broadcast("slope")
	l.each(1, func(u int) {
		x, y := l.read("x", u), l.read("y", u)
		e.back(e.ofSum(x, y), slope, u)
	})
	l.end()
}

// ofSum returns 1/(1+exp(-x-y)); x is free.
func (e *exponential) ofSum(x, y reg.VecVirtual) reg.VecVirtual {
	VADDPS(y, x, x)
	return e.sigmoid(x)
}

// ofProduct returns 1/(1+x y) in x.
func (e *exponential) ofProduct(x, y reg.VecVirtual) reg.VecVirtual {
	VFMADD213PS(e.one, y, x)
	VDIVPS(x, e.one, x)
	return x
}

// back adds slope s to dw and slope s (1-s) to dx and dy; s is free.
func (e *exponential) back(s, slope reg.VecVirtual, u int) {
	d, rest := e.read("dw", u), e.Vec()
	VFMADD231PS(slope, s, d)
	e.write(d, "dw", u)
	VSUBPS(s, e.one, rest)
	VMULPS(slope, s, s)
	VMULPS(rest, s, s)
	for _, p := range []string{"dx", "dy"} {
		d := e.read(p, u)
		VADDPS(s, d, d)
		e.write(d, p, u)
	}
}

// tanh takes Cephes' polynomial below 0.625 and 1 - 2/(exp(2|x|)+1) above.
func tanh(s simd.ISA) {
	l := begin(s, "tanh", "x, y []float32)", "sets y = tanh(x).", "x", "y")
	e := newExp(l)
	terms := []float64{-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1}
	l.each(1, func(u int) {
		x := l.read("x", u)
		size, sign, big := l.Vec(), l.Vec(), l.Vec()
		VBROADCASTSS(simd.Float32Bits("absMask", 0x7fffffff), size)
		l.and(x, size, size)
		VBROADCASTSS(simd.Float32Bits("signMask", 1<<31), sign)
		l.and(x, sign, sign)
		VADDPS(size, size, big)
		e.of(big)
		VADDPS(e.one, big, big)
		t := l.konst("two", 2)
		VDIVPS(big, t, big)
		VSUBPS(big, e.one, big)
		l.or(sign, big, big)

		z, p := l.Vec(), l.Vec()
		VMULPS(x, x, z)
		VBROADCASTSS(simd.Float("tanhTerm0", terms[0]), p)
		for i, c := range terms[1:] {
			t := l.konst("tanhTerm"+string(rune('1'+i)), c)
			VFMADD213PS(t, z, p)
		}
		VMULPS(z, p, p)
		VFMADD213PS(x, x, p)
		bound := l.konst("tanhSmall", 0.625)
		l.pickLess(size, bound, p, big)
		l.write(big, "y", u)
	})
	l.end()
}

func (l *loop) and(b, a, dst reg.VecVirtual) {
	if l.Wide() {
		VPANDD(b, a, dst)
	} else {
		VANDPS(b, a, dst)
	}
}

func (l *loop) or(b, a, dst reg.VecVirtual) {
	if l.Wide() {
		VPORD(b, a, dst)
	} else {
		VORPS(b, a, dst)
	}
}

// pickNegative sets dst to a where the sign of x is set and to b elsewhere.
func (l *loop) pickNegative(x, a, b, dst reg.VecVirtual) {
	if l.Wide() {
		k := K()
		VPMOVD2M(x, k)
		VMOVAPS(b, dst)
		VMOVAPS(a, k, dst)
		return
	}
	VBLENDVPS(x, a, b, dst)
}

// pickLess sets dst to a where x < bound and leaves it elsewhere.
func (l *loop) pickLess(x, bound, a, dst reg.VecVirtual) {
	if l.Wide() {
		k := K()
		VCMPPS(Imm(cmpLT), bound, x, k)
		VMOVAPS(a, k, dst)
		return
	}
	m := l.Vec()
	VCMPPS(Imm(cmpLT), bound, x, m)
	VBLENDVPS(m, a, dst, dst)
}
