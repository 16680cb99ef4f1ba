package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

// eachRow begins a kernel over the rows idx of one or two matrices and emits body for each of them. body computes the
// kernel for one row, in the same order. names are the slices that all rows share; the first has the width of a row.
// rows maps the pointer to a matrix to the distance of its rows in bytes. body gets the number of the row within idx.
func eachRow(s simd.ISA, name, signature, doc string, names []string, rows map[string]string, order []string,
	body func(l *loop, e reg.GPVirtual)) {
	l := begin(s, name, signature, doc, names...)
	idx, e := Load(Param("idx").Base(), GP64()).(reg.GPVirtual), GP64()
	XORQ(e, e)
	for _, m := range order {
		l.ptr[m] = GP64()
	}
	Label("row")
	Load(Param(names[0]).Len(), l.n)
	XORQ(l.i, l.i)
	row := GP64()
	MOVLQSX(Mem{Base: idx, Index: e, Scale: 4}, row)
	for _, m := range order {
		Load(Param(rows[m]), l.ptr[m])
		IMULQ(row, l.ptr[m])
		ADDQ(simd.Arg(Param(m)), l.ptr[m])
	}
	body(l, e)
	INCQ(e)
	CMPQ(e, simd.Arg(Param("idx").Len()))
	JL(LabelRef("row"))
	l.end()
}

func dotRows(s simd.ISA) {
	eachRow(s, "dotRows", "x []float32, y *float32, ldy int, idx []int32, out *float32)",
		"sets out[e] to the inner product of x and row idx[e] of y; ldy is in bytes and idx is not empty.",
		[]string{"x"}, map[string]string{"y": "ldy"}, []string{"y"}, func(l *loop, e reg.GPVirtual) {
			acc := l.zeros(4)
			l.each(4, func(u int) {
				x, y := l.read("x", u), l.read("y", u)
				VFMADD231PS(x, y, acc[u])
			})
			addPairs(acc, func(b, a reg.VecVirtual) { VADDPS(b, a, a) })
			l.put(acc[0], e)
		})
}

// put writes the sum of v to out[e].
func (l *loop) put(v reg.VecVirtual, e reg.GPVirtual) {
	r := l.fold(v, func(b, a, dst Op) { VADDPS(b, a, dst) }, 4)
	out := simd.Int("out")
	VMOVSS(r.AsX(), Mem{Base: out, Index: e, Scale: 4})
}

// ratioDotRows and ratioBackRows emit sigmoidDot and sigmoidBack of exp(-x) and exp(-y) in place of x and y: a vector
// has many edges, and each of these then needs no exponential.
func ratioDotRows(s simd.ISA) {
	eachRow(s, "ratioDotRows", "x []float32, y *float32, ldy int, idx []int32, w []float32, out *float32)",
		"sets out[e] to the inner product of w and 1/(1+x y), for row idx[e] of y; ldy is in bytes and idx is not "+
			"empty.",
		[]string{"x", "w"}, map[string]string{"y": "ldy"}, []string{"y"}, func(l *loop, e reg.GPVirtual) {
			k := &exponential{loop: l, one: l.konst("one", 1)}
			acc := l.zeros(1)
			l.each(1, func(u int) {
				x, y := l.read("x", u), l.read("y", u)
				VFMADD231PS(l.read("w", u), k.ofProduct(x, y), acc[0])
			})
			l.put(acc[0], e)
		})
}

func ratioBackRows(s simd.ISA) {
	eachRow(s, "ratioBackRows",
		"slope *float32, x []float32, y *float32, ldy int, dx []float32, dy *float32, lddy int, dw []float32, idx "+
			"[]int32)",
		"adds slope[e] s to dw and slope[e] s (1-s) to dx and to row idx[e] of dy, for all e in order, where s = "+
			"1/(1+x y) of that row of y; ldy and lddy are in bytes and idx is not empty.",
		[]string{"x", "dx", "dw"}, map[string]string{"y": "ldy", "dy": "lddy"}, []string{"y", "dy"},
		func(l *loop, e reg.GPVirtual) {
			k := &exponential{loop: l, one: l.konst("one", 1)}
			slopes, slope := simd.Int("slope"), l.Vec()
			VBROADCASTSS(Mem{Base: slopes, Index: e, Scale: 4}, slope)
			l.each(1, func(u int) { k.back(k.ofProduct(l.read("x", u), l.read("y", u)), slope, u) })
		})
}
