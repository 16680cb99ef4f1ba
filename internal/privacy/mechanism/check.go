package mechanism

import (
	"fmt"
	"math"
)

// falseAlarm is the probability of a false alarm that a whole run may spend: the
// sum over its mechanisms of what each one's Share allows it.
const falseAlarm = 1e-9

// Share is the part of a run's false-alarm probability, 1e-9, that all checks of
// one mechanism together may spend, in (0, 1]. A run with n mechanisms gives
// each 1/n, and a right sampler then fails any check in at most one run of 1e9.
// 0 is 1, the whole: n mechanisms that leave it at that spend n times 1e-9.
type Share float64

func (s Share) validate() error {
	if !(s >= 0 && s <= 1) {
		return fmt.Errorf("share of the false-alarm probability is %v, want above 0 and at most 1, or 0 for 1", float64(s))
	}
	return nil
}

func (s Share) falseAlarm() float64 {
	if s == 0 {
		s = 1
	}
	return float64(s) * falseAlarm
}

// CheckError is a self-check that failed: the noise that was added is not the
// noise that the ledger says. The run must end (exit code 4).
type CheckError struct {
	Purpose   string  // of the mechanism
	What      string  // "count", "mean", "scale", "unchanged values", ...
	Got       float64 // the statistic
	Low, High float64 // the band it left
	N         int64   // values looked at
	Hint      string  // what usually does this
}

func (e *CheckError) Error() string {
	s := fmt.Sprintf("noise check of %s failed: %s is %.6g, want within [%.6g, %.6g] after %d values", e.Purpose, e.What, e.Got, e.Low, e.High, e.N)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Final says that the run must not be resumed from a checkpoint: it would only
// come to the same noise again.
func (e *CheckError) Final() bool { return true }

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
