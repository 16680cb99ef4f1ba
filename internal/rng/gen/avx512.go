package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// philox512 computes 16 blocks. Counters sit in the low halves of 64-bit
// lanes, even blocks in set 0 and odd blocks in set 1; what is left in the
// upper halves is never read.
type philox512 struct {
	s        reg.GPVirtual // schedule
	m0, m1   vec
	c2, c3   vec
	base     [2]vec // block indices
	step     vec
	oddLanes reg.OpmaskVirtual
}

func newPhilox512(c constants, first, s reg.GPVirtual) *philox512 {
	p := &philox512{s: s, m0: ZMM(), m1: ZMM(), c2: ZMM(), c3: ZMM(), base: [2]vec{ZMM(), ZMM()}, step: ZMM(),
		oddLanes: K()}
	VPBROADCASTQ(c.u64s("philoxM0", 0xD2511F53), p.m0)
	VPBROADCASTQ(c.u64s("philoxM1", 0xCD9E8D57), p.m1)
	VPBROADCASTD(Mem{Base: s, Disp: offC2}, p.c2)
	VPBROADCASTD(Mem{Base: s, Disp: offC3}, p.c3)
	VPBROADCASTQ(first, p.base[0])
	VPADDQ(c.u64s("blocksOdd", 1, 3, 5, 7, 9, 11, 13, 15), p.base[0], p.base[1])
	VPADDQ(c.u64s("blocksEven", 0, 2, 4, 6, 8, 10, 12, 14), p.base[0], p.base[0])
	VPBROADCASTQ(c.u64s("sixteen", 16), p.step)
	m := GP32()
	MOVL(U32(0xAAAA), m)
	KMOVW(m, p.oddLanes)
	return p
}

// next returns the four words of the next 16 blocks, one block a lane.
func (p *philox512) next() (words [4]vec) {
	var set [2][4]vec
	for i, b := range p.base {
		c0, c1 := ZMM(), ZMM()
		VMOVDQA64(b, c0)
		VPSRLQ(Imm(32), b, c1)
		VPADDQ(p.step, b, b)
		set[i] = [4]vec{c0, c1, p.c2, p.c3}
	}
	for r := range rounds {
		for i := range set {
			x := &set[i]
			lo0, lo1, hi0, hi1 := ZMM(), ZMM(), ZMM(), ZMM()
			VPMULUDQ(p.m0, x[0], lo0)
			VPMULUDQ(p.m1, x[2], lo1)
			VPSRLQ(Imm(32), lo0, hi0)
			VPSRLQ(Imm(32), lo1, hi1)
			VPTERNLOGD_BCST(Imm(0x96), Mem{Base: p.s, Disp: 8 * r}, x[1], hi1)   // hi1 ^ c1 ^ k0
			VPTERNLOGD_BCST(Imm(0x96), Mem{Base: p.s, Disp: 8*r + 4}, x[3], hi0) // hi0 ^ c3 ^ k1
			*x = [4]vec{hi1, lo1, hi0, lo0}
		}
	}
	for w := range words { // odd blocks into the odd lanes
		VPSHUFD(Imm(0xA0), set[1][w], p.oddLanes, set[0][w])
		words[w] = set[0][w]
	}
	return words
}

// words512 emits the kernels that make words, and those that make values of single words.
func words512(c constants) {
	TEXT("words512", NOSPLIT, "func(groups int, s *uint32, first uint64, dst *uint32)")
	Pragma("noescape")
	Doc("words512 writes the words of groups*16 Philox blocks (AVX-512F); groups > 0.")
	loop512(c, groupBytes, func(p *philox512, dst reg.GPVirtual) {
		for w, x := range p.next() {
			VMOVDQU32(x, Mem{Base: dst, Disp: 64 * w})
		}
	})

	TEXT("keep512", NOSPLIT, "func(groups int, s *uint32, first uint64, least uint32, value float32, dst *float32)")
	Pragma("noescape")
	Doc("keep512 writes value where the upper 24 bits of groups*64 words are at least least, else 0 (AVX-512F);",
		"groups > 0.")
	least, value, kept := ZMM(), ZMM(), K()
	VBROADCASTSS(address("least"), least)
	VBROADCASTSS(address("value"), value)
	loop512(c, groupBytes, func(p *philox512, dst reg.GPVirtual) {
		for w, x := range p.next() {
			VPSRLD(Imm(8), x, x)
			VPCMPUD(Imm(5), least, x, kept) // x >= least
			VMOVDQA32_Z(value, kept, x)
			VMOVDQU32(x, Mem{Base: dst, Disp: 64 * w})
		}
	})

	TEXT("keepBits512", NOSPLIT, "func(groups int, s *uint32, first uint64, least uint32, dst *uint64)")
	Pragma("noescape")
	Doc("keepBits512 writes a bit for each of groups*64 words, set where the upper 24 bits are at least least "+
		"(AVX-512F);",
		"groups > 0.")
	VBROADCASTSS(address("least"), least)
	loop512(c, groupWords/8, func(p *philox512, dst reg.GPVirtual) {
		for w, x := range p.next() {
			VPSRLD(Imm(8), x, x)
			VPCMPUD(Imm(5), least, x, kept) // x >= least
			KMOVW(kept, Mem{Base: dst, Disp: 2 * w})
		}
	})
}

