package mechanism

import (
	"math"

	"privrec/internal/privacy"
)

// Law is the noise of a channel: what an accountant is told, and what the
// self-check compares the values with.
type Law interface {
	event() privacy.Event
	scale() float64 // of the noise, in the data's unit
	// check fails with probability at most tails exp(-x) for noise of this law.
	check(t *tally, purpose string, x float64) error
	tails() int
}

// moments are the laws, by their logarithmic moment generating functions, of what
// a tally holds of one value in units of the scale: the value itself and its size
// (square or absolute value). Both functions are finite for |t| < limit.
type moments struct {
	sum, size           func(t float64) float64
	sumLimit, sizeLimit float64
	unchanged           float64 // probability of 0; negative: at most unchangedRate
	root                float64 // 2 if a size is a square
}

// upper returns a bound that the sum of n independent values with this logarithmic
// moment generating function exceeds with probability at most exp(-x): Chernoff's
// (n f(t) + x)/t, which holds for every fixed t and so for the best of some.
func upper(f func(t float64) float64, limit, n, x float64) float64 {
	best := math.Inf(1)
	for j := 1; j <= 160; j++ {
		t := limit * math.Exp2(-float64(j)/4)
		if b := (n*f(t) + x) / t; b < best {
			best = b
		}
	}
	return best
}

// check compares a tally with the law: unchanged values (two tails by Bernstein),
// size (two) and sum (two), six tails in all.
func (m moments) check(t *tally, purpose string, scale, x float64) error {
	if t.n == 0 {
		return nil
	}
	n := float64(t.n)
	p := m.unchanged
	if p < 0 {
		p = unchangedRate
	}
	r := math.Sqrt(2*n*p*(1-p)*x) + 2*x/3
	low, high := math.Ceil(max(0, n*p-r)), math.Floor(n*p+r)
	if m.unchanged < 0 {
		low = 0
	}
	if z := float64(t.zeros); !(z >= low && z <= high) {
		return &CheckError{purpose, "number of unchanged values", z, low, high, t.n, "draws were skipped or repeated, or the noise is below the resolution of the data"}
	}
	negative := func(f func(float64) float64) func(float64) float64 { return func(t float64) float64 { return f(-t) } }
	low, high = max(0, -upper(negative(m.size), m.sizeLimit, n, x)), upper(m.size, m.sizeLimit, n, x)
	if !(t.sq >= low && t.sq <= high) {
		show := func(v float64) float64 { return scale * math.Pow(v/n, 1/m.root) }
		hint := ""
		if math.IsNaN(t.sq) {
			hint = "a value is not a number or not on the grid"
		}
		return &CheckError{purpose, "scale", show(t.sq), show(low), show(high), t.n, hint}
	}
	bound := upper(m.sum, m.sumLimit, n, x)
	if !(math.Abs(t.sum) <= bound) {
		return &CheckError{purpose, "mean", scale * t.sum / n, -scale * bound / n, scale * bound / n, t.n, ""}
	}
	return nil
}

// normalLaw is the noise of Gaussian.
type normalLaw struct{ g Gaussian }

func (l normalLaw) event() privacy.Event { return l.g.Event() }
func (l normalLaw) scale() float64       { return l.g.Sigma }
func (l normalLaw) tails() int           { return 5 }
func (l normalLaw) check(t *tally, purpose string, x float64) error {
	return t.check(purpose, l.g.Sigma, x)
}

// laplaceLaw is the noise of Laplace: sizes are absolute values.
type laplaceLaw struct{ m Laplace }

func (l laplaceLaw) event() privacy.Event { return l.m.Event() }
func (l laplaceLaw) scale() float64       { return l.m.Scale }
func (l laplaceLaw) tails() int           { return 6 }
func (l laplaceLaw) check(t *tally, purpose string, x float64) error {
	return moments{
		sum:  func(t float64) float64 { return -math.Log1p(-t * t) },
		size: func(t float64) float64 { return -math.Log1p(-t) }, sumLimit: 1, sizeLimit: 1, unchanged: -1, root: 1,
	}.check(t, purpose, l.m.Scale, x)
}
