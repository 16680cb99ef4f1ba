package secure

import (
	"fmt"
	"math/bits"

	"privrec/internal/rng"
)

// Ratio holds the rational number Num/Den.
type Ratio struct{ Num, Den uint64 }

// maxTerm bounds both parts of a Ratio for a sampler: products of two of them, with a margin of
// 2^22, fit into 128 bits.
const maxTerm = 1 << 53

// String returns Num/Den.
func (r Ratio) String() string { return fmt.Sprintf("%d/%d", r.Num, r.Den) }

// Float64 returns the nearest float64.
func (r Ratio) Float64() float64 { return float64(r.Num) / float64(r.Den) }

// Validate returns an error for a part outside [1, 2^53].
func (r Ratio) Validate() error {
	if r.Num < 1 || r.Num > maxTerm || r.Den < 1 || r.Den > maxTerm {
		return fmt.Errorf("ratio is %s, want both parts within [1, 2^53]", r)
	}
	return nil
}

// bernoulli returns true with probability f/b, b > 0. It compares the digits of a uniform number in base 2^64 with
// those of f/b until they differ.
func bernoulli(src rng.Source, f, b uint64) bool {
	for {
		// The rest of the number, u in [0, 1), decides u b < f 2^64 - w b.
		hi, lo := bits.Mul64(src.Uint64(), b)
		if hi >= f {
			return false
		}
		if rest := -lo; hi+1 < f || lo == 0 || rest >= b {
			return true
		} else {
			f = rest
		}
	}
}

// bernoulliExp returns true with probability exp(-f/b) for f <= b <= 2^60: let K be the first k
// at which a coin of probability f/(k b) fails; K is odd with that probability.
func bernoulliExp(src rng.Source, f, b uint64) bool {
	for k := uint64(1); ; k++ {
		if k < 16 {
			if !bernoulli(src, f, k*b) {
				return k&1 == 1
			}
		} else if !bernoulli(src, 1, k) || !bernoulli(src, f, b) {
			return k&1 == 1
		}
	}
}

// bernoulliExp1 returns true with probability exp(-1). In this case K > k with probability 1/k!, and one word decides
// several coins: K > k if and only if a uniform number is below 1/k!.
func bernoulliExp1(src rng.Source) bool {
	const one = 1<<64 - 1
	w := src.Uint64()
	switch {
	case w >= one/2+1: // 1/2 is exact
		return false // K = 2
	case w > one/6:
		return true
	case w > one/24 && w != one/6:
		return false
	case w > one/120 && w != one/24 && w != one/6:
		return true
	}
	// The word may lie on a threshold, so that more digits decide, or K is above 5.
	k, factorial := uint64(2), uint64(2)
	for k < 12 {
		k, factorial = k+1, factorial*(k+1)
		if !belowInverse(src, w, factorial) {
			return k&1 == 1
		}
	}
	for k++; bernoulli(src, 1, k); k++ {
	}
	return k&1 == 1
}

// belowInverse reports whether a uniform number with first 64 digits w is below 1/n. It draws more digits if w does not
// decide, which happens for at most one of several n whose inverses are at least 2^-63 apart.
func belowInverse(src rng.Source, w, n uint64) bool {
	hi, lo := bits.Mul64(w, n)
	if hi > 0 {
		return false
	}
	rest := -lo // 2^64 - w n
	return lo == 0 || rest >= n || bernoulli(src, rest, n)
}

// bernoulliExpHalf returns true with probability exp(-1/2).
func bernoulliExpHalf(src rng.Source) bool {
	for k := uint64(1); ; k++ {
		if !bernoulli(src, 1, 2*k) {
			return k&1 == 1
		}
	}
}

// below returns a uniform integer in [0, n), without bias (Lemire, TOMACS 2019).
func below(src rng.Source, n uint64) uint64 {
	hi, lo := bits.Mul64(src.Uint64(), n)
	if lo < n {
		for reject := -n % n; lo < reject; {
			hi, lo = bits.Mul64(src.Uint64(), n)
		}
	}
	return hi
}

// wide is an integer of 128 bits.
type wide struct{ hi, lo uint64 }

func (a wide) less(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// minus returns a - b for b <= a.
func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return wide{hi, lo}
}

// times returns a times n. ok is false if it does not fit.
func (a wide) times(n uint64) (p wide, ok bool) {
	over, mid := bits.Mul64(a.hi, n)
	hi, lo := bits.Mul64(a.lo, n)
	hi, carry := bits.Add64(hi, mid, 0)
	return wide{hi, lo}, over == 0 && carry == 0
}

// bernoulliWide returns the result of bernoulli for f and b of 128 bits.
func bernoulliWide(src rng.Source, f, b wide) bool {
	for {
		w := src.Uint64()
		h1, l1 := bits.Mul64(b.hi, w)
		h0, l0 := bits.Mul64(b.lo, w)
		mid, carry := bits.Add64(h0, l1, 0)
		// f 2^64 - w b in three limbs.
		d0, borrow := bits.Sub64(0, l0, 0)
		d1, borrow := bits.Sub64(f.lo, mid, borrow)
		d2, borrow := bits.Sub64(f.hi, h1+carry, borrow)
		if borrow != 0 || d2|d1|d0 == 0 {
			return false
		}
		if f = (wide{d1, d0}); d2 != 0 || !f.less(b) {
			return true
		}
	}
}
