// Command gather generates the sparse sums of scaled rows: of float32 values, or with -bfloat16
// of two-byte ones, and what rounds to these.
package main

import (
	"flag"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

// ahead is the number of entries by which rows are prefetched: enough to hide the latency of the last cache, few enough
// for the nearest cache to hold them all.
const ahead = 32

// rowsAhead is the number of rows by which a row of the result is prefetched before it is written, if rows go to
// scattered places: writes wait for such rows, and a core has room for few waiting writes.
const rowsAhead = 4

func main() {
	short := flag.Bool("bfloat16", false, "rows of bfloat16 values")
	flag.Parse()
	ConstraintExpr("amd64,!f64")
	for _, s := range []simd.ISA{simd.AVX512, simd.AVX2} {
		if *short {
			gatherRows(s, bfloat16())
			roundRows(s)
		} else {
			gatherRows(s, float32s())
			spmmRows(s)
		}
	}
	if !*short {
		fetchRows()
	}
	Generate()
}

// fetchRows emits FetchRows.
func fetchRows() {
	TEXT("fetchRows", NOSPLIT, "func(n int, rows *int32, x *float32, ldx, width int)")
	Pragma("noescape")
	Doc("fetchRows is FetchRows for n >= 1 rows; ldx and width are in bytes, width at least 1.")
	n, rows, x := simd.Int("n"), simd.Int("rows"), simd.Int("x")
	ldx, width := simd.Int("ldx"), simd.Int("width")
	at, end := GP64(), GP64()
	Label("row")
	MOVLQSX(Mem{Base: rows}, at)
	IMULQ(ldx, at)
	ADDQ(x, at)
	LEAQ(Mem{Base: at, Index: width, Scale: 1}, end)
	Label("line")
	PREFETCHT0(Mem{Base: at})
	ADDQ(I32(64), at)
	CMPQ(at, end)
	JLT(LabelRef("line"))
	ADDQ(I32(4), rows)
	DECQ(n)
	JNZ(LabelRef("row"))
	RET()
}

// values describes how the values of a row are stored.
type values struct {
	kernel string // that they make
	kind   string // of a value, in Go
	bytes  int    // of a value
	blocks []int  // registers of sums that a block of columns takes, falling
	tail   int    // those of the columns that are left
	// adder emits the constants of a kernel. It returns a function that emits code to add v times the values at src to
	// acc. Without masks it covers all lanes.
	adder func(s simd.ISA) func(src Mem, v reg.VecVirtual, acc []reg.VecVirtual, masks []simd.Mask)
	// order emits code that brings sums into the order of the columns.
	order func(s simd.ISA, acc []reg.VecVirtual)
}

// float32s returns the layout of plain float32 values.
func float32s() values {
	return values{
		kernel: "GatherRows", kind: "float32", bytes: 4, blocks: []int{8, 4, 1}, tail: 1,
		adder: func(s simd.ISA) func(Mem, reg.VecVirtual, []reg.VecVirtual, []simd.Mask) {
			return func(src Mem, v reg.VecVirtual, acc []reg.VecVirtual, masks []simd.Mask) {
				t := s.Vec()
				for i := range acc {
					if masks != nil {
						s.LoadMasked(src.Offset(i*s.Bytes()), masks[i], t)
						VFMADD231PS(t, v, acc[i])
					} else {
						VFMADD231PS(src.Offset(i*s.Bytes()), v, acc[i])
					}
				}
			}
		},
		order: func(simd.ISA, []reg.VecVirtual) {},
	}
}

// gatherRows emits a kernel that gathers rows. Columns go by in blocks; the sums of a block
// stay in registers while the entries of a row are read.
func gatherRows(s simd.ISA, f values) {
	name := strings.ToLower(f.kernel[:1]) + f.kernel[1:] + s.Suffix
	TEXT(name, NOSPLIT, "func(n int, ptr *int64, idx *int32, last int, left, right *float32, x *"+f.kind+
		", ldx int, y *float32, ldy, cols int, to *int32, lastTo int)")
	Pragma("noescape")
	Doc(name+" is "+f.kernel+" for n >= 1 rows; ldx and ldy are in bytes, last is the last",
		"entry of idx, lastTo that of to, and to may be nil.")
	idx, last, right := simd.Int("idx"), simd.Int("last"), simd.Int("right")
	x, ldx, cols := simd.Int("x"), simd.Int("ldx"), simd.Int("cols")
	l := entries{s, idx, last, x, ldx, f.bytes, f.adder(s)}
	block := func(label string, nv int, masks []simd.Mask) {
		row, ptr, left, y := GP64(), simd.Int("ptr"), simd.Int("left"), simd.Int("y")
		XORQ(row, row)
		acc := make([]reg.VecVirtual, nv)
		for i := range acc {
			acc[i] = s.Vec()
		}
		v := s.Vec()
		e, end, j, p := GP64(), GP64(), GP64(), GP64()
		Label(label + "Row")
		for i := range acc {
			s.Zero(acc[i])
		}
		MOVQ(simd.Arg(Param("to")), p)
		TESTQ(p, p)
		JZ(LabelRef(label + "Sum"))
		LEAQ(Mem{Base: row, Disp: rowsAhead}, j)
		CMPQ(j, simd.Arg(Param("lastTo")))
		CMOVQGT(simd.Arg(Param("lastTo")), j)
		MOVLQSX(Mem{Base: p, Index: j, Scale: 4}, p)
		IMULQ(simd.Arg(Param("ldy")), p)
		prefetch(Mem{Base: y, Index: p, Scale: 1}, nv*s.Bytes())
		Label(label + "Sum")
		MOVQ(Mem{Base: ptr, Index: row, Scale: 8}, e)
		MOVQ(Mem{Base: ptr, Index: row, Scale: 8, Disp: 8}, end)
		l.add(label, e, end, j, p, v, acc, masks, func() Mem { return Mem{Base: right, Index: j, Scale: 4} })
		VBROADCASTSS(Mem{Base: left, Index: row, Scale: 4}, v)
		place, to := e, end // e and end have been used up
		MOVQ(row, place)
		MOVQ(simd.Arg(Param("to")), to)
		TESTQ(to, to)
		JZ(LabelRef(label + "Store"))
		MOVLQSX(Mem{Base: to, Index: row, Scale: 4}, place)
		Label(label + "Store")
		IMULQ(simd.Arg(Param("ldy")), place)
		f.order(s, acc)
		for i := range acc {
			VMULPS(v, acc[i], acc[i])
			dst := Mem{Base: y, Index: place, Scale: 1, Disp: i * s.Bytes()}
			if masks != nil {
				s.StoreMasked(acc[i], masks[i], dst)
			} else {
				s.Store(acc[i], dst)
			}
		}
		INCQ(row)
		CMPQ(row, simd.Arg(Param("n")))
		JL(LabelRef(label + "Row"))
		ADDQ(I32(int32(nv*s.Lanes*f.bytes)), x)
		ADDQ(I32(int32(nv*s.Bytes())), simd.Arg(Param("y")))
		SUBQ(I32(int32(nv*s.Lanes)), cols)
	}
	blocks(s, cols, f, block)
}

// entries are the entries of a sparse matrix and the rows that they name.
type entries struct {
	simd.ISA
	idx, last, x, ldx reg.GPVirtual
	bytes             int // of a value
	each              func(src Mem, v reg.VecVirtual, acc []reg.VecVirtual, masks []simd.Mask)
}

// add adds the rows that entries e to end name to acc, each times the factor that factor gives the
// address of once j holds the entry's column. It fetches the rows of later entries.
func (l *entries) add(label string, e, end, j, p reg.GPVirtual, v reg.VecVirtual, acc []reg.VecVirtual,
	masks []simd.Mask, factor func() Mem) {
	JMP(LabelRef(label + "Test"))
	Label(label + "Entry")
	LEAQ(Mem{Base: e, Disp: ahead}, j)
	CMPQ(j, l.last)
	CMOVQGT(l.last, j)
	MOVLQSX(Mem{Base: l.idx, Index: j, Scale: 4}, p)
	IMULQ(l.ldx, p)
	prefetch(Mem{Base: l.x, Index: p, Scale: 1}, len(acc)*l.Lanes*l.bytes)
	MOVLQSX(Mem{Base: l.idx, Index: e, Scale: 4}, j)
	VBROADCASTSS(factor(), v)
	IMULQ(l.ldx, j)
	l.each(Mem{Base: l.x, Index: j, Scale: 1}, v, acc, masks)
	INCQ(e)
	Label(label + "Test")
	CMPQ(e, end)
	JL(LabelRef(label + "Entry"))
}

// blocks emits block for the blocks of columns listed in f, in descending size, then under masks for the rest.
func blocks(s simd.ISA, cols reg.GPVirtual, f values, block func(label string, nv int, masks []simd.Mask)) {
	for _, nv := range f.blocks {
		label := map[int]string{8: "eight", 4: "four", 2: "two", 1: "one"}[nv]
		Label(label)
		CMPQ(cols, I32(int32(nv*s.Lanes)))
		JL(LabelRef(label + "End"))
		block(label, nv, nil)
		JMP(LabelRef(label))
		Label(label + "End")
	}
	TESTQ(cols, cols)
	JZ(LabelRef("done"))
	block("tail", f.tail, s.MasksOf(cols, f.tail))
	Label("done")
	VZEROUPPER()
	RET()
}

// spmmRows emits SpMMRows, in blocks of columns as gatherRows.
func spmmRows(s simd.ISA) {
	name := "spmmRows" + s.Suffix
	TEXT(name, NOSPLIT, "func(n int, ptr *int64, idx *int32, last int, val, x *float32, ldx int, y *float32, ldy, "+
		"cols int, add bool)")
	Pragma("noescape")
	Doc(name + " is SpMMRows for n >= 1 rows; ldx and ldy are in bytes, last is the last entry of idx.")
	val, cols := simd.Int("val"), simd.Int("cols")
	f := float32s()
	l := entries{s, simd.Int("idx"), simd.Int("last"), simd.Int("x"), simd.Int("ldx"), f.bytes, f.adder(s)}
	block := func(label string, nv int, masks []simd.Mask) {
		left, ptr, y := simd.Int("n"), simd.Int("ptr"), simd.Int("y")
		acc := make([]reg.VecVirtual, nv)
		for i := range acc {
			acc[i] = s.Vec()
		}
		v := s.Vec()
		e, end, j, p := GP64(), GP64(), GP64(), GP64()
		dst := func(i int) Mem { return Mem{Base: y, Disp: i * s.Bytes()} }
		Label(label + "Row")
		for i := range acc {
			s.Zero(acc[i])
		}
		CMPB(simd.Arg(Param("add")), Imm(0))
		JEQ(LabelRef(label + "Sum"))
		for i := range acc {
			if masks != nil {
				s.LoadMasked(dst(i), masks[i], acc[i])
			} else {
				s.Load(dst(i), acc[i])
			}
		}
		Label(label + "Sum")
		MOVQ(Mem{Base: ptr}, e)
		MOVQ(Mem{Base: ptr, Disp: 8}, end)
		l.add(label, e, end, j, p, v, acc, masks, func() Mem { return Mem{Base: val, Index: e, Scale: 4} })
		for i := range acc {
			if masks != nil {
				s.StoreMasked(acc[i], masks[i], dst(i))
			} else {
				s.Store(acc[i], dst(i))
			}
		}
		ADDQ(Imm(8), ptr)
		ADDQ(simd.Arg(Param("ldy")), y)
		DECQ(left)
		JNZ(LabelRef(label + "Row"))
		ADDQ(I32(int32(nv*s.Bytes())), l.x)
		ADDQ(I32(int32(nv*s.Bytes())), simd.Arg(Param("y")))
		SUBQ(I32(int32(nv*s.Lanes)), cols)
	}
	blocks(s, cols, f, block)
}

// prefetch emits code that fetches bytes from src on.
func prefetch(src Mem, bytes int) {
	for off := 0; off < bytes; off += 64 {
		PREFETCHT0(src.Offset(off))
	}
}
