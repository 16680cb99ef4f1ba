package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

// matrix walks over the rows of matrices without gaps, whose width is the length of its first slice.
type matrix struct {
	*loop
	width, rows reg.GPVirtual
	bit         reg.GPVirtual // byte of a vector's first bit in its row
}

// beginRows opens a kernel over slices of one row, pointers to rows and to bits, "rows" of them.
func beginRows(s simd.ISA, name, signature, doc string, slices, pointers []string) *matrix {
	m := &matrix{loop: begin(s, name, signature, doc, slices...), width: GP64(), bit: GP64()}
	for _, p := range pointers {
		m.ptr[p] = simd.Int(p)
	}
	m.rows = simd.Int("rows")
	MOVQ(m.n, m.width)
	return m
}

// eachRow emits body for every vector of every row. next emits the move to the next row.
func (m *matrix) eachRow(start func(), body func(u int), next func(bytes reg.GPVirtual)) {
	Label("row")
	MOVQ(m.width, m.n)
	XORQ(m.i, m.i)
	start()
	m.each(1, body)
	bytes := m.n
	LEAQ(Mem{Base: m.width, Index: m.width, Scale: 1}, bytes)
	ADDQ(bytes, bytes)
	next(bytes)
	DECQ(m.rows)
	JNZ(LabelRef("row"))
	m.end()
}

// place sets bit to the byte of this vector's first bit: one for 8 lanes of 4 bytes.
func (m *matrix) place() {
	MOVQ(m.i, m.bit)
	SHRQ(Imm(5), m.bit)
}

func (m *matrix) bits(p string) Mem { return Mem{Base: m.ptr[p], Index: m.bit, Scale: 1} }

// where returns the lanes whose bit is set in p.
func (m *matrix) where(p string) reg.Register {
	if m.Wide() {
		k := K()
		KMOVW(m.bits(p), k)
		return k
	}
	v, lanes := YMM(), YMM()
	VPBROADCASTB(m.bits(p), v)
	VMOVDQU(laneBits(), lanes)
	VPAND(lanes, v, v)
	VPCMPEQD(lanes, v, v)
	return v
}

var laneBitsData *Mem

// laneBits is bit l in lane l of eight.
func laneBits() Mem {
	if laneBitsData == nil {
		g := GLOBL("laneBits", RODATA|NOPTR)
		for l := range 8 {
			DATA(4*l, U32(1<<l))
		}
		laneBitsData = &g
	}
	return *laneBitsData
}

// keep leaves 0 in v outside k.
func (m *matrix) keep(v reg.VecVirtual, k reg.Register) {
	if m.Wide() {
		VMOVAPS_Z(v, k, v)
	} else {
		VANDPS(k, v, v)
	}
}

// pick sets the lanes of v in k to those of w.
func (m *matrix) pick(v, w reg.VecVirtual, k reg.Register) {
	if m.Wide() {
		VMOVAPS(w, k, v)
	} else {
		VBLENDVPS(k, w, v, v)
	}
}

// leakyDrop emits the end of a layer: biases, LeakyReLU and dropout.
func leakyDrop(s simd.ISA) {
	m := beginRows(s, "leakyDrop",
		"b1, b2 []float32, rows int, y, z *float32, slope, keep float32, kept *uint64, keptStep int, above *uint64, "+
			"aboveStep int)",
		"is LeakyDrop for rows >= 1; steps are in bytes.", []string{"b1", "b2"}, []string{"y", "z", "kept", "above"})
	slope, keep, zero := m.Broadcast("slope"), m.Broadcast("keep"), m.zeros(1)[0]
	m.eachRow(func() {}, func(u int) {
		m.place()
		v, z, low := m.read("y", u), m.read("z", u), m.Vec()
		VADDPS(m.read("b1", u), v, v)
		VADDPS(m.read("b2", u), z, z)
		VADDPS(z, v, v)
		VMULPS(slope, v, low)
		if m.Wide() {
			k := K()
			VCMPPS(Imm(cmpLT), v, zero, k)
			KMOVW(k, m.bits("above"))
			m.pick(low, v, k)
		} else {
			k, b := m.Vec(), GP32()
			VCMPPS(Imm(cmpLT), v, zero, k)
			VMOVMSKPS(k, b)
			MOVB(b.As8(), m.bits("above"))
			m.pick(low, v, k)
		}
		VMULPS(keep, low, low)
		m.keep(low, m.where("kept"))
		m.write(low, "y", u)
	}, func(bytes reg.GPVirtual) {
		ADDQ(bytes, m.ptr["y"])
		ADDQ(bytes, m.ptr["z"])
		ADDQ(simd.Arg(Param("keptStep")), m.ptr["kept"])
		ADDQ(simd.Arg(Param("aboveStep")), m.ptr["above"])
	})
}

