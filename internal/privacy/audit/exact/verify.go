package exact

import (
	"fmt"
	"iter"
	"math"
	"math/big"
)

// Class holds a kind of neighbours and the claim of a mechanism about them.
type Class[I comparable] struct {
	Name  string
	Pairs iter.Seq2[I, I] // one order of each pair is enough: both are tested
	Claim *big.Rat        // at least 1: no output is more than Claim times as probable from one as from the other
}

// Finding holds the verified result for a class.
type Finding[I, O comparable] struct {
	Class string
	Pairs int // tested, each in both orders
	Claim *big.Rat
	Worst *big.Rat // largest ratio; nil: unbounded, since only one of a pair can give some output
	// The ratio is that of Output from A against Output from B. They are the first such pair and
	// its first such output by text, or zero if the class has no pair.
	A, B   I
	Output O
}

// Holds reports whether the claim holds.
func (f Finding[I, O]) Holds() bool { return f.Worst != nil && f.Worst.Cmp(f.Claim) <= 0 }

// Tight reports whether the claim holds and no smaller claim does.
func (f Finding[I, O]) Tight() bool { return f.Worst != nil && f.Worst.Cmp(f.Claim) == 0 }

// Epsilon returns the logarithm of the worst ratio in floating point, for display. It is +Inf if there is no bound,
// -Inf if the class has no pair.
func (f Finding[I, O]) Epsilon() float64 {
	if f.Worst == nil {
		return math.Inf(1)
	}
	if f.Worst.Cmp(big.NewRat(2, 1)) < 0 { // near 1 the logarithm is in the difference
		d, _ := new(big.Rat).Sub(f.Worst, big.NewRat(1, 1)).Float64()
		return math.Log1p(max(d, -1))
	}
	num, den := new(big.Float).SetInt(f.Worst.Num()), new(big.Float).SetInt(f.Worst.Denom())
	m, n := new(big.Float), new(big.Float)
	e := num.MantExp(m) - den.MantExp(n)
	a, _ := m.Float64()
	b, _ := n.Float64()
	return math.Log(a/b) + float64(e)*math.Ln2
}

// Verify finds the law of the mechanism at every input of the classes, and the worst ratio of each
// class. A claim that does not hold is a finding, not an error. limits holds for each law.
func Verify[I, O comparable](m Mechanism[I, O], classes []Class[I], limits Limits) ([]Finding[I, O], error) {
	laws := map[I]Law[O]{}
	law := func(in I) (Law[O], error) {
		if l := laws[in]; l != nil {
			return l, nil
		}
		l, err := Enumerate(func(c *Choices) O { return m(in, c) }, limits)
		if err != nil {
			return nil, fmt.Errorf("input %v: %w", in, err)
		}
		laws[in] = l
		return l, nil
	}
	var list []Finding[I, O]
	for _, c := range classes {
		if c.Claim == nil || c.Claim.Cmp(big.NewRat(1, 1)) < 0 {
			return nil, fmt.Errorf("exact: class %s: claim is %v, want at least 1", c.Name, c.Claim)
		}
		f := Finding[I, O]{Class: c.Name, Claim: c.Claim, Worst: new(big.Rat)}
		for a, b := range c.Pairs {
			p, err := law(a)
			if err != nil {
				return nil, err
			}
			q, err := law(b)
			if err != nil {
				return nil, err
			}
			f.compare(a, b, p, q)
			f.compare(b, a, q, p)
			f.Pairs++
		}
		if f.Pairs > 0 {
			f.Output = laws[f.A].first(laws[f.B], f.Worst)
		}
		list = append(list, f)
	}
	return list, nil
}

func (f *Finding[I, O]) compare(a, b I, p, q Law[O]) {
	if f.Worst == nil {
		return
	}
	if r, _ := p.Worst(q); r == nil || r.Cmp(f.Worst) > 0 {
		f.Worst, f.A, f.B = r, a, b
	}
}

// Pairs yields every pair of two elements of a list.
func Pairs[I any](list []I) iter.Seq2[I, I] {
	return func(yield func(a, b I) bool) {
		for i, a := range list {
			for _, b := range list[i+1:] {
				if !yield(a, b) {
					return
				}
			}
		}
	}
}

// Power returns x^k for k >= 0. If x is e^epsilon, it is the claim of k times epsilon.
func Power(x *big.Rat, k int) *big.Rat {
	p := big.NewRat(1, 1)
	for range k {
		p.Mul(p, x)
	}
	return p
}
