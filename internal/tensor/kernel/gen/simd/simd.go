// Package simd lets one generator emit the same kernel for AVX-512 and AVX2.
package simd

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ISA is an instruction set to emit for.
type ISA struct {
	Suffix string // ends the kernel's name
	Lanes  int    // float32 values in a register
}

// The two instruction sets. AVX2 stands for AVX2 with FMA and BMI2.
var (
	AVX512 = ISA{Suffix: "512", Lanes: 16}
	AVX2   = ISA{Suffix: "256", Lanes: 8}
)

// Wide reports whether s has mask registers and 512-bit vectors.
func (s ISA) Wide() bool { return s.Lanes == 16 }

// Bytes returns the size of a register.
func (s ISA) Bytes() int { return 4 * s.Lanes }

// Vec returns a new vector register.
func (s ISA) Vec() reg.VecVirtual {
	if s.Wide() {
		return ZMM()
	}
	return YMM()
}

// Zero clears v.
func (s ISA) Zero(v reg.VecVirtual) {
	if s.Wide() {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

// Mask selects the first lanes of a vector: a mask register for AVX-512, a
// vector of ones and zeros for AVX2.
type Mask struct{ r reg.Register }

// MaskOf returns a mask of the first n lanes, 0 <= n <= Lanes.
func (s ISA) MaskOf(n reg.Register) Mask {
	if s.Wide() {
		ones, bits, k := GP32(), GP32(), K()
		MOVL(I32(-1), ones)
		BZHIL(n.(reg.GP).As32(), ones, bits)
		KMOVW(bits, k)
		return Mask{k}
	}
	v := YMM()
	s.maskInto(n, v)
	return Mask{v}
}

// MasksOf returns masks of the first n lanes of several consecutive vectors, 0 <= n <= vectors * Lanes.
func (s ISA) MasksOf(n reg.Register, vectors int) []Mask {
	if vectors == 1 {
		return []Mask{s.MaskOf(n)}
	}
	var masks []Mask
	left, all := GP64(), GP64()
	MOVQ(n, left)
	for range vectors {
		here := GP64()
		MOVQ(U32(uint32(s.Lanes)), all)
		MOVQ(left, here)
		CMPQ(here, all)
		CMOVQGT(all, here)
		masks = append(masks, s.MaskOf(here))
		SUBQ(here, left)
	}
	return masks
}

// MaskInto puts the mask of MaskOf into a given vector register, AVX2 only.
func (s ISA) MaskInto(n reg.Register, v reg.VecVirtual) Mask {
	s.maskInto(n, v)
	return Mask{v}
}

// maskInto loads a window of eight ones followed by eight zeros.
func (s ISA) maskInto(n reg.Register, v reg.VecVirtual) {
	table, off := GP64(), GP64()
	LEAQ(maskTable(), table)
	MOVQ(U32(8), off)
	SUBQ(n, off)
	VMOVDQU(Mem{Base: table, Index: off, Scale: 4}, v)
}

var maskData *Mem

func maskTable() Mem {
	if maskData == nil {
		m := GLOBL("laneMask", RODATA|NOPTR)
		for i := range 16 {
			v := uint32(0)
			if i < 8 {
				v = math.MaxUint32
			}
			DATA(4*i, U32(v))
		}
		maskData = &m
	}
	return *maskData
}

// Load reads a vector.
func (s ISA) Load(m Mem, v reg.VecVirtual) { VMOVUPS(m, v) }

// LoadMasked reads the lanes of k and zeros the others; it touches no memory
// outside them.
func (s ISA) LoadMasked(m Mem, k Mask, v reg.VecVirtual) {
	if s.Wide() {
		VMOVUPS_Z(m, k.r, v)
	} else {
		VMASKMOVPS(m, k.r, v)
	}
}

// Store writes a vector.
func (s ISA) Store(v reg.VecVirtual, m Mem) { VMOVUPS(v, m) }

// StoreMasked writes the lanes of k and touches no memory outside them.
func (s ISA) StoreMasked(v reg.VecVirtual, k Mask, m Mem) {
	if s.Wide() {
		VMOVUPS(v, k.r, m)
	} else {
		VMASKMOVPS(v, k.r, m)
	}
}

// Keep zeros the lanes of v outside k.
func (s ISA) Keep(v reg.VecVirtual, k Mask) {
	if s.Wide() {
		VMOVAPS_Z(v, k.r, v)
	} else {
		VANDPS(k.r, v, v)
	}
}

// Fill sets the lanes of v outside k to those of w.
func (s ISA) Fill(v, w reg.VecVirtual, k Mask) {
	if s.Wide() {
		t := s.Vec()
		VMOVAPS(w, t)
		VMOVAPS(v, k.r, t)
		VMOVAPS(t, v)
	} else {
		VBLENDVPS(k.r, v, w, v)
	}
}

// Float returns a constant in memory. avo prints the float constant 1.0 as the
// integer 1, so constants go in as bit patterns.
func Float(name string, v float64) Mem {
	return Float32Bits(name, math.Float32bits(float32(v)))
}

// Float32Bits returns a constant in memory by its bit pattern.
func Float32Bits(name string, v uint32) Mem {
	m, ok := constants[name]
	if !ok {
		m = ConstData(name, U32(v))
		constants[name] = m
	}
	return m
}

// constants remembers what has been emitted, by name.
var constants = map[string]Mem{}

// Const returns a register that holds v in every lane.
func (s ISA) Const(name string, v float64) reg.VecVirtual {
	r := s.Vec()
	VBROADCASTSS(Float(name, v), r)
	return r
}

// Bits returns a register that holds a bit pattern in every lane.
func (s ISA) Bits(name string, v uint32) reg.VecVirtual {
	r := s.Vec()
	VBROADCASTSS(Float32Bits(name, v), r)
	return r
}

// Arg returns the memory of a parameter or one of its components.
func Arg(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// Broadcast returns a register with the float32 parameter in every lane.
func (s ISA) Broadcast(param string) reg.VecVirtual {
	r := s.Vec()
	VBROADCASTSS(Arg(Param(param)), r)
	return r
}

// Int loads an integer or pointer parameter.
func Int(param string) reg.GPVirtual { return Load(Param(param), GP64()).(reg.GPVirtual) }
