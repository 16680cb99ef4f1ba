package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"privrec/internal/tensor/kernel/gen/simd"
)

// gruBack emits the backward pass of one row of a GRU's gates, without fused operations: its bits are those of the loop
// in plain Go. With swap, z keeps the old state.
func gruBack(s simd.ISA, swap bool) {
	name, doc := "gruBack", "does GRUBack where z takes the new state."
	if swap {
		name, doc = "gruBackSwap", "does GRUBack where z keeps the old state."
	}
	l := begin(s, name, "dy, h []float32, s, gh, dgi, dgh, dh *float32)", doc, "dy", "h")
	for _, p := range []string{"s", "gh", "dgi", "dgh", "dh"} {
		l.ptr[p] = simd.Int(p)
	}
	part := GP64() // bytes of r, of z and of c
	MOVQ(l.n, part)
	SHLQ(Imm(2), part)
	one, second, third := l.Const("one", 1), GP64(), GP64()
	l.each(1, func(int) {
		LEAQ(Mem{Base: l.i, Index: part, Scale: 1}, second)
		LEAQ(Mem{Base: l.i, Index: part, Scale: 2}, third)
		places := []reg.GPVirtual{l.i, second, third}
		at := func(p string, k int) Mem { return Mem{Base: l.ptr[p], Index: places[k], Scale: 1} }
		read := func(p string, k int) reg.VecVirtual {
			v := l.Vec()
			if l.mask != nil {
				l.LoadMasked(at(p, k), *l.mask, v)
			} else {
				l.Load(at(p, k), v)
			}
			return v
		}
		write := func(v reg.VecVirtual, p string, k int) {
			if l.mask != nil {
				l.StoreMasked(v, *l.mask, at(p, k))
			} else {
				l.Store(v, at(p, k))
			}
		}
		g, z, c := read("dy", 0), read("s", 1), read("s", 2)
		dz, dc, dh := l.Vec(), l.Vec(), l.Vec()
		VSUBPS(read("h", 0), c, dz)
		VMULPS(dz, g, dz)
		VMULPS(z, g, dc)
		VSUBPS(dc, g, dh)
		if swap {
			l.negate(dz)
			dc, dh = dh, dc
		}
		write(dh, "dh", 0)
		rest := l.Vec() // 1 - c², 1 - z, 1 - r
		VMULPS(c, c, rest)
		VSUBPS(rest, one, rest)
		VMULPS(rest, dc, dc) // dn
		write(dc, "dgi", 2)
		VMULPS(z, dz, dz)
		VSUBPS(z, one, rest)
		VMULPS(rest, dz, dz) // az
		write(dz, "dgi", 1)
		write(dz, "dgh", 1)
		r, a := read("s", 0), l.Vec()
		VMULPS(r, dc, a)
		write(a, "dgh", 2)
		VMULPS(read("gh", 2), dc, a)
		VMULPS(r, a, a)
		VSUBPS(r, one, rest)
		VMULPS(rest, a, a) // ar
		write(a, "dgi", 0)
		write(a, "dgh", 0)
	})
	l.end()
}

// blend rounds after each operation, as plain Go does.
func blend(s simd.ISA) {
	l := begin(s, "blend", "x, y, g, z []float32)", "sets z = y + g (x - y).", "x", "y", "g", "z")
	l.each(2, func(u int) {
		x, y := l.read("x", u), l.read("y", u)
		VSUBPS(y, x, x)
		VMULPS(l.read("g", u), x, x)
		VADDPS(y, x, x)
		l.write(x, "z", u)
	})
	l.end()
}

// keepBack emits the backward pass of a state that a gate keeps, without fused operations.
func keepBack(s simd.ISA) {
	l := begin(s, "keepBack", "dy []float32, dh, h, z, c, dz, dc, back *float32)", "is KeepBack.", "dy")
	for _, p := range []string{"dh", "h", "z", "c", "dz", "dc", "back"} {
		l.ptr[p] = simd.Int(p)
	}
	one := l.Const("one", 1)
	l.each(1, func(u int) {
		g, z, c := l.read("dy", u), l.read("z", u), l.read("c", u)
		VADDPS(l.read("dh", u), g, g)
		shut, dz, dc, back := l.Vec(), l.Vec(), l.Vec(), l.Vec()
		VSUBPS(z, one, shut)
		VSUBPS(c, l.read("h", u), dz)
		VMULPS(g, dz, dz)
		VMULPS(z, dz, dz)
		VMULPS(shut, dz, dz)
		l.write(dz, "dz", u)
		VMULPS(c, c, dc)
		VSUBPS(dc, one, dc)
		VMULPS(g, shut, shut)
		VMULPS(shut, dc, dc)
		l.write(dc, "dc", u)
		VMULPS(z, g, back)
		l.write(back, "back", u)
	})
	l.end()
}

// resetBack emits the backward pass of a state times its reset gate, without fused operations.
func resetBack(s simd.ISA) {
	l := begin(s, "resetBack", "g, h, r, dr, back []float32)", "is ResetBack.", "g", "h", "r", "dr", "back")
	one := l.Const("one", 1)
	l.each(1, func(u int) {
		g, r := l.read("g", u), l.read("r", u)
		dr, rest := l.Vec(), l.Vec()
		VMULPS(l.read("h", u), g, dr)
		VMULPS(r, dr, dr)
		VSUBPS(r, one, rest)
		VMULPS(rest, dr, dr)
		l.write(dr, "dr", u)
		VMULPS(r, g, g)
		VADDPS(l.read("back", u), g, g)
		l.write(g, "back", u)
	})
	l.end()
}

// negate changes the sign of v.
func (l *loop) negate(v reg.VecVirtual) {
	sign := l.Bits("signMask", 1<<31)
	if l.Wide() {
		VPXORD(sign, v, v)
	} else {
		VXORPS(sign, v, v)
	}
}