// leakyBack emits the backward pass through dropout and LeakyReLU.
func leakyBack(s simd.ISA) {
	m := beginRows(s, "leakyBack",
		"g []float32, rows int, slope, keep float32, kept *uint64, keptStep int, above *uint64, aboveStep int)",
		"is LeakyBack for rows >= 1 as long as g; steps are in bytes.", []string{"g"}, []string{"kept", "above"})
	slope, keep := m.Broadcast("slope"), m.Broadcast("keep")
	m.eachRow(func() {}, func(u int) {
		m.place()
		g, low := m.read("g", u), m.Vec()
		VMULPS(keep, g, g)
		m.keep(g, m.where("kept"))
		VMULPS(slope, g, low)
		m.pick(low, g, m.where("above"))
		m.write(low, "g", u)
	}, func(bytes reg.GPVirtual) {
		ADDQ(bytes, m.ptr["g"])
		ADDQ(simd.Arg(Param("keptStep")), m.ptr["kept"])
		ADDQ(simd.Arg(Param("aboveStep")), m.ptr["above"])
	})
}

// addScaled emits AddScaled.
func addScaled(s simd.ISA) {
	m := beginRows(s, "addScaled", "s []float32, rows int, own, x, p *float32)",
		"is AddScaled for rows >= 1 as long as s.", []string{"s"}, []string{"own", "x", "p"})
	own := m.Vec()
	m.eachRow(func() { VBROADCASTSS(Mem{Base: m.ptr["own"]}, own) }, func(u int) {
		v, x, t := m.read("s", u), m.read("x", u), m.Vec()
		VMULPS(own, x, t)
		VADDPS(t, v, v)
		m.write(v, "s", u)
		VMULPS(v, x, x)
		m.write(x, "p", u)
	}, func(bytes reg.GPVirtual) {
		for _, p := range []string{"s", "x", "p"} {
			ADDQ(bytes, m.ptr[p])
		}
		ADDQ(Imm(4), m.ptr["own"])
	})
}

// scaledBack emits ScaledBack.
func scaledBack(s simd.ISA) {
	m := beginRows(s, "scaledBack", "s []float32, rows int, own, x, a, b, dx *float32)",
		"is ScaledBack for rows >= 1 as long as s.", []string{"s"}, []string{"own", "x", "a", "b", "dx"})
	own := m.Vec()
	m.eachRow(func() { VBROADCASTSS(Mem{Base: m.ptr["own"]}, own) }, func(u int) {
		v, x, a, b := m.read("s", u), m.read("x", u), m.read("a", u), m.read("b", u)
		VMULPS(b, v, v)
		VMULPS(b, x, x)
		VADDPS(x, a, a)
		m.write(a, "s", u)
		VFMADD231PS(a, own, v)
		m.write(v, "dx", u)
	}, func(bytes reg.GPVirtual) {
		for _, p := range []string{"s", "x", "a", "b", "dx"} {
			ADDQ(bytes, m.ptr[p])
		}
		ADDQ(Imm(4), m.ptr["own"])
	})
}
