package pld

import (
	"math"
	"math/big"
	"testing"

	"privrec/internal/privacy/numeric"
)

// bits is the precision of the oracles in big.Float: what cancels between two
// masses near one leaves hundreds of digits.
const bits = 640

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }

func add(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Add(x, y) }
func sub(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Sub(x, y) }
func mul(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Quo(x, y) }

// bigExp is e^x: Taylor's series at x/2^k, squared k times.
func bigExp(x *big.Float) *big.Float {
	const guard = 64
	prec := uint(bits + guard)
	k := max(x.MantExp(nil), 0) + 16
	y := new(big.Float).SetPrec(prec).SetMantExp(x, -k)
	sum, term := new(big.Float).SetPrec(prec).SetInt64(1), new(big.Float).SetPrec(prec).SetInt64(1)
	for i := int64(1); ; i++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetPrec(prec).SetInt64(i))
		if term.Sign() == 0 || term.MantExp(nil) < -int(prec)-8 {
			break
		}
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum)
	}
	return sum.SetPrec(bits)
}

// bigLog is log x by Newton's iteration on the exponential, from a float64.
func bigLog(x *big.Float) *big.Float {
	m := new(big.Float)
	e := x.MantExp(m)
	f, _ := m.Float64()
	y := bigOf(math.Log(f) + float64(e)*math.Ln2)
	for range 5 { // 50 bits, then three times as many each: Halley's form
		z := bigExp(y)
		y = add(y, mul(bigOf(2), quo(sub(x, z), add(x, z))))
	}
	return y
}

// bigUpper is the upper tail of the normal law at x for |x| <= 14: the series
// phi(x) (x + x³/3 + x⁵/15 + ...) of the middle, taken off a half.
func bigUpper(x *big.Float) *big.Float {
	sum, term, square := new(big.Float).SetPrec(bits), new(big.Float).SetPrec(bits).Set(x), mul(x, x)
	for i := 1; term.Sign() != 0 && term.MantExp(nil) > -bits; i++ {
		sum = add(sum, term)
		term = quo(mul(term, square), bigOf(float64(2*i+1)))
	}
	density := quo(bigExp(mul(bigOf(-0.5), square)), root2Pi())
	return sub(bigOf(0.5), mul(density, sum))
}

// root2Pi is the root of 2 pi, by Machin's formula.
func root2Pi() *big.Float {
	arctan := func(inverse int64) *big.Float {
		x := quo(bigOf(1), bigOf(float64(inverse)))
		square, power, sum := mul(x, x), x, new(big.Float).SetPrec(bits)
		for i := 0; power.MantExp(nil) > -bits-8; i++ {
			v := quo(power, bigOf(float64(2*i+1)))
			if i%2 == 1 {
				v.Neg(v)
			}
			sum, power = add(sum, v), mul(power, square)
		}
		return sum
	}
	pi := mul(bigOf(4), sub(mul(bigOf(4), arctan(5)), arctan(239)))
	return new(big.Float).SetPrec(bits).Sqrt(mul(bigOf(2), pi))
}

// weighed is a loss and its mass under P in big.Float.
type weighed struct{ loss, p *big.Float }

// stick is delta at eps of a law of the loss, by its definition.
func stick(law []weighed, eps *big.Float) *big.Float {
	sum, top := new(big.Float).SetPrec(bits), bigExp(eps)
	for _, a := range law {
		if a.loss.Cmp(eps) > 0 {
			sum = add(sum, mul(a.p, sub(bigOf(1), quo(top, bigExp(a.loss)))))
		}
	}
	return sum
}

// responses is the law of n answers of binary randomized response with ratio
// exp(e): losses (2k-n) e with binomial masses.
func responses(e float64, n int) []weighed {
	ratio := bigExp(bigOf(e))
	keep := quo(ratio, add(bigOf(1), ratio))
	lie := sub(bigOf(1), keep)
	out := make([]weighed, 0, n+1)
	up, choose := make([]*big.Float, n+1), big.NewInt(1)
	up[0] = bigOf(1)
	down := []*big.Float{bigOf(1)}
	for k := 1; k <= n; k++ {
		up[k] = mul(up[k-1], keep)
		down = append(down, mul(down[k-1], lie))
	}
	for k := range n + 1 {
		p := mul(mul(up[k], down[n-k]), new(big.Float).SetPrec(bits).SetInt(choose))
		out = append(out, weighed{mul(bigOf(float64(2*k-n)), bigOf(e)), p})
		choose.Mul(choose, big.NewInt(int64(n-k)))
		choose.Div(choose, big.NewInt(int64(k+1)))
	}
	return out
}

// near reports whether a float64 is within a relative error of a big.Float.
func near(got float64, want *big.Float, tol float64) bool {
	off := sub(bigOf(got), want)
	return off.Abs(off).Cmp(mul(new(big.Float).Abs(want), bigOf(tol))) <= 0
}

// holds reports whether lower <= want <= upper, without any tolerance.
func holds(lower, upper float64, want *big.Float) bool {
	return bigOf(lower).Cmp(want) <= 0 && bigOf(upper).Cmp(want) >= 0
}

// The oracles agree with values that are known otherwise.
func TestBigOracles(t *testing.T) {
	for _, x := range []float64{-700, -30.5, -1, -1e-9, 0, 1e-12, 0.3, 1, 20, 600} {
		if got := bigExp(bigOf(x)); !near(math.Exp(x), got, 1e-15) {
			t.Errorf("exp(%g) = %g", x, got)
		}
		if x > 0 {
			if got := bigLog(bigOf(x)); !near(math.Log(x), got, 1e-15) && x != 1 {
				t.Errorf("log(%g) = %g", x, got)
			}
		}
		if back := sub(bigLog(bigExp(bigOf(x))), bigOf(x)); back.Sign() != 0 && back.MantExp(nil) > -bits+32 {
			t.Errorf("log(exp(%g)) is off by %g", x, back)
		}
	}
	for _, x := range []float64{-13, -2, -0.1, 0, 0.5, 1, 5, 9, 13.5} {
		if got := bigUpper(bigOf(x)); !near(numeric.Upper(x), got, 2e-13) {
			t.Errorf("the tail at %g is %g, want %g", x, got, numeric.Upper(x))
		}
	}
	// Q(1), to 40 digits (Abramowitz and Stegun, table 26.1, extended).
	want, _ := new(big.Float).SetPrec(bits).SetString("0.1586552539314570514147674543679620775220870")
	if off := sub(bigUpper(bigOf(1)), want); off.MantExp(nil) > -132 {
		t.Errorf("the tail at 1 is off by %g", off)
	}
	sum := new(big.Float).SetPrec(bits)
	for _, a := range responses(0.7, 60) {
		sum = add(sum, a.p)
	}
	if off := sub(sum, bigOf(1)); off.Sign() != 0 && off.MantExp(nil) > -bits+32 {
		t.Errorf("masses of responses sum to 1%+g", off)
	}
	// One response: delta at 0 is tanh(e/2).
	if got := stick(responses(0.8, 1), bigOf(0)); !near(math.Tanh(0.4), got, 1e-15) {
		t.Errorf("delta of one response at 0 is %g", got)
	}
}
