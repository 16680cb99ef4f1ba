package secure

import (
	"fmt"
	"math/big"
	"math/bits"

	"privrec/internal/rng"
)

// maxSteps bounds the standard deviation or scale of a discrete sampler, so that a sample fits into an int64. A sample
// that does not fit, of less than e^-4000 of the mass, is drawn again.
const maxSteps = 1 << 50

func inSteps(r Ratio) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if r.Num/r.Den >= maxSteps {
		return fmt.Errorf("%d/%d is above 2^50", r.Num, r.Den)
	}
	return nil
}

// geometric returns x with probability proportional to exp(-x/t), and a sign. ok is false if both must be drawn again.
func geometric(src rng.Source, t uint64) (x wide, negative, ok bool) {
	u := below(src, 2*t) // the sign and a first part below t
	if negative = u >= t; negative {
		u -= t
	}
	if !bernoulliExp(src, u, t) {
		return x, false, false
	}
	v := uint64(0)
	for bernoulliExp1(src) {
		v++
	}
	if v >= 1<<12 {
		return x, false, false
	}
	hi, lo := bits.Mul64(t, v)
	lo, carry := bits.Add64(lo, u, 0)
	return wide{hi + carry, lo}, negative, true
}

// signed returns k or -k. ok is false for -0, which would count 0 twice, and beyond 2^62.
func signed(k uint64, negative bool) (int64, bool) {
	if !negative {
		return int64(k), k < 1<<62
	}
	return -int64(k), k != 0 && k < 1<<62
}

// GaussianSampler draws from the discrete normal law P(k) ~ exp(-k²/(2 sigma²)) by integer arithmetic only. It draws
// proposals from the discrete Laplace law of scale t = floor(sigma) + 1 and accepts each with probability exp(-(|k| -
// sigma²/t)²/(2 sigma²)) (Canonne, Kamath, Steinke 2020, algorithm 3).
type GaussianSampler struct {
	sigma  Ratio
	t      uint64 // scale of the proposals
	centre wide   // Num²
	slope  wide   // t Den²
	unit   wide   // Num t Den: |slope |k| - centre| / unit is the root of twice the exponent
	narrow uint64 // proposals below it need only 64 bits
}

// NewGaussianSampler returns a sampler for a sigma of at most 2^50 with both parts in [1, 2^53].
func NewGaussianSampler(sigma Ratio) (GaussianSampler, error) {
	if err := inSteps(sigma); err != nil {
		return GaussianSampler{}, fmt.Errorf("discrete Gaussian sigma: %w", err)
	}
	n, d := sigma.Num, sigma.Den
	g := GaussianSampler{sigma: sigma, t: n/d + 1}
	g.centre.hi, g.centre.lo = bits.Mul64(n, n)
	// t d <= n + d <= 2^54.
	g.slope.hi, g.slope.lo = bits.Mul64(g.t*d, d)
	g.unit.hi, g.unit.lo = bits.Mul64(g.t*d, n)
	if g.centre.hi == 0 && g.slope.hi == 0 && g.unit.hi == 0 && g.unit.lo < 1<<60 {
		g.narrow = (1<<64-1)/g.slope.lo + 1
	}
	return g, nil
}

// Sample returns one integer from the law. Its time depends on the result.
func (g *GaussianSampler) Sample(src rng.Source) int64 {
	for {
		x, negative, ok := geometric(src, g.t)
		if !ok || x.hi != 0 {
			continue
		}
		if k, ok := signed(x.lo, negative); ok && g.accept(src, x.lo) {
			return k
		}
	}
}

// accept returns true with probability exp(-z²/2), z = |slope k - centre| / unit.
func (g *GaussianSampler) accept(src rng.Source, k uint64) bool {
	if k < g.narrow {
		a := k*g.slope.lo - g.centre.lo
		if k*g.slope.lo < g.centre.lo {
			a = -a
		}
		if a < g.unit.lo {
			return gaussTail64(src, a, g.unit.lo)
		}
		i := a / g.unit.lo
		f := a - i*g.unit.lo
		return gaussParts(src, i, func() bool { return bernoulli(src, f, g.unit.lo) })
	}
	i, f := g.divide(k)
	return gaussParts(src, i, func() bool { return bernoulliWide(src, f, g.unit) })
}

// divide returns floor(z) and unit (z - floor(z)).
func (g *GaussianSampler) divide(k uint64) (i uint64, f wide) {
	p, fits := g.slope.times(k)
	if !fits {
		return g.divideBig(k)
	}
	if p.less(g.centre) {
		p, f = g.centre, p
	} else {
		f = g.centre
	}
	for f = p.minus(f); !f.less(g.unit); f = f.minus(g.unit) {
		if i++; i > 64 {
			return g.divideBig(k)
		}
	}
	return i, f
}

// divideBig returns the result of divide for proposals so far out that they never occur in practice.
func (g *GaussianSampler) divideBig(k uint64) (i uint64, f wide) {
	a := new(big.Int).Mul(g.slope.big(), new(big.Int).SetUint64(k))
	a.Abs(a.Sub(a, g.centre.big()))
	q, r := new(big.Int).DivMod(a, g.unit.big(), new(big.Int))
	hi := new(big.Int).Rsh(r, 64).Uint64()
	return q.Uint64(), wide{hi, new(big.Int).And(r, new(big.Int).SetUint64(1<<64-1)).Uint64()}
}

func (a wide) big() *big.Int {
	x := new(big.Int).SetUint64(a.hi)
	return x.Add(x.Lsh(x, 64), new(big.Int).SetUint64(a.lo))
}

// gaussParts returns true with probability exp(-(i+r)²/2) for a whole i and a coin of
// probability r < 1: it tosses i² coins of exp(-1/2), i of exp(-r), and one of exp(-r²/2). It
// squares no number, so none needs more than 128 bits.
func gaussParts(src rng.Source, i uint64, coin func() bool) bool {
	for range i {
		for range i {
			if !bernoulliExpHalf(src) {
				return false
			}
		}
	}
	for range i {
		for k := uint64(1); ; k++ {
			if k > 1 && !bernoulli(src, 1, k) || !coin() {
				if k&1 == 0 {
					return false
				}
				break
			}
		}
	}
	return gaussTail(src, coin)
}

// gaussTail returns true with probability exp(-r²/2).
func gaussTail(src rng.Source, coin func() bool) bool {
	for k := uint64(1); ; k++ { // a coin of r²/(2k)
		if !bernoulli(src, 1, 2*k) || !coin() || !coin() {
			return k&1 == 1
		}
	}
}

// gaussTail64 returns the result of gaussTail for r = f/b, b < 2^60.
func gaussTail64(src rng.Source, f, b uint64) bool {
	for k := uint64(1); k < 8; k++ {
		if !bernoulli(src, f, 2*k*b) || !bernoulli(src, f, b) {
			return k&1 == 1
		}
	}
	for k := uint64(8); ; k++ {
		if !bernoulli(src, 1, 2*k) || !bernoulli(src, f, b) || !bernoulli(src, f, b) {
			return k&1 == 1
		}
	}
}
