package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

// copyAhead is the number of rows by which a row is prefetched.
const copyAhead = 8

// copyRows emits the look-up of rows, which are fetched ahead: they lie at random in a table that
// no cache may hold.
func copyRows(s simd.ISA) {
	name := "copyRows" + s.Suffix
	TEXT(name, NOSPLIT, "func(dst *float32, w int, x *float32, ldx int, idx []int32)")
	Pragma("noescape")
	Doc(name + " is CopyRows for w >= 1 and one row or more; ldx is in bytes.")
	dst, w, x, ldx := simd.Int("dst"), simd.Int("w"), simd.Int("x"), simd.Int("ldx")
	idx := Load(Param("idx").Base(), GP64()).(reg.GPVirtual)
	last := Load(Param("idx").Len(), GP64()).(reg.GPVirtual)
	DECQ(last)
	e, from, next, left := GP64(), GP64(), GP64(), GP64()
	address := func(place, to reg.GPVirtual) {
		MOVLQSX(Mem{Base: idx, Index: place, Scale: 4}, to)
		IMULQ(ldx, to)
		ADDQ(x, to)
	}
	v := s.Vec()
	XORQ(e, e)
	Label("row")
	address(e, from)
	LEAQ(Mem{Base: e, Disp: copyAhead}, next)
	CMPQ(next, last)
	CMOVQGT(last, next)
	address(next, next)
	MOVQ(w, left)
	Label("vector")
	CMPQ(left, I32(int32(s.Lanes)))
	JL(LabelRef("tail"))
	PREFETCHT0(Mem{Base: next})
	s.Load(Mem{Base: from}, v)
	s.Store(v, Mem{Base: dst})
	for _, p := range []reg.GPVirtual{from, next, dst} {
		ADDQ(I32(int32(s.Bytes())), p)
	}
	SUBQ(I32(int32(s.Lanes)), left)
	JMP(LabelRef("vector"))
	Label("tail")
	TESTQ(left, left)
	JZ(LabelRef("end"))
	PREFETCHT0(Mem{Base: next})
	mask := s.MaskOf(left)
	s.LoadMasked(Mem{Base: from}, mask, v)
	s.StoreMasked(v, mask, Mem{Base: dst})
	LEAQ(Mem{Base: dst, Index: left, Scale: 4}, dst)
	Label("end")
	INCQ(e)
	CMPQ(e, last)
	JLE(LabelRef("row"))
	VZEROUPPER()
	RET()
}
