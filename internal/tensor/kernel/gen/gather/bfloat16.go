package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

// upper masks the upper half of 32 bits, where a bfloat16 value is a float32.
const upper = 0xffff0000

// bfloat16 returns two-byte values in pairs: of every 16 columns, the lower half of word k is column k and the upper
// half column k+8. One read then gives two registers of float32 values, by a shift and by a mask.
func bfloat16() values {
	return values{
		kernel: "GatherBfloat16", kind: "uint16", bytes: 2, blocks: []int{8, 4, 2}, tail: 2,
		adder: func(s simd.ISA) func(Mem, reg.VecVirtual, []reg.VecVirtual, []simd.Mask) {
			mask := s.Bits("upper", upper)
			return func(src Mem, v reg.VecVirtual, acc []reg.VecVirtual, _ []simd.Mask) {
				for i := 0; i < len(acc); i += 2 {
					lo, hi := s.Vec(), s.Vec()
					pairs := src.Offset(i / 2 * s.Bytes())
					if s.Wide() {
						VMOVDQU32(pairs, hi)
						VPSLLD(U8(16), hi, lo)
						VPANDD(mask, hi, hi)
					} else {
						VMOVDQU(pairs, hi)
						VPSLLD(U8(16), hi, lo)
						VPAND(mask, hi, hi)
					}
					VFMADD231PS(lo, v, acc[i])
					VFMADD231PS(hi, v, acc[i+1])
				}
			}
		},
		order: func(s simd.ISA, acc []reg.VecVirtual) {
			for i := 0; i < len(acc) && s.Wide(); i += 2 {
				acc[i], acc[i+1] = swap(acc[i], acc[i+1])
			}
		},
	}
}

// swap returns the lower halves of a and b, and their upper halves, AVX-512 only. It brings 16
// columns and the 16 after them, which lie as columns 0-7 with 16-23 and 8-15 with 24-31, into
// their order, and back.
func swap(a, b reg.VecVirtual) (lower, upper reg.VecVirtual) {
	lower, upper = ZMM(), ZMM()
	VSHUFF64X2(U8(0x44), b, a, lower)
	VSHUFF64X2(U8(0xee), b, a, upper)
	return lower, upper
}

// roundRows emits RoundRows.
func roundRows(s simd.ISA) {
	name := "roundRows" + s.Suffix
	TEXT(name, NOSPLIT, "func(n int, x *float32, ldx, cols int, y *uint16, ldy int)")
	Pragma("noescape")
	Doc(name + " is RoundRows for n >= 1 rows of cols >= 1; ldx and ldy are in bytes.")
	n, cols := simd.Int("n"), simd.Int("cols")
	rowX, rowY := simd.Int("x"), simd.Int("y")
	x, y, left := GP64(), GP64(), GP64()
	c := rounding{ISA: s, one: s.Bits("one", 1), bias: s.Bits("bias", 0x7fff), quiet: s.Bits("quiet", 0x400000),
		mask: s.Bits("upper", upper)}
	Label("row")
	MOVQ(rowX, x)
	MOVQ(rowY, y)
	MOVQ(cols, left)
	CMPQ(left, I32(int32(2*s.Lanes)))
	JL(LabelRef("tail"))
	Label("block")
	a, b := s.Vec(), s.Vec()
	s.Load(Mem{Base: x}, a)
	s.Load(Mem{Base: x, Disp: s.Bytes()}, b)
	c.pair(a, b, Mem{Base: y})
	ADDQ(I32(int32(2*s.Bytes())), x)
	ADDQ(I32(int32(s.Bytes())), y)
	SUBQ(I32(int32(2*s.Lanes)), left)
	CMPQ(left, I32(int32(2*s.Lanes)))
	JGE(LabelRef("block"))
	Label("tail")
	TESTQ(left, left)
	JZ(LabelRef("next"))
	masks := s.MasksOf(left, 2)
	a, b = s.Vec(), s.Vec()
	s.LoadMasked(Mem{Base: x}, masks[0], a)
	s.LoadMasked(Mem{Base: x, Disp: s.Bytes()}, masks[1], b)
	c.pair(a, b, Mem{Base: y})
	Label("next")
	ADDQ(simd.Arg(Param("ldx")), rowX)
	ADDQ(simd.Arg(Param("ldy")), rowY)
	DECQ(n)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// rounding holds the constants of a rounding.
type rounding struct {
	simd.ISA
	one, bias, quiet, mask reg.VecVirtual
}

// pair emits code that rounds two registers of consecutive columns and stores them in pairs.
func (r rounding) pair(a, b reg.VecVirtual, dst Mem) {
	if r.Wide() {
		a, b = swap(a, b)
	}
	a, b = r.nearest(a), r.nearest(b)
	VPSRLD(U8(16), a, a)
	if r.Wide() {
		VPANDD(r.mask, b, b)
		VPORD(a, b, b)
		VMOVDQU32(b, dst)
	} else {
		VPAND(r.mask, b, b)
		VPOR(a, b, b)
		VMOVDQU(b, dst)
	}
}

// nearest emits code that rounds v to the nearest value whose lower half is zero, ties to even, with anything in the
// lower half. NaN stays NaN: it becomes a quiet one.
func (r rounding) nearest(v reg.VecVirtual) reg.VecVirtual {
	t, nan := r.Vec(), r.Vec()
	VPSRLD(U8(16), v, t)
	if r.Wide() {
		k := K()
		VPANDD(r.one, t, t)
		VPADDD(r.bias, t, t)
		VPADDD(v, t, t)
		VPORD(r.quiet, v, nan)
		VCMPPS(U8(3), v, v, k)
		VMOVDQA32(nan, k, t)
		return t
	}
	VPAND(r.one, t, t)
	VPADDD(r.bias, t, t)
	VPADDD(v, t, t)
	VPOR(r.quiet, v, nan)
	VCMPPS(U8(3), v, v, v)
	VBLENDVPS(v, nan, t, t)
	return t
}
