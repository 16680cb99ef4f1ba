package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// philox256 computes 8 blocks, even ones in set 0 and odd ones in set 1, as
// philox512 does for 16.
type philox256 struct {
	s      reg.GPVirtual
	c      constants
	m0, m1 vec
	base   [2]vec
}

func newPhilox256(c constants, first, s reg.GPVirtual) *philox256 {
	p := &philox256{s: s, c: c, m0: YMM(), m1: YMM(), base: [2]vec{YMM(), YMM()}}
	VPBROADCASTQ(c.u64s("philoxM0", 0xD2511F53), p.m0)
	VPBROADCASTQ(c.u64s("philoxM1", 0xCD9E8D57), p.m1)
	x := XMM()
	MOVQ(first, x)
	VPBROADCASTQ(x, p.base[0])
	VPADDQ(c.u64s("blocksOdd", 1, 3, 5, 7, 9, 11, 13, 15), p.base[0], p.base[1])
	VPADDQ(c.u64s("blocksEven", 0, 2, 4, 6, 8, 10, 12, 14), p.base[0], p.base[0])
	return p
}

func (p *philox256) next() (words [4]vec) {
	var set [2][4]vec
	for i, b := range p.base {
		x := [4]vec{YMM(), YMM(), YMM(), YMM()}
		VMOVDQA(b, x[0])
		VPSRLQ(Imm(32), b, x[1])
		VPBROADCASTD(Mem{Base: p.s, Disp: offC2}, x[2])
		VPBROADCASTD(Mem{Base: p.s, Disp: offC3}, x[3])
		VPADDQ(p.c.u64s("eights", 8, 8, 8, 8), b, b)
		set[i] = x
	}
	for r := range rounds {
		for i := range set {
			x := &set[i]
			lo0, lo1, hi0, hi1, k := YMM(), YMM(), YMM(), YMM(), YMM()
			VPMULUDQ(p.m0, x[0], lo0)
			VPMULUDQ(p.m1, x[2], lo1)
			VPSRLQ(Imm(32), lo0, hi0)
			VPSRLQ(Imm(32), lo1, hi1)
			VPBROADCASTD(Mem{Base: p.s, Disp: 8 * r}, k)
			VPXOR(x[1], hi1, hi1)
			VPXOR(k, hi1, hi1)
			VPBROADCASTD(Mem{Base: p.s, Disp: 8*r + 4}, k)
			VPXOR(x[3], hi0, hi0)
			VPXOR(k, hi0, hi0)
			*x = [4]vec{hi1, lo1, hi0, lo0}
		}
	}
	for w := range words {
		VPSHUFD(Imm(0xA0), set[1][w], set[1][w])
		VPBLENDD(Imm(0xAA), set[1][w], set[0][w], set[0][w])
		words[w] = set[0][w]
	}
	return words
}

// words256 emits the kernels that make words, and those that make values of single words.
func words256(c constants) {
	TEXT("words256", NOSPLIT, "func(groups int, s *uint32, first uint64, dst *uint32)")
	Pragma("noescape")
	Doc("words256 writes the words of groups*16 Philox blocks (AVX2); groups > 0.")
	loop256(c, groupBytes, func(p *philox256, dst reg.GPVirtual, disp int) {
		for w, x := range p.next() {
			VMOVDQU(x, Mem{Base: dst, Disp: 64*w + disp})
		}
	})

	TEXT("keep256", NOSPLIT, "func(groups int, s *uint32, first uint64, least uint32, value float32, dst *float32)")
	Pragma("noescape")
	Doc("keep256 writes value where the upper 24 bits of groups*64 words are at least least, else 0 (AVX2);",
		"groups > 0.")
	loop256(c, groupBytes, func(p *philox256, dst reg.GPVirtual, disp int) {
		words := p.next()
		least, value := YMM(), YMM()
		VBROADCASTSS(address("least"), least)
		VBROADCASTSS(address("value"), value)
		for w, x := range words {
			VPSRLD(Imm(8), x, x)
			VPCMPGTD(x, least, x) // least > x; both are below 2^25
			VPANDN(value, x, x)
			VMOVDQU(x, Mem{Base: dst, Disp: 64*w + disp})
		}
	})

	TEXT("keepBits256", NOSPLIT, "func(groups int, s *uint32, first uint64, least uint32, dst *uint64)")
	Pragma("noescape")
	Doc("keepBits256 writes a bit for each of groups*64 words, set where the upper 24 bits are at least least (AVX2);",
		"groups > 0.")
	loop256(c, groupWords/8, func(p *philox256, dst reg.GPVirtual, disp int) {
		words := p.next()
		least, bits := YMM(), GP32()
		VBROADCASTSS(address("least"), least)
		for w, x := range words {
			VPSRLD(Imm(8), x, x)
			VPCMPGTD(x, least, x) // least > x; both are below 2^25
			VMOVMSKPS(x, bits)
			NOTL(bits)
			MOVB(bits.As8(), Mem{Base: dst, Disp: 2*w + disp/32})
		}
	})
}

