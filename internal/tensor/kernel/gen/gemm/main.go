// Command gemm generates the micro-kernels of the float32 product.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

func main() {
	ConstraintExpr("amd64,!f64")
	for mr := 1; mr <= 14; mr++ {
		strip(simd.AVX512, mr)
	}
	for mr := 1; mr <= 6; mr++ {
		strip(simd.AVX2, mr)
	}
	for _, s := range []simd.ISA{simd.AVX512, simd.AVX2} {
		packRows(s, 1)
		packRows(s, 2)
		packCols(s)
	}
	Generate()
}

// strip emits C (+)= alpha A B for mr rows of A and a packed B, panel by panel.
// The tile of one panel, mr rows by two vectors, stays in registers.
func strip(s simd.ISA, mr int) {
	name := fmt.Sprintf("strip%sx%d", s.Suffix, mr)
	TEXT(name, NOSPLIT, "func(k int, a *float32, ars, acs int, b, c *float32, crs, panels, tail int, alpha float32, "+
		"acc int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is Strip for %d rows: panels full panels of %d columns and a last one of tail columns. ars, "+
		"acs and crs are in bytes.", name, mr, 2*s.Lanes))
	g := &stripGen{ISA: s, mr: mr}
	ars := simd.Int("ars")
	g.acs, g.b, g.c, g.crs = simd.Int("acs"), simd.Int("b"), simd.Int("c"), simd.Int("crs")
	g.panels, g.k = simd.Int("panels"), GP64()
	g.rows(ars)
	for range mr {
		g.acc = append(g.acc, [2]reg.VecVirtual{s.Vec(), s.Vec()})
	}
	g.v = [2]reg.VecVirtual{s.Vec(), s.Vec()}
	g.t = [2]reg.VecVirtual{s.Vec(), s.Vec()}

	Label("panel")
	TESTQ(g.panels, g.panels)
	JZ(LabelRef("last"))
	g.multiply("full", 2, whole)
	g.store("full", 2, false)
	ADDQ(I32(int32(2*s.Bytes())), g.c)
	DECQ(g.panels)
	JMP(LabelRef("panel"))

	Label("last")
	Comment("The last panel is panels' register from here on: it counts the columns.")
	Load(Param("tail"), g.panels)
	TESTQ(g.panels, g.panels)
	JZ(LabelRef("end"))
	CMPQ(g.panels, Imm(uint64(s.Lanes)))
	JG(LabelRef("wide"))
	if s.Wide() { // a processor that halves wide registers does two half ones in the time of one
		CMPQ(g.panels, Imm(uint64(s.Lanes/2)))
		JG(LabelRef("half"))
		g.multiply("slim", 1, reg.VecVirtual.AsY)
		JMP(LabelRef("sums"))
		Label("half")
	}
	g.multiply("narrow", 1, whole)
	Label("sums")
	g.store("narrow", 1, true)
	JMP(LabelRef("end"))
	Label("wide")
	g.multiply("wide", 2, whole)
	SUBQ(Imm(uint64(s.Lanes)), g.panels)
	g.store("wide", 2, true)
	Label("end")
	VZEROUPPER()
	RET()
}

// stripGen holds the registers of one strip kernel.
type stripGen struct {
	simd.ISA
	mr                        int
	bases                     []reg.GPVirtual // addresses of rows 0, 5, 10
	ars, ars3                 reg.GPVirtual
	acs, b, c, crs, panels, k reg.GPVirtual
	acc                       [][2]reg.VecVirtual
	v, t                      [2]reg.VecVirtual // columns of B; a broadcast element of A
}

// rowsPerBase is the number of rows reached from one base register: 0, 1, 2, 3 and 4 strides.
const rowsPerBase = 5

func (g *stripGen) rows(ars reg.GPVirtual) {
	g.ars = ars
	for i := 0; i < g.mr; i += rowsPerBase {
		g.bases = append(g.bases, GP64())
	}
	if g.mr > 3 {
		g.ars3 = GP64()
		LEAQ(Mem{Base: ars, Index: ars, Scale: 2}, g.ars3)
	}
}

// rewind points the bases at the first column of A.
func (g *stripGen) rewind() {
	Load(Param("a"), g.bases[0])
	for i := 1; i < len(g.bases); i++ {
		LEAQ(Mem{Base: g.bases[i-1], Index: g.ars, Scale: 4}, g.bases[i])
		ADDQ(g.ars, g.bases[i])
	}
}

// element returns the address of row i in the current column of A.
func (g *stripGen) element(i int) Mem {
	base := g.bases[i/rowsPerBase]
	switch i % rowsPerBase {
	case 0:
		return Mem{Base: base}
	case 3:
		return Mem{Base: base, Index: g.ars3, Scale: 1}
	default:
		return Mem{Base: base, Index: g.ars, Scale: uint8(i % rowsPerBase)}
	}
}

// whole returns a register at its full width.
func whole(v reg.VecVirtual) reg.Register { return v }

// multiply fills the accumulators of one panel, nv vectors wide. part returns the part of each register that is needed.
func (g *stripGen) multiply(label string, nv int, part func(reg.VecVirtual) reg.Register) {
	g.rewind()
	Load(Param("k"), g.k)
	for i := range g.acc {
		for j := range nv {
			g.Zero(g.acc[i][j])
		}
	}
	Label(label + "K")
	for j := range nv {
		VMOVUPS(Mem{Base: g.b, Disp: j * g.Bytes()}, part(g.v[j]))
	}
	ADDQ(I32(int32(2*g.Bytes())), g.b)
	for i := range g.acc {
		x := part(g.t[i%2])
		VBROADCASTSS(g.element(i), x)
		for j := range nv {
			VFMADD231PS(part(g.v[j]), x, part(g.acc[i][j]))
		}
	}
	for _, base := range g.bases {
		ADDQ(g.acs, base)
	}
	DECQ(g.k)
	JNZ(LabelRef(label + "K"))
}

// store writes the accumulators to C, the last vector under a mask of as many
// lanes as the panels register counts.
func (g *stripGen) store(label string, nv int, masked bool) {
	alpha, tmp := g.t[0], g.t[1]
	VBROADCASTSS(simd.Arg(Param("alpha")), alpha)
	var mask simd.Mask
	if masked && g.Wide() {
		mask = g.MaskOf(g.panels)
	} else if masked { // no vector register is free but B's
		mask = g.MaskInto(g.panels, g.v[0])
	}
	row := GP64()
	MOVQ(g.c, row)
	flag := GP64()
	Load(Param("acc"), flag)
	TESTQ(flag, flag)
	JZ(LabelRef(label + "Set"))
	for i := range g.acc {
		for j := range nv {
			dst := Mem{Base: row, Disp: j * g.Bytes()}
			if masked && j == nv-1 {
				g.LoadMasked(dst, mask, tmp)
				VFMADD213PS(tmp, alpha, g.acc[i][j])
				g.StoreMasked(g.acc[i][j], mask, dst)
			} else {
				VFMADD213PS(dst, alpha, g.acc[i][j])
				g.Store(g.acc[i][j], dst)
			}
		}
		ADDQ(g.crs, row)
	}
	JMP(LabelRef(label + "Done"))
	Label(label + "Set")
	for i := range g.acc {
		for j := range nv {
			dst := Mem{Base: row, Disp: j * g.Bytes()}
			VMULPS(alpha, g.acc[i][j], g.acc[i][j])
			if masked && j == nv-1 {
				g.StoreMasked(g.acc[i][j], mask, dst)
			} else {
				g.Store(g.acc[i][j], dst)
			}
		}
		ADDQ(g.crs, row)
	}
	Label(label + "Done")
}
