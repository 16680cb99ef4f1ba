package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

// packRows emits the packer of an operand that already has its rows along the
// inner dimension: row after row, nv vectors (of which width lanes are used) to
// each panel.
func packRows(s simd.ISA, nv int) {
	name := fmt.Sprintf("packRows%sx%d", s.Suffix, nv)
	TEXT(name, NOSPLIT, "func(k int, src *float32, srs int, dst *float32, dps, panels, width, tail int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s copies k rows of panels*width+tail floats, srs bytes apart, into panels dps bytes apart "+
		"whose rows are %d floats, padded with zeros. 0 < width <= %d, 0 <= tail < width.", name, nv*s.Lanes,
		nv*s.Lanes))
	k, src, srs := simd.Int("k"), simd.Int("src"), simd.Int("srs")
	dst, dps := simd.Int("dst"), simd.Int("dps")
	width, tail := simd.Int("width"), simd.Int("tail")
	wm, tm := laneMasks(s, width, nv), laneMasks(s, tail, nv)
	SHLQ(Imm(2), width)
	p, q, n := GP64(), GP64(), GP64()
	v := make([]reg.VecVirtual, nv)
	for j := range v {
		v[j] = s.Vec()
	}
	move := func(m []simd.Mask) {
		for j := range v {
			s.LoadMasked(Mem{Base: p, Disp: j * s.Bytes()}, m[j], v[j])
		}
		for j := range v {
			s.Store(v[j], Mem{Base: q, Disp: j * s.Bytes()})
		}
	}
	Label("row")
	MOVQ(src, p)
	MOVQ(dst, q)
	Load(Param("panels"), n)
	TESTQ(n, n)
	JZ(LabelRef("tail"))
	Label("panel")
	move(wm)
	ADDQ(width, p)
	ADDQ(dps, q)
	DECQ(n)
	JNZ(LabelRef("panel"))
	Label("tail")
	TESTQ(tail, tail)
	JZ(LabelRef("next"))
	move(tm)
	Label("next")
	ADDQ(srs, src)
	ADDQ(I32(int32(nv*s.Bytes())), dst)
	DECQ(k)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// laneMasks returns the masks of nv vectors that together hold n lanes.
func laneMasks(s simd.ISA, n reg.GPVirtual, nv int) []simd.Mask {
	masks := make([]simd.Mask, nv)
	zero, left, m, lanes := GP64(), GP64(), GP64(), GP64()
	XORQ(zero, zero)
	MOVQ(n, left)
	MOVQ(U32(uint32(s.Lanes)), lanes)
	for j := range masks {
		MOVQ(left, m)
		CMPQ(m, lanes)
		CMOVQGT(lanes, m)
		masks[j] = s.MaskOf(m)
		SUBQ(m, left)
	}
	return masks
}

// packCols emits the packer of an operand whose columns lie along the inner dimension: it transposes square blocks in
// registers. Rows from width on repeat the last one; their values end in columns of C that are never stored.
func packCols(s simd.ISA) {
	name := "packCols" + s.Suffix
	TEXT(name, NOSPLIT, "func(k int, src *float32, srs int, dst *float32, drs, width int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s writes k rows of %d floats, drs bytes apart: the transpose of width rows of k floats, srs "+
		"bytes apart, 0 < width <= %d. Lanes from width on are arbitrary.", name, s.Lanes, s.Lanes))
	k, src, srs := simd.Int("k"), simd.Int("src"), simd.Int("srs")
	dst, drs, width := simd.Int("dst"), simd.Int("drs"), simd.Int("width")
	zero, step, p := GP64(), GP64(), GP64()
	XORQ(zero, zero)
	v := make([]reg.VecVirtual, s.Lanes)
	for i := range v {
		v[i] = s.Vec()
	}
	free := s.Vec()
	load := func(read func(Mem, reg.VecVirtual)) {
		MOVQ(src, p)
		MOVQ(srs, step)
		for i := range v {
			read(Mem{Base: p}, v[i])
			if i+1 < len(v) {
				CMPQ(width, Imm(uint64(i+1)))
				CMOVQLE(zero, step)
				ADDQ(step, p)
			}
		}
	}
	Label("block")
	CMPQ(k, Imm(uint64(s.Lanes)))
	JL(LabelRef("tail"))
	load(s.Load)
	for _, x := range transpose(s, v, free) {
		s.Store(x, Mem{Base: dst})
		ADDQ(drs, dst)
	}
	ADDQ(I32(int32(s.Bytes())), src)
	SUBQ(Imm(uint64(s.Lanes)), k)
	JMP(LabelRef("block"))

	Label("tail")
	TESTQ(k, k)
	JZ(LabelRef("end"))
	mask := s.MaskOf(k)
	load(func(m Mem, x reg.VecVirtual) { s.LoadMasked(m, mask, x) })
	for _, x := range transpose(s, v, free)[:s.Lanes-1] {
		s.Store(x, Mem{Base: dst})
		ADDQ(drs, dst)
		DECQ(k)
		JZ(LabelRef("end"))
	}
	Label("end")
	VZEROUPPER()
	RET()
}

// transpose emits the transposition of the square block whose rows are v, with
// one free register, and returns the registers of its columns in order. Each
// step interleaves two registers into two others.
func transpose(s simd.ISA, v []reg.VecVirtual, free reg.VecVirtual) []reg.VecVirtual {
	v = append([]reg.VecVirtual(nil), v...)
	type shuffle func(b, a, dst Op)
	step := func(i, j int, low, high shuffle) {
		low(v[j], v[i], free)
		high(v[j], v[i], v[j])
		v[i], free = free, v[i]
	}
	for i := 0; i < len(v); i += 2 {
		step(i, i+1, op(VUNPCKLPS), op(VUNPCKHPS))
	}
	for i := 0; i < len(v); i += 4 { // 4 x 4 blocks within each 128-bit lane
		step(i, i+2, op(VUNPCKLPD), op(VUNPCKHPD))
		step(i+1, i+3, op(VUNPCKLPD), op(VUNPCKHPD))
		v[i+1], v[i+2] = v[i+2], v[i+1]
	}
	if !s.Wide() {
		perm2 := func(o ...Op) { VPERM2F128(o[0], o[1], o[2], o[3]) }
		for c := range 4 {
			step(c, 4+c, imm(perm2, 0x20), imm(perm2, 0x31))
		}
		return v
	}
	even, odd := imm(VSHUFF32X4, 0x88), imm(VSHUFF32X4, 0xdd) // 128-bit lanes 0, 2 and 1, 3 of both
	for c := range 4 {
		step(c, 4+c, even, odd)
		step(8+c, 12+c, even, odd)
	}
	for c := range 4 {
		step(c, 8+c, even, odd)
		step(4+c, 12+c, even, odd)
	}
	return v
}

// op adapts an instruction of three operands.
func op(f func(...Op)) func(b, a, dst Op) {
	return func(b, a, dst Op) { f(b, a, dst) }
}

// imm adapts an instruction of three operands and an immediate.
func imm(f func(...Op), i uint64) func(b, a, dst Op) {
	return func(b, a, dst Op) { f(Imm(i), b, a, dst) }
}