// noise512 emits the kernels that make normals, and those that check them.
func noise512(c constants) {
	TEXT("normals512", NOSPLIT, "func(groups int, s *uint32, first uint64, dst *float32)")
	Pragma("noescape")
	Doc("normals512 writes groups*64 standard normals (AVX-512F); groups > 0.")
	loop512(c, groupBytes, func(p *philox512, dst reg.GPVirtual) {
		w := p.next()
		for half := range 2 {
			cos, sin := boxMuller512(c, w[2*half], w[2*half+1])
			VMOVUPS(cos, Mem{Base: dst, Disp: 128 * half})
			VMOVUPS(sin, Mem{Base: dst, Disp: 128*half + 64})
		}
	})

	TEXT("addNormals512", NOSPLIT, "func(groups int, s *uint32, first uint64, scale float32, dst *float32)")
	Pragma("noescape")
	Doc("addNormals512 adds scale times groups*64 standard normals to dst (AVX-512F); groups > 0.")
	scale := ZMM()
	VBROADCASTSS(address("scale"), scale)
	loop512(c, groupBytes, func(p *philox512, dst reg.GPVirtual) {
		w := p.next()
		for half := range 2 {
			for i, z := range pair(boxMuller512(c, w[2*half], w[2*half+1])) {
				at := Mem{Base: dst, Disp: 128*half + 64*i}
				VFMADD213PS(at, scale, z)
				VMOVUPS(z, at)
			}
		}
	})
	moments512(c)
}

func pair(a, b vec) [2]vec { return [2]vec{a, b} }

