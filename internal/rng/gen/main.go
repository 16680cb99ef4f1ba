// Command gen writes the vector kernels of package rng: Philox 4x32-10 blocks
// and, with -noise, Box-Muller normals, for AVX-512 and AVX2. It is a module of its own so
// that the product does not depend on the assembler.
package main

import (
	"flag"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Layout of the schedule argument, in bytes: keys (k0, k1) of ten rounds, then
// the two upper words of the counter.
const (
	rounds = 10
	offC2  = 8 * rounds
	offC3  = offC2 + 4
)

// group is 16 blocks of 4 words: 256 bytes of output.
const (
	groupWords = 64
	groupBytes = 4 * groupWords
)

type vec = reg.VecVirtual

func gp(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// constants emits each constant once and hands out its address.
type constants map[string]Mem

func (c constants) u32(name string, v uint32, lanes int) Mem {
	if m, ok := c[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := range lanes {
		DATA(4*i, U32(v))
	}
	c[name] = m
	return m
}

func (c constants) u64s(name string, v ...uint64) Mem {
	if m, ok := c[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i, x := range v {
		DATA(8*i, U64(x))
	}
	c[name] = m
	return m
}

func main() {
	noise := flag.Bool("noise", false, "write normals and what checks them, not words")
	flag.Parse()
	ConstraintExpr("amd64")
	c := constants{}
	if *noise {
		noise512(c)
		noise256(c)
	} else {
		cpu()
		words512(c)
		words256(c)
	}
	Generate()
}

// cpu emits the two instructions that tell which kernels may run.
func cpu() {
	TEXT("cpuid", NOSPLIT, "func(leaf, sub uint32) (a, b, c, d uint32)")
	Doc("cpuid returns the registers of one CPUID leaf.")
	Load(Param("leaf"), reg.EAX)
	Load(Param("sub"), reg.ECX)
	CPUID()
	Store(reg.EAX, Return("a"))
	Store(reg.EBX, Return("b"))
	Store(reg.ECX, Return("c"))
	Store(reg.EDX, Return("d"))
	RET()

	TEXT("xgetbv", NOSPLIT, "func() (a, d uint32)")
	Doc("xgetbv returns the register states that the operating system saves.")
	XORL(reg.ECX, reg.ECX)
	XGETBV()
	Store(reg.EAX, Return("a"))
	Store(reg.EDX, Return("d"))
	RET()
}

// address is the address of a parameter, to broadcast from.
func address(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// The same numbers as normal32.go, which says where they come from.
var (
	logPoly = []float32{
		7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
		-1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
		2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
	}
	sinPoly = []float32{-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1}
	cosPoly = []float32{2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2, -0.5, 1}
)

const (
	quarter = math.Pi / 2 / (1 << 30) // 30-bit fraction of a quarter turn
	turn30  = 1 << 30
	sign    = 1 << 31
)

func f32(v float64) uint32 { return math.Float32bits(float32(v)) }
