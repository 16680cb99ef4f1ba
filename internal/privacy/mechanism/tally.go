package mechanism

import "math"

// spending hands out a channel's false-alarm probability over its checks: the
// k-th gets 6/(pi² k²) of it, so that all of them together get no more than the
// whole. It goes through checkpoints with the channel.
type spending struct{ k int64 }

// next returns x such that each of tails one-sided events of probability
// exp(-x) in the next check stays within the check's part.
func (s *spending) next(tails int, share Share) (x float64) {
	s.k++
	part := share.falseAlarm() * 6 / (math.Pi * math.Pi * float64(s.k) * float64(s.k))
	return math.Log(float64(tails) / part)
}

// unchangedRate is the share of values that rounding may leave as they were:
// above it the noise is too small for the data's own floating-point grid.
const unchangedRate = 1e-3

// tally is the running sum of a channel's additions in units of the noise's
// scale; sq is that of their squares, or of their absolute values for the
// Laplace laws.
type tally struct {
	n, zeros int64
	sum, sq  float64
}

func (t *tally) add(o tally) {
	t.n += o.n
	t.zeros += o.zeros
	t.sum += o.sum
	t.sq += o.sq
}

// check compares the tally with independent standard normals. With probability
// at least 1 - 5 exp(-x) none of these fails (n values, sum S, squares Q, Z unchanged):
//
//	|S| <= sqrt(2 n x)                             (Chernoff, normal tail)
//	n - 2 sqrt(n x) <= Q <= n + 2 sqrt(n x) + 2x   (Laurent and Massart 2000, lemma 1)
//	Z <= n p + sqrt(2 n p x) + 2x/3                (Bernstein, p = unchangedRate)
func (t *tally) check(purpose string, sigma, x float64) error {
	if t.n == 0 {
		return nil
	}
	n := float64(t.n)
	if high := n*unchangedRate + math.Sqrt(2*n*unchangedRate*x) + 2*x/3; float64(t.zeros) > high {
		return &CheckError{purpose, "number of unchanged values", float64(t.zeros), 0, math.Floor(high), t.n,
			"draws were skipped, or the noise is below the resolution of the data"}
	}
	r := math.Sqrt(n * x)
	low, high := sigma*math.Sqrt(max(0, n-2*r)/n), sigma*math.Sqrt((n+2*r+2*x)/n)
	if scale := sigma * math.Sqrt(t.sq/n); !(scale >= low && scale <= high) {
		return &CheckError{purpose, "scale", scale, low, high, t.n, ""}
	}
	bound := sigma * math.Sqrt(2*n*x) / n
	if mean := sigma * t.sum / n; !(math.Abs(mean) <= bound) {
		return &CheckError{purpose, "mean", mean, -bound, bound, t.n, ""}
	}
	return nil
}