// moments512 sums the differences of two slices: 16 lanes in single precision
// over one call, added to 8 lanes in double precision at its end.
func moments512(c constants) {
	TEXT("moments512", NOSPLIT, "func(n int, before, after *float32, sum, sq *float64) (zeros int)")
	Pragma("noescape")
	Doc("moments512 adds sum and sum of squares of after-before to 8 lanes each",
		"and counts the zero differences (AVX-512F); n > 0.")
	n, x, y, sum, sq := gp("n"), gp("before"), gp("after"), gp("sum"), gp("sq")
	s1, s2, zero, d := ZMM(), ZMM(), ZMM(), ZMM()
	for _, z := range []vec{s1, s2, zero} {
		VPXORD(z, z, z)
	}
	same, rest := K(), K()
	zeros, bits := GP64(), GP64()
	XORQ(zeros, zeros)
	step := func(d vec) {
		VADDPS(d, s1, s1)
		VFMADD231PS(d, d, s2)
		KMOVW(same, bits.As32())
		POPCNTL(bits.As32(), bits.As32())
		ADDQ(bits, zeros)
	}
	Label("loop")
	CMPQ(n, Imm(16))
	JL(LabelRef("tail"))
	VMOVUPS(Mem{Base: y}, d)
	VSUBPS(Mem{Base: x}, d, d)
	VCMPPS(Imm(0), zero, d, same)
	step(d)
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), y)
	SUBQ(Imm(16), n)
	JMP(LabelRef("loop"))

	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	mask := GP32()
	MOVL(U32(1), mask)
	MOVQ(n, reg.RCX)
	SHLL(reg.CL, mask)
	DECL(mask)
	KMOVW(mask, rest)
	e := ZMM()
	VMOVUPS_Z(Mem{Base: y}, rest, d)
	VMOVUPS_Z(Mem{Base: x}, rest, e)
	VSUBPS(e, d, d)
	VCMPPS(Imm(0), zero, d, rest, same)
	step(d)

	Label("done")
	for _, a := range []struct {
		lanes vec
		to    reg.GPVirtual
	}{{s1, sum}, {s2, sq}} {
		lo, hi, upper := ZMM(), ZMM(), YMM()
		VCVTPS2PD(a.lanes.AsY(), lo)
		VEXTRACTF64X4(Imm(1), a.lanes, upper)
		VCVTPS2PD(upper, hi)
		VADDPD(hi, lo, lo)
		VADDPD(Mem{Base: a.to}, lo, lo)
		VMOVUPD(lo, Mem{Base: a.to})
	}
	Store(zeros, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func loop512(c constants, step uint32, body func(p *philox512, dst reg.GPVirtual)) {
	n, s, first, dst := gp("groups"), gp("s"), gp("first"), gp("dst")
	p := newPhilox512(c, first, s)
	Label("group")
	body(p, dst)
	ADDQ(U32(step), dst)
	DECQ(n)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// boxMuller512 is boxMuller32 of normal32.go on 16 lanes.
func boxMuller512(c constants, a, b vec) (cos, sin vec) {
	bc := func(name string, v uint32) vec {
		z := ZMM()
		VBROADCASTSS(c.u32(name, v, 8), z)
		return z
	}
	u := ZMM()
	VCVTUDQ2PS(a, u)
	VMULPS_BCST(c.u32("pow32", f32(0x1p-32), 8), u, u)
	VADDPS_BCST(c.u32("half32", f32(0x1p-33), 8), u, u)

	f, e := ZMM(), ZMM()
	VGETMANTPS(Imm(0), u, f) // [1, 2)
	VGETEXPPS(u, e)
	one := bc("one", f32(1))
	big := K()
	VCMPPS_BCST(Imm(13), c.u32("sqrt2", f32(math.Sqrt2), 8), f, big) // f >= sqrt 2
	VMULPS_BCST(c.u32("half", f32(0.5), 8), f, big, f)
	VADDPS(one, e, big, e)
	VSUBPS(one, f, f)
	z, p := ZMM(), ZMM()
	VMULPS(f, f, z)
	VBROADCASTSS(c.u32("log0", math.Float32bits(logPoly[0]), 8), p)
	for i, q := range logPoly[1:] {
		VFMADD213PS_BCST(c.u32(fmt.Sprint("log", i+1), math.Float32bits(q), 8), f, p)
	}
	fz := ZMM()
	VMULPS(f, z, fz)
	VMULPS(fz, p, p)
	VFMADD231PS_BCST(c.u32("mhalf", f32(-0.5), 8), z, p)
	VADDPS(f, p, p)
	VFMADD231PS_BCST(c.u32("ln2", f32(math.Ln2), 8), e, p) // ln u
	r := ZMM()
	VMULPS_BCST(c.u32("mtwo", f32(-2), 8), p, r)
	VSQRTPS(r, r)

	th, t2 := ZMM(), ZMM()
	VPSLLD(Imm(2), b, th)
	VPSRAD(Imm(2), th, th)
	VCVTDQ2PS(th, th)
	VMULPS_BCST(c.u32("quarter", f32(quarter), 8), th, th)
	VMULPS(th, th, t2)
	s := ZMM()
	VBROADCASTSS(c.u32("sin0", math.Float32bits(sinPoly[0]), 8), s)
	for i, q := range sinPoly[1:] {
		VFMADD213PS_BCST(c.u32(fmt.Sprint("sin", i+1), math.Float32bits(q), 8), t2, s)
	}
	VMULPS(t2, s, s)
	VFMADD213PS(th, th, s)
	k := ZMM()
	VBROADCASTSS(c.u32("cos0", math.Float32bits(cosPoly[0]), 8), k)
	for i, q := range cosPoly[1:] {
		VFMADD213PS_BCST(c.u32(fmt.Sprint("cos", i+1), math.Float32bits(q), 8), t2, k)
	}
	VMULPS(r, s, s)
	VMULPS(r, k, k)

	turn := K()
	VPTESTMD_BCST(c.u32("turn30", turn30, 8), b, turn)
	cos, sin = ZMM(), ZMM()
	VBLENDMPS(s, k, turn, cos)
	VBLENDMPS(k, s, turn, sin)
	signs := bc("sign", sign)
	both := ZMM()
	VPSLLD(Imm(1), b, both)
	VPTERNLOGD(Imm(0x28), signs, b, both) // (bit 31 ^ bit 30) in place of the sign
	VPXORD(both, cos, cos)
	VPTERNLOGD(Imm(0x78), signs, b, sin) // sin ^ (b & sign)
	return cos, sin
}