// noise256 emits the kernels that make normals, and those that check them.
func noise256(c constants) {
	TEXT("normals256", NOSPLIT, "func(groups int, s *uint32, first uint64, dst *float32)")
	Pragma("noescape")
	Doc("normals256 writes groups*64 standard normals (AVX2 and FMA); groups > 0.")
	normals256(c, func(z vec, at Mem) { VMOVUPS(z, at) })

	TEXT("addNormals256", NOSPLIT, "func(groups int, s *uint32, first uint64, scale float32, dst *float32)")
	Pragma("noescape")
	Doc("addNormals256 adds scale times groups*64 standard normals to dst (AVX2 and FMA), the product",
		"rounded before the sum; groups > 0.")
	normals256(c, func(z vec, at Mem) {
		scale := YMM()
		VBROADCASTSS(address("scale"), scale)
		VMULPS(scale, z, z)
		VADDPS(at, z, z)
		VMOVUPS(z, at)
	})
	moments256()
}

// normals256 gives store normals and their places. Sixteen registers do not hold four words
// and the polynomials: the second pair waits in memory.
func normals256(c constants, store func(z vec, at Mem)) {
	waiting := AllocLocal(64)
	loop256(c, groupBytes, func(p *philox256, dst reg.GPVirtual, disp int) {
		w := p.next()
		for i, x := range w[2:] {
			VMOVDQU(x, waiting.Offset(32*i))
		}
		boxMuller256(c, w[0], w[1], dst, disp, store)
		a, b := YMM(), YMM()
		VMOVDQU(waiting, a)
		VMOVDQU(waiting.Offset(32), b)
		boxMuller256(c, a, b, dst, 128+disp, store)
	})
}

