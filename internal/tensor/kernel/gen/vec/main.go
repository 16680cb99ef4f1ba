// Command vec generates the vector kernels: element-wise maps, reductions, the
// exponential family, gates and Adam; with -rows those over rows of
// matrices.
package main

import (
	"flag"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

func main() {
	rows := flag.Bool("rows", false, "the kernels over rows of matrices, not those over slices")
	flag.Parse()
	ConstraintExpr("amd64,!f64")
	for _, s := range []simd.ISA{simd.AVX512, simd.AVX2} {
		if *rows {
			overRows(s)
		} else {
			overSlices(s)
		}
	}
	Generate()
}

// overRows emits the kernels that take rows of matrices: looked-up rows, edges of attention, the
// gates of a GRU, and the layers of NGCF.
func overRows(s simd.ISA) {
	dotRows(s)
	ratioDotRows(s)
	ratioBackRows(s)
	gruBack(s, false)
	gruBack(s, true)
	copyRows(s)
	leakyDrop(s)
	leakyBack(s)
	addScaled(s)
	scaledBack(s)
}

// overSlices emits the kernels that take slices.
func overSlices(s simd.ISA) {
	axpy(s)
	scaleAdd(s)
	scaleTo(s)
	add(s)
	sumTo(s)
	shift(s)
	mul(s)
	gate(s)
	positive(s)
	rational(s)
	normBack(s)
	dot(s)
	sum(s, false)
	sum(s, true)
	maximum(s)
	absBits(s)
	expSum(s)
	sigmoid(s)
	sigmoidDot(s)
	sigmoidBack(s)
	tanh(s)
	adam(s)
	adamIdle(s)
	blend(s)
	keepBack(s)
	resetBack(s)
}

// loop walks over slices of equal length in vectors.
type loop struct {
	simd.ISA
	n, i reg.GPVirtual // vectors' bytes left to do; byte offset
	ptr  map[string]reg.GPVirtual
	mask *simd.Mask // set while the tail is emitted
}

// begin opens a kernel over the slice parameters names; n is the length of the
// first.
func begin(s simd.ISA, name, signature, doc string, names ...string) *loop {
	TEXT(name+s.Suffix, NOSPLIT, "func("+signature)
	Pragma("noescape")
	Doc(wrapped(name + s.Suffix + " " + doc)...)
	l := &loop{ISA: s, i: GP64(), ptr: map[string]reg.GPVirtual{}}
	l.n = Load(Param(names[0]).Len(), GP64()).(reg.GPVirtual)
	for _, p := range names {
		l.ptr[p] = Load(Param(p).Base(), GP64()).(reg.GPVirtual)
	}
	XORQ(l.i, l.i)
	return l
}

// each emits body for unroll vectors at a time, then for single ones, then once
// under a mask for the rest. body gets the number of its vector within a round.
func (l *loop) each(unroll int, body func(u int)) {
	blocks := []int{unroll, 1}
	if unroll == 1 {
		blocks = blocks[1:]
	}
	for _, b := range blocks {
		label := map[bool]string{true: "single", false: "block"}[b == 1]
		Label(label)
		CMPQ(l.n, I32(int32(b*l.Lanes)))
		JL(LabelRef(label + "End"))
		for u := range b {
			body(u)
		}
		ADDQ(I32(int32(b*l.Bytes())), l.i)
		SUBQ(I32(int32(b*l.Lanes)), l.n)
		JMP(LabelRef(label))
		Label(label + "End")
	}
	TESTQ(l.n, l.n)
	JZ(LabelRef("done"))
	m := l.MaskOf(l.n)
	l.mask = &m
	body(0)
	l.mask = nil
	Label("done")
}

// at returns the address of vector u of this round in the slice p.
func (l *loop) at(p string, u int) Mem {
	return Mem{Base: l.ptr[p], Index: l.i, Scale: 1, Disp: u * l.Bytes()}
}

// read returns vector u of p, with zeros past its end.
func (l *loop) read(p string, u int) reg.VecVirtual {
	v := l.Vec()
	if l.mask != nil {
		l.LoadMasked(l.at(p, u), *l.mask, v)
	} else {
		l.Load(l.at(p, u), v)
	}
	return v
}

func (l *loop) write(v reg.VecVirtual, p string, u int) {
	if l.mask != nil {
		l.StoreMasked(v, *l.mask, l.at(p, u))
	} else {
		l.Store(v, l.at(p, u))
	}
}

func (l *loop) end() {
	VZEROUPPER()
	RET()
}

func axpy(s simd.ISA) {
	l := begin(s, "axpy", "alpha float32, x, y []float32)", "adds alpha x to y.", "x", "y")
	alpha := l.Broadcast("alpha")
	l.each(4, func(u int) {
		x, y := l.read("x", u), l.read("y", u)
		VFMADD231PS(x, alpha, y)
		l.write(y, "y", u)
	})
	l.end()
}

func scaleAdd(s simd.ISA) {
	l := begin(s, "scaleAdd", "alpha float32, x []float32, beta float32, y []float32)", "sets y = alpha x + beta y.",
		"x", "y")
	alpha, beta := l.Broadcast("alpha"), l.Broadcast("beta")
	l.each(4, func(u int) {
		x, y := l.read("x", u), l.read("y", u)
		VMULPS(beta, y, y)
		VFMADD231PS(x, alpha, y)
		l.write(y, "y", u)
	})
	l.end()
}

func scaleTo(s simd.ISA) {
	l := begin(s, "scaleTo", "alpha float32, x, y []float32)", "sets y = alpha x.", "x", "y")
	alpha := l.Broadcast("alpha")
	l.each(4, func(u int) {
		x := l.read("x", u)
		VMULPS(alpha, x, x)
		l.write(x, "y", u)
	})
	l.end()
}

func add(s simd.ISA) {
	l := begin(s, "add", "x, y []float32)", "adds x to y.", "x", "y")
	l.each(4, func(u int) {
		x, y := l.read("x", u), l.read("y", u)
		VADDPS(x, y, y)
		l.write(y, "y", u)
	})
	l.end()
}

func sumTo(s simd.ISA) {
	l := begin(s, "sumTo", "x, y, z []float32)", "sets z = x + y element by element.", "x", "y", "z")
	l.each(4, func(u int) {
		x, y := l.read("x", u), l.read("y", u)
		VADDPS(y, x, x)
		l.write(x, "z", u)
	})
	l.end()
}

func shift(s simd.ISA) {
	l := begin(s, "shift", "c float32, x, y []float32)", "sets y = x - c.", "x", "y")
	c := l.Broadcast("c")
	l.each(4, func(u int) {
		x := l.read("x", u)
		VSUBPS(c, x, x)
		l.write(x, "y", u)
	})
	l.end()
}

// normBack rounds after each operation, as plain Go does.
func normBack(s simd.ISA) {
	l := begin(s, "normBack", "inv, mean, proj float32, x, y []float32)", "sets y = inv (y - mean - proj x).", "x", "y")
	inv, mean, proj := l.Broadcast("inv"), l.Broadcast("mean"), l.Broadcast("proj")
	l.each(4, func(u int) {
		x, y := l.read("x", u), l.read("y", u)
		VSUBPS(mean, y, y)
		VMULPS(proj, x, x)
		VSUBPS(x, y, y)
		VMULPS(inv, y, y)
		l.write(y, "y", u)
	})
	l.end()
}

func mul(s simd.ISA) {
	l := begin(s, "mul", "x, y, z []float32)", "sets z = x y element by element.", "x", "y", "z")
	l.each(4, func(u int) {
		x, y := l.read("x", u), l.read("y", u)
		VMULPS(x, y, y)
		l.write(y, "z", u)
	})
	l.end()
}

// gate leaves zero where y is not above 0, NaN included.
func gate(s simd.ISA) {
	l := begin(s, "gate", "x, y, z []float32)", "sets z = x where y > 0, else 0.", "x", "y", "z")
	zero := l.zeros(1)[0]
	l.each(4, func(u int) {
		x, y := l.read("x", u), l.read("y", u)
		if l.Wide() {
			k := K()
			VCMPPS(Imm(cmpLT), y, zero, k)
			VMOVAPS_Z(x, k, x)
		} else {
			VCMPPS(Imm(cmpLT), y, zero, y)
			VANDPS(y, x, x)
		}
		l.write(x, "z", u)
	})
	l.end()
}

// positive passes NaN: the maximum is its second source there. Adding 0 makes -0 a 0.
func positive(s simd.ISA) {
	l := begin(s, "positive", "x, y []float32)", "sets y = max(x, 0).", "x", "y")
	zero := l.zeros(1)[0]
	l.each(4, func(u int) {
		x := l.read("x", u)
		VMAXPS(x, zero, x)
		VADDPS(zero, x, x)
		l.write(x, "y", u)
	})
	l.end()
}

// rational takes NaN for 0: the maximum is its second source, the zero, there. -0 becomes 0 the same way.
func rational(s simd.ISA) {
	l := begin(s, "rational", "x, y []float32)", "sets y = r 1/(1+r), where r = x if x > 0, else 0.", "x", "y")
	zero, one := l.zeros(1)[0], l.Const("one", 1)
	l.each(4, func(u int) {
		x, d := l.read("x", u), l.Vec()
		VMAXPS(zero, x, x)
		VADDPS(one, x, d)
		VDIVPS(d, one, d)
		VMULPS(d, x, x)
		l.write(x, "y", u)
	})
	l.end()
}

// Predicates of VCMPPS: equal (false for NaN), not less than (true for it) and less than (false).
const (
	cmpEQ  = 0x00
	cmpNLT = 0x05
	cmpLT  = 0x11
)

// wrapped returns the lines of a comment that end by column 120.
func wrapped(text string) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len("// ")+len(line)+len(" ")+len(word) > 120 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}
