package enumerate

import (
	"math"
	"math/big"
)

// interval encloses a real number between two floats. Every operation rounds outwards, so the number stays inside: the
// width is a proved bound of the error.
type interval struct{ lo, hi *big.Float }

// precision is the mantissa of the ends, in bits. Cancellation in sums of probabilities costs a few hundred bits at
// most.
const precision = 1536

func low() *big.Float  { return new(big.Float).SetPrec(precision).SetMode(big.ToNegativeInf) }
func high() *big.Float { return new(big.Float).SetPrec(precision).SetMode(big.ToPositiveInf) }

func rational(x *big.Rat) interval { return interval{low().SetRat(x), high().SetRat(x)} }
func whole(n int64) interval       { return rational(big.NewRat(n, 1)) }

func (a interval) add(b interval) interval {
	return interval{low().Add(a.lo, b.lo), high().Add(a.hi, b.hi)}
}
func (a interval) neg() interval { return interval{low().Neg(a.hi), high().Neg(a.lo)} }

func (a interval) sub(b interval) interval { return a.add(b.neg()) }

func (a interval) mul(b interval) interval {
	r := interval{}
	for _, x := range []*big.Float{a.lo, a.hi} {
		for _, y := range []*big.Float{b.lo, b.hi} {
			if d := low().Mul(x, y); r.lo == nil || d.Cmp(r.lo) < 0 {
				r.lo = d
			}
			if u := high().Mul(x, y); r.hi == nil || u.Cmp(r.hi) > 0 {
				r.hi = u
			}
		}
	}
	return r
}

// quo divides by an interval above 0.
func (a interval) quo(b interval) interval {
	return a.mul(interval{low().Quo(low().SetInt64(1), b.hi), high().Quo(high().SetInt64(1), b.lo)})
}

// power returns a^n, with n of any sign, for a above 0.
func (a interval) power(n int) interval {
	if n < 0 {
		return whole(1).quo(a.power(-n))
	}
	r := whole(1)
	for range n {
		r = r.mul(a)
	}
	return r
}

// exp returns e^x for a rational x of at most 1000. It uses the series below 2^-8, then squares.
func exp(x *big.Rat) interval {
	if x.Sign() < 0 {
		return whole(1).quo(exp(new(big.Rat).Neg(x)))
	}
	f, _ := x.Float64()
	halvings := max(0, int(math.Ceil(math.Log2(f+1)))+8)
	y := rational(new(big.Rat).Quo(x, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(halvings)))))
	sum, term := whole(1), whole(1)
	const terms = 200 // y^200/200! is below 2^-2800
	for n := int64(1); n < terms; n++ {
		term = term.mul(y).quo(whole(n))
		sum = sum.add(term)
	}
	sum.hi = high().Add(sum.hi, term.hi) // the rest of the series is below its last term
	for range halvings {
		sum = sum.mul(sum)
	}
	return sum
}

// log returns the logarithms of the ends, in floating point, for intervals above 0.
func (a interval) log() (lo, hi float64) {
	of := func(f *big.Float) float64 {
		r, _ := f.Rat(nil)
		return logOf(r)
	}
	return of(a.lo), of(a.hi)
}

// series is a sum of powers of a variable with coefficients; powers may be negative.
type series map[int]interval

func (s series) times(o series) series {
	r := series{}
	for i, a := range s {
		for j, b := range o {
			c := a.mul(b)
			if was, ok := r[i+j]; ok {
				c = c.add(was)
			}
			r[i+j] = c
		}
	}
	return r
}

func (s series) power(n int) series {
	r := series{0: whole(1)}
	for range n {
		r = r.times(s)
	}
	return r
}

// derivative returns the derivative with respect to the variable.
func (s series) derivative() series {
	r := series{}
	for i, a := range s {
		if i != 0 {
			r[i-1] = a.mul(whole(int64(i)))
		}
	}
	return r
}

// integral returns the integral between two points above 0. logs is the logarithm of their quotient. from may be 0 if
// no power is negative.
func (s series) integral(from, to, logs interval) interval {
	r := whole(0)
	for i, a := range s {
		if i == -1 {
			r = r.add(a.mul(logs))
			continue
		}
		r = r.add(a.mul(to.power(i + 1).sub(from.power(i + 1))).mul(rational(big.NewRat(1, int64(i+1)))))
	}
	return r
}
