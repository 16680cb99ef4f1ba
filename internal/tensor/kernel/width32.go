//go:build !f64

package kernel

import (
	"math"
)

// Float is the element type of every kernel: float32 in normal builds, float64
// under the f64 build tag.
type Float = float32

// bits and fromBits convert a Float to an integer and back. A processor can select integers without a branch.
func bits(x Float) uint32     { return math.Float32bits(x) }
func fromBits(b uint32) Float { return math.Float32frombits(b) }

// Coefficients of Cephes expf and tanhf (S. L. Moshier, Cephes 2.8), shared with
// the assembly: gen/vec holds the same figures.
const (
	expMin = -105 // below: exp rounds to zero
	expMax = 89   // above: exp overflows
	ln2Hi  = 0.693359375
	ln2Lo  = -2.12194440e-4
	exp2   = 5.0000001201e-1
	exp3   = 1.6666665459e-1
	exp4   = 4.1665795894e-2
	exp5   = 8.3334519073e-3
	exp6   = 1.3981999507e-3
	exp7   = 1.9875691500e-4

	// Adding and taking away 1.5 x 2^23 rounds to the nearest whole number.
	roundMagic = 12582912

	tanhSmall = 0.625
	tanh3     = -3.33332819422e-1
	tanh5     = 1.33314422036e-1
	tanh7     = -5.37397155531e-2
	tanh9     = 2.06390887954e-2
	tanh11    = -5.70498872745e-3
)

// expOne returns exp to about one unit in the last place, gradual underflow included.
func expOne(x float32) float32 {
	switch {
	case x > expMax:
		x = expMax
	case x < expMin:
		x = expMin
	case x != x:
		return x
	}
	n := float32(x*math.Log2E+roundMagic) - roundMagic
	r := x - n*ln2Hi
	r -= n * ln2Lo
	p := float32(exp7)
	p = p*r + exp6
	p = p*r + exp5
	p = p*r + exp4
	p = p*r + exp3
	p = p*r + exp2
	p = p*(r*r) + r
	// 2^n in two factors: n can leave the range of a normal exponent.
	k := int32(n)
	h := k >> 1
	return (1 + p) * exponent(h) * exponent(k-h)
}

// exponent returns 2^n for -126 <= n <= 127.
func exponent(n int32) float32 { return math.Float32frombits(uint32(n+127) << 23) }

// sigmoidOne returns the sigmoid of x. It divides by 1+exp(-|x|), which neither overflows nor loses the tail.
func sigmoidOne(x float32) float32 {
	e := expOne(-abs32(x))
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

func tanhOne(x float32) float32 {
	a := abs32(x)
	if a < tanhSmall {
		z := x * x
		p := float32(tanh11)
		p = p*z + tanh9
		p = p*z + tanh7
		p = p*z + tanh5
		p = p*z + tanh3
		return p*z*x + x
	}
	t := 1 - 2/(expOne(2*a)+1)
	return math.Float32frombits(math.Float32bits(t) | math.Float32bits(x)&(1<<31))
}

func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }
