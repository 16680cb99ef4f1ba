package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

// fold combines the halves of v until one lane is left, the same for both
// instruction sets; f(b, a, dst) combines two registers.
func (l *loop) fold(v reg.VecVirtual, f func(b, a, dst Op), lane int) reg.VecVirtual {
	y := v
	if l.Wide() {
		h := YMM()
		VEXTRACTF64X4(Imm(1), v, h)
		y = YMM()
		f(h, v.AsY(), y)
	}
	h, x := XMM(), XMM()
	VEXTRACTF128(Imm(1), y.AsY(), h)
	f(h, y.AsX(), x)
	t := XMM()
	VSHUFPD(Imm(1), x, x, t)
	f(t, x, x)
	if lane == 4 {
		VMOVSHDUP(x, t)
		f(t, x, x)
	}
	return x
}

func dot(s simd.ISA) {
	l := begin(s, "dot", "x, y []float32) float32", "returns the inner product.", "x", "y")
	acc := l.zeros(4)
	l.each(4, func(u int) {
		x, y := l.read("x", u), l.read("y", u)
		VFMADD231PS(x, y, acc[u])
	})
	addPairs(acc, func(b, a reg.VecVirtual) { VADDPS(b, a, a) })
	r := l.fold(acc[0], func(b, a, dst Op) { VADDPS(b, a, dst) }, 4)
	VZEROUPPER()
	Store(r, ReturnIndex(0))
	RET()
}

func (l *loop) zeros(n int) []reg.VecVirtual {
	acc := make([]reg.VecVirtual, n)
	for i := range acc {
		acc[i] = l.Vec()
		l.Zero(acc[i])
	}
	return acc
}

// addPairs sums acc into acc[0] as a tree.
func addPairs(acc []reg.VecVirtual, add func(b, a reg.VecVirtual)) {
	for step := 1; step < len(acc); step *= 2 {
		for i := 0; i+step < len(acc); i += 2 * step {
			add(acc[i+step], acc[i])
		}
	}
}

// sum emits the sum, or the sum of squares, in float64.
func sum(s simd.ISA, squares bool) {
	name, doc := "sum", "returns the sum in float64."
	if squares {
		name, doc = "sumSq", "returns the sum of squares in float64."
	}
	l := begin(s, name, "x []float32) float64", doc, "x")
	acc := l.zeros(4)
	l.each(2, func(u int) {
		x := l.read("x", u)
		low, high := l.Vec(), l.Vec()
		if l.Wide() {
			h := YMM()
			VEXTRACTF64X4(Imm(1), x, h)
			VCVTPS2PD(x.AsY(), low)
			VCVTPS2PD(h, high)
		} else {
			h := XMM()
			VEXTRACTF128(Imm(1), x, h)
			VCVTPS2PD(x.AsX(), low)
			VCVTPS2PD(h, high)
		}
		for i, d := range []reg.VecVirtual{low, high} {
			if squares {
				VFMADD231PD(d, d, acc[2*u+i])
			} else {
				VADDPD(d, acc[2*u+i], acc[2*u+i])
			}
		}
	})
	addPairs(acc, func(b, a reg.VecVirtual) { VADDPD(b, a, a) })
	r := l.fold(acc[0], func(b, a, dst Op) { VADDPD(b, a, dst) }, 8)
	VZEROUPPER()
	Store(r, ReturnIndex(0))
	RET()
}

// maximum skips NaN: VMAXPS returns its second source, here the running one,
// when either is NaN.
func maximum(s simd.ISA) {
	l := begin(s, "max", "x []float32) float32", "returns the largest element that is not NaN.", "x")
	low := l.Bits("negInf", math.Float32bits(float32(math.Inf(-1))))
	acc := make([]reg.VecVirtual, 4)
	for i := range acc {
		acc[i] = l.Vec()
		VMOVAPS(low, acc[i])
	}
	l.each(4, func(u int) {
		x := l.read("x", u)
		if l.mask != nil {
			l.Fill(x, low, *l.mask)
		}
		VMAXPS(acc[u], x, acc[u])
	})
	addPairs(acc, func(b, a reg.VecVirtual) { VMAXPS(b, a, a) })
	r := l.fold(acc[0], func(b, a, dst Op) { VMAXPS(b, a, dst) }, 4)
	VZEROUPPER()
	Store(r, ReturnIndex(0))
	RET()
}

// absBits finds the largest bit pattern without sign, which tells whether a slice is finite.
func absBits(s simd.ISA) {
	l := begin(s, "absBits", "x []float32) uint32", "returns the largest of the elements' bit patterns without sign.",
		"x")
	sign := l.Bits("absMask", 0x7fffffff)
	acc := l.zeros(4)
	l.each(4, func(u int) {
		x := l.read("x", u)
		if l.Wide() {
			VPANDD(sign, x, x)
		} else {
			VPAND(sign, x, x)
		}
		VPMAXUD(x, acc[u], acc[u])
	})
	addPairs(acc, func(b, a reg.VecVirtual) { VPMAXUD(b, a, a) })
	r := l.fold(acc[0], func(b, a, dst Op) { VPMAXUD(b, a, dst) }, 4)
	bits := GP32()
	VMOVD(r, bits)
	VZEROUPPER()
	Store(bits, ReturnIndex(0))
	RET()
}
