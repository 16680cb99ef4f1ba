package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

// coefNames holds the fields of AdamCoef in order.
var coefNames = []string{"beta1", "oneMinusBeta1", "beta2", "oneMinusBeta2", "step", "rootScale", "eps", "l2"}

// coefBytes is the size of AdamCoef.
const coefBytes = 4 * 8

// coef returns the address of a field of the AdamCoef at c.
func coef(c reg.GPVirtual, name string) Mem {
	for i, n := range coefNames {
		if n == name {
			return Mem{Base: c, Disp: 4 * i}
		}
	}
	panic("no field " + name)
}

// adam follows AdamCoef's formulas; flushing keeps both moments out of the
// denormals.
func adam(s simd.ISA) {
	l := begin(s, "adam", "w, d, m, v []float32, c *float32)",
		"does one Adam step with gradient d and the fields of AdamCoef at c.", "d", "w", "m", "v")
	c := simd.Int("c")
	k := map[string]reg.VecVirtual{}
	for _, n := range coefNames {
		k[n] = l.Vec()
		VBROADCASTSS(coef(c, n), k[n])
	}
	l.each(1, func(u int) {
		w, d, m := l.read("w", u), l.read("d", u), l.read("m", u)
		VFMADD231PS(w, k["l2"], d)
		VMULPS(k["beta1"], m, m)
		VFMADD231PS(d, k["oneMinusBeta1"], m)
		VMULPS(d, d, d)
		v := l.read("v", u)
		VMULPS(k["beta2"], v, v)
		VFMADD231PS(d, k["oneMinusBeta2"], v)
		l.flushMoments(m, v, d)
		l.write(m, "m", u)
		l.write(v, "v", u)
		VSQRTPS(v, v)
		VFMADD213PS(k["eps"], k["rootScale"], v)
		VMULPS(k["step"], m, m)
		VDIVPS(v, m, m)
		VSUBPS(m, w, w)
		l.write(w, "w", u)
	})
	l.end()
}

// adamIdle keeps a vector of weights and its moments in registers over all steps. Root and quotient take the most time,
// so testing whether weights rest costs nothing beside them.
func adamIdle(s simd.ISA) {
	l := begin(s, "adamIdle", "w, m, v []float32, c *float32, steps int, slack float32)",
		"is AdamIdle with the fields of steps AdamCoefs at c, at least one.", "w", "m", "v")
	first, steps, slack := simd.Int("c"), simd.Int("steps"), l.Broadcast("slack")
	beta1, beta2 := l.Vec(), l.Vec()
	VBROADCASTSS(coef(first, "beta1"), beta1)
	VBROADCASTSS(coef(first, "beta2"), beta2)
	c, left := GP64(), GP64()
	l.each(1, func(u int) {
		part := "Whole"
		if l.mask != nil {
			part = "Tail"
		}
		w, m, v := l.read("w", u), l.read("m", u), l.read("v", u)
		MOVQ(first, c)
		MOVQ(steps, left)
		Label("step" + part)
		VMULPS(beta1, m, m)
		VMULPS(beta2, v, v)
		l.flushMoments(m, v, l.Vec())
		root, scale, eps, update, next := l.Vec(), l.Vec(), l.Vec(), l.Vec(), l.Vec()
		VSQRTPS(v, root)
		VBROADCASTSS(coef(c, "rootScale"), scale)
		VBROADCASTSS(coef(c, "eps"), eps)
		VFMADD213PS(eps, scale, root)
		VBROADCASTSS(coef(c, "step"), update)
		VMULPS(update, m, update)
		VDIVPS(root, update, update)
		VMOVAPS(w, next)
		VFNMADD231PS(update, slack, next)
		l.allEqual(next, w, "rest"+part)
		VSUBPS(update, w, w)
		ADDQ(Imm(coefBytes), c)
		DECQ(left)
		JNZ(LabelRef("step" + part))
		JMP(LabelRef("done" + part))
		Label("rest" + part)
		DECQ(left)
		JZ(LabelRef("done" + part))
		Label("decay" + part)
		VMULPS(beta1, m, m)
		VMULPS(beta2, v, v)
		DECQ(left)
		JNZ(LabelRef("decay" + part))
		l.flushMoments(m, v, l.Vec())
		Label("done" + part)
		l.write(w, "w", u)
		l.write(m, "m", u)
		l.write(v, "v", u)
	})
	l.end()
}

// allEqual jumps where all lanes of a and b are equal.
func (l *loop) allEqual(a, b reg.VecVirtual, label string) {
	if l.Wide() {
		k := K()
		VCMPPS(Imm(cmpEQ), a, b, k)
		KORTESTW(k, k)
		JCS(LabelRef(label))
		return
	}
	bits := GP32()
	VCMPPS(Imm(cmpEQ), a, b, a)
	VMOVMSKPS(a, bits)
	CMPL(bits, Imm(1<<8-1))
	JEQ(LabelRef(label))
}

// flushMoments zeros the lanes of the moments below their bounds; t is free.
func (l *loop) flushMoments(m, v, t reg.VecVirtual) {
	size := simd.Float32Bits("absMask", 0x7fffffff)
	l.flush(m, t, simd.Float("tinyFirst", 1e-30), size)
	l.flush(v, t, simd.Float("tinySecond", 1e-37), size)
}

// flush zeros the lanes of v smaller than bound in size, keeping NaN; t is free.
func (l *loop) flush(v, t reg.VecVirtual, bound, size Mem) {
	VBROADCASTSS(size, t)
	if l.Wide() {
		VPANDD(v, t, t)
		k := K()
		VCMPPS_BCST(Imm(cmpNLT), bound, t, k)
		VMOVAPS_Z(v, k, v)
		return
	}
	b := l.Vec()
	VANDPS(v, t, t)
	VBROADCASTSS(bound, b)
	VCMPPS(Imm(cmpNLT), b, t, t)
	VANDPS(t, v, v)
}
