package channel

import (
	"math"

	"privrec/internal/privacy/mechanism"
)

// spending divides a channel's false-alarm probability between its checks. The k-th check gets
// 6/(pi² k²) of it, so that all together get no more than the whole. A checkpoint stores it
// with the channel.
type spending struct{ k int64 }

// next returns x such that the tails one-sided events of the next check, each of probability
// exp(-x), stay within the check's part.
func (s *spending) next(tails int, share mechanism.Share) (x float64) {
	s.k++
	part := share.FalseAlarm() * 6 / (math.Pi * math.Pi * float64(s.k) * float64(s.k))
	return math.Log(float64(tails) / part)
}

// unchangedRate is the share of values that rounding may leave unchanged. Above it the noise is
// too small for the data's own floating-point grid.
const unchangedRate = 1e-3

// Tally counts and sums what a channel added, in units of the noise's scale.
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

// check compares the tally with independent standard normals. With probability at least 1 - 5
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
		return &mechanism.CheckError{Purpose: purpose, What: "number of unchanged values", Got: float64(t.Zeros), Low: 0, High: math.Floor(high), N: t.N,
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
