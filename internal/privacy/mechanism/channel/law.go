package channel

import (
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
)

// Law describes the noise of a channel to the accountant and to the self-check.
type Law struct {
	Event privacy.Event // one release as an accountant sees it
	Scale float64       // of the noise, in the data's unit
	// Check returns an error if a tally does not fit. For noise of this law that has probability at most Tails exp(-x).
	Check func(t *Tally, purpose string, x float64) error
	Tails int
}

// Moments describes the law of one value in units of the scale, and that of its size (square or absolute value), by
// their logarithmic moment generating functions. Both functions are finite for |t| < limit.
type Moments struct {
	Sum, Size           func(t float64) float64
	SumLimit, SizeLimit float64
	Unchanged           float64 // probability of 0; negative: at most unchangedRate
	Root                float64 // 2 if a size is a square
}

// Chernoff returns a bound that the sum of n independent values with this logarithmic moment generating function
// exceeds with probability at most exp(-x). It is the least of Chernoff's bounds (n f(t) + x)/t over several t.
func Chernoff(f func(t float64) float64, limit, n, x float64) float64 {
	best := math.Inf(1)
	for j := 1; j <= 160; j++ {
		t := limit * math.Exp2(-float64(j)/4)
		if b := (n*f(t) + x) / t; b < best {
			best = b
		}
	}
	return best
}

// Check returns an error if a tally does not fit the law, by six tails: unchanged values (two, by Bernstein), size
// (two) and sum (two).
func (m Moments) Check(t *Tally, purpose string, scale, x float64) error {
	if t.N == 0 {
		return nil
	}
	n := float64(t.N)
	p := m.Unchanged
	if p < 0 {
		p = unchangedRate
	}
	r := math.Sqrt(2*n*p*(1-p)*x) + 2*x/3
	low, high := math.Ceil(max(0, n*p-r)), math.Floor(n*p+r)
	if m.Unchanged < 0 {
		low = 0
	}
	if z := float64(t.Zeros); !(z >= low && z <= high) {
		return &mechanism.CheckError{Purpose: purpose, What: "number of unchanged values", Got: z, Low: low, High: high,
			N: t.N, Hint: "draws were skipped or repeated, or the noise is below the resolution of the data"}
	}
	negative := func(f func(float64) float64) func(float64) float64 { return func(t float64) float64 { return f(-t) } }
	low, high = max(0, -Chernoff(negative(m.Size), m.SizeLimit, n, x)), Chernoff(m.Size, m.SizeLimit, n, x)
	if !(t.Sq >= low && t.Sq <= high) {
		show := func(v float64) float64 { return scale * math.Pow(v/n, 1/m.Root) }
		hint := ""
		if math.IsNaN(t.Sq) {
			hint = "a value is not a number or not on the grid"
		}
		return &mechanism.CheckError{Purpose: purpose, What: "scale", Got: show(t.Sq), Low: show(low), High: show(high),
			N: t.N, Hint: hint}
	}
	bound := Chernoff(m.Sum, m.SumLimit, n, x)
	if !(math.Abs(t.Sum) <= bound) {
		return &mechanism.CheckError{Purpose: purpose, What: "mean", Got: scale * t.Sum / n, Low: -scale * bound / n,
			High: scale * bound / n, N: t.N}
	}
	return nil
}

// laplaceLaw returns the law of Laplace noise that records event e. Its sizes are absolute values.
func laplaceLaw(e privacy.Event, scale float64) Law {
	m := Moments{
		Sum:  func(t float64) float64 { return -math.Log1p(-t * t) },
		Size: func(t float64) float64 { return -math.Log1p(-t) }, SumLimit: 1, SizeLimit: 1, Unchanged: -1, Root: 1,
	}
	return Law{e, scale, func(t *Tally, purpose string, x float64) error { return m.Check(t, purpose, scale, x) }, 6}
}

// unchangedRate is the share of values that rounding may leave unchanged. A larger share means that the noise is too
// small for the data's floating-point grid.
const unchangedRate = 1e-3

// Tally holds counts and sums of the noise that a channel added, in units of its scale.
type Tally struct {
	N, Zeros int64   // values, and those that were left unchanged
	Sum      float64 // sum of what was added
	Sq       float64 // sum of its squares, or of its absolute values for the Laplace laws
}

func (t *Tally) add(o Tally) {
	t.N += o.N
	t.Zeros += o.Zeros
	t.Sum += o.Sum
	t.Sq += o.Sq
}

// check returns an error if the tally does not fit independent standard normals. With probability at least 1 - 5
// exp(-x) none of these fails (n values, sum S, squares Q, Z unchanged):
//
//	|S| <= sqrt(2 n x)                             (Chernoff, normal tail)
//	n - 2 sqrt(n x) <= Q <= n + 2 sqrt(n x) + 2x   (Laurent and Massart 2000, lemma 1)
//	Z <= n p + sqrt(2 n p x) + 2x/3                (Bernstein, p = unchangedRate)
func (t *Tally) check(purpose string, sigma, x float64) error {
	if t.N == 0 {
		return nil
	}
	n := float64(t.N)
	if high := n*unchangedRate + math.Sqrt(2*n*unchangedRate*x) + 2*x/3; float64(t.Zeros) > high {
		return &mechanism.CheckError{Purpose: purpose, What: "number of unchanged values", Got: float64(t.Zeros),
			Low: 0, High: math.Floor(high), N: t.N,
			Hint: "draws were skipped, or the noise is below the resolution of the data"}
	}
	r := math.Sqrt(n * x)
	low, high := sigma*math.Sqrt(max(0, n-2*r)/n), sigma*math.Sqrt((n+2*r+2*x)/n)
	if scale := sigma * math.Sqrt(t.Sq/n); !(scale >= low && scale <= high) {
		return &mechanism.CheckError{Purpose: purpose, What: "scale", Got: scale, Low: low, High: high, N: t.N}
	}
	bound := sigma * math.Sqrt(2*n*x) / n
	if mean := sigma * t.Sum / n; !(math.Abs(mean) <= bound) {
		return &mechanism.CheckError{Purpose: purpose, What: "mean", Got: mean, Low: -bound, High: bound, N: t.N}
	}
	return nil
}