// loop256 runs body for the two halves of each group: blocks 0-7 and 8-15.
func loop256(c constants, step uint32, body func(p *philox256, dst reg.GPVirtual, disp int)) {
	n, s, first, dst := gp("groups"), gp("s"), gp("first"), gp("dst")
	p := newPhilox256(c, first, s)
	Label("group")
	body(p, dst, 0)
	body(p, dst, 32)
	ADDQ(U32(step), dst)
	DECQ(n)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// boxMuller256 is boxMuller32 of normal32.go on 8 lanes. store gets the normals of dst+disp and
// of 64 bytes after it.
func boxMuller256(c constants, a, b vec, dst reg.GPVirtual, disp int, store func(z vec, at Mem)) {
	con := func(name string, v uint32) Mem { return c.u32(name, v, 8) }
	// uint32 to float32 with one rounding: high half * 65536 + low half.
	u, lo := YMM(), YMM()
	VPSRLD(Imm(16), a, u)
	VPAND(con("low16", 0xffff), a, lo)
	VCVTDQ2PS(u, u)
	VCVTDQ2PS(lo, lo)
	VFMADD132PS(con("two16", f32(65536)), lo, u)
	VMULPS(con("pow32", f32(0x1p-32)), u, u)
	VADDPS(con("half32", f32(0x1p-33)), u, u)

	f, e, big := YMM(), YMM(), YMM()
	VPSRLD(Imm(23), u, e)
	VPSUBD(con("bias", 127), e, e)
	VCVTDQ2PS(e, e)
	VPAND(con("mantissa", 0x007fffff), u, f)
	VPOR(con("one", f32(1)), f, f) // [1, 2)
	VCMPPS(Imm(13), con("sqrt2", f32(math.Sqrt2)), f, big)
	t := YMM()
	VMULPS(con("half", f32(0.5)), f, t)
	VBLENDVPS(big, t, f, f)
	VANDPS(con("one", f32(1)), big, big)
	VADDPS(big, e, e)
	VSUBPS(con("one", f32(1)), f, f)
	z, p := YMM(), YMM()
	VMULPS(f, f, z)
	VMOVUPS(con("log0", math.Float32bits(logPoly[0])), p)
	for i, q := range logPoly[1:] {
		VFMADD213PS(con(fmt.Sprint("log", i+1), math.Float32bits(q)), f, p)
	}
	VMULPS(f, z, t)
	VMULPS(t, p, p)
	VFMADD231PS(con("mhalf", f32(-0.5)), z, p)
	VADDPS(f, p, p)
	VFMADD231PS(con("ln2", f32(math.Ln2)), e, p)
	r := YMM()
	VMULPS(con("mtwo", f32(-2)), p, r)
	VSQRTPS(r, r)

	th, t2, s, k := YMM(), YMM(), YMM(), YMM()
	VPSLLD(Imm(2), b, th)
	VPSRAD(Imm(2), th, th)
	VCVTDQ2PS(th, th)
	VMULPS(con("quarter", f32(quarter)), th, th)
	VMULPS(th, th, t2)
	VMOVUPS(con("sin0", math.Float32bits(sinPoly[0])), s)
	for i, q := range sinPoly[1:] {
		VFMADD213PS(con(fmt.Sprint("sin", i+1), math.Float32bits(q)), t2, s)
	}
	VMULPS(t2, s, s)
	VFMADD213PS(th, th, s)
	VMOVUPS(con("cos0", math.Float32bits(cosPoly[0])), k)
	for i, q := range cosPoly[1:] {
		VFMADD213PS(con(fmt.Sprint("cos", i+1), math.Float32bits(q)), t2, k)
	}
	VMULPS(r, s, s)
	VMULPS(r, k, k)

	turn, cos, sin := YMM(), YMM(), YMM()
	VPSLLD(Imm(1), b, turn) // bit 30 where a blend looks
	VBLENDVPS(turn, s, k, cos)
	VBLENDVPS(turn, k, s, sin)
	VPXOR(b, turn, turn)
	VPAND(con("sign", sign), turn, turn)
	VPXOR(turn, cos, cos)
	VPAND(con("sign", sign), b, turn)
	VPXOR(turn, sin, sin)
	store(cos, Mem{Base: dst, Disp: disp})
	store(sin, Mem{Base: dst, Disp: 64 + disp})
}

// moments256 sums the differences of two slices in double precision, in 8 lanes.
func moments256() {
	TEXT("moments256", NOSPLIT, "func(n int, before, after *float32, sum, sq *float64) (zeros int)")
	Pragma("noescape")
	Doc("moments256 adds sum and sum of squares of after-before to 8 lanes each",
		"and counts the zero differences (AVX2 and FMA); n > 0, a multiple of 8.")
	n, x, y, sum, sq := gp("n"), gp("before"), gp("after"), gp("sum"), gp("sq")
	zero := YMM()
	VPXOR(zero, zero, zero)
	var s1, s2 [2]vec
	for h := range s1 {
		s1[h], s2[h] = YMM(), YMM()
		VMOVUPD(Mem{Base: sum, Disp: 32 * h}, s1[h])
		VMOVUPD(Mem{Base: sq, Disp: 32 * h}, s2[h])
	}
	zeros, bits := GP64(), GP64()
	XORQ(zeros, zeros)
	Label("loop")
	d, same := YMM(), YMM()
	VMOVUPS(Mem{Base: y}, d)
	VSUBPS(Mem{Base: x}, d, d)
	VCMPPS(Imm(0), zero, d, same)
	VMOVMSKPS(same, bits.As32())
	POPCNTL(bits.As32(), bits.As32())
	ADDQ(bits, zeros)
	for h := range s1 {
		half, wide := XMM(), YMM()
		VEXTRACTF128(Imm(uint64(h)), d, half)
		VCVTPS2PD(half, wide)
		VADDPD(wide, s1[h], s1[h])
		VFMADD231PD(wide, wide, s2[h]) // the square of a float32 is exact
	}
	ADDQ(Imm(32), x)
	ADDQ(Imm(32), y)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("loop"))
	for h := range s1 {
		VMOVUPD(s1[h], Mem{Base: sum, Disp: 32 * h})
		VMOVUPD(s2[h], Mem{Base: sq, Disp: 32 * h})
	}
	Store(zeros, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
