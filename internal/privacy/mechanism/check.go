package mechanism

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
)

// falseAlarm is the probability of a false alarm in a whole run: the sum of what all mechanisms' Shares allow.
const falseAlarm = 1e-9

// Share is the part, in (0, 1], of a run's false-alarm probability of 1e-9 that all checks of
// one mechanism together may spend. A run with n mechanisms gives each 1/n; a correct sampler
// then fails any check in at most one run of 1e9. 0 stands for 1: n mechanisms with 0 spend n
// times 1e-9.
type Share float64

// Validate returns an error for a share outside [0, 1].
func (s Share) Validate() error {
	if !(s >= 0 && s <= 1) {
		return fmt.Errorf("share of the false-alarm probability is %v, want above 0 and at most 1, or 0 for 1",
			float64(s))
	}
	return nil
}

// FalseAlarm returns the probability that the share allows.
func (s Share) FalseAlarm() float64 {
	if s == 0 {
		s = 1
	}
	return float64(s) * falseAlarm
}

// Half returns half of the share.
func (s Share) Half() Share {
	if s == 0 {
		s = 1
	}
	return s / 2
}

// Spending divides a false-alarm probability between the checks of a run, of which K were made. The k-th check gets
// 6/(pi² k²) of it, so that all together get no more than the whole. A checkpoint stores K.
type Spending struct{ K int64 }

// Next returns x so that the next check, of tails one-sided events with probability exp(-x) each, stays within its
// part.
func (s *Spending) Next(tails int, share Share) (x float64) {
	s.K++
	part := share.FalseAlarm() * 6 / (math.Pi * math.Pi * float64(s.K) * float64(s.K))
	return math.Log(float64(tails) / part)
}

// CheckError is a failed self-check: the noise that was added is not the noise that the ledger
// records. The run must end (exit code 4).
type CheckError struct {
	Purpose   string  // of the mechanism
	What      string  // "count", "mean", "scale", "unchanged values", ...
	Got       float64 // the statistic
	Low, High float64 // the bounds that it violated
	N         int64   // values checked
	Hint      string  // the usual cause
}

// Error implements error.
func (e *CheckError) Error() string {
	s := fmt.Sprintf("noise check of %s failed: %s is %.6g, want within [%.6g, %.6g] after %d values", e.Purpose,
		e.What, e.Got, e.Low, e.High, e.N)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Final returns true: a run with this error must not be resumed from a checkpoint, since it would draw the same noise
// again.
func (e *CheckError) Final() bool { return true }

// Float is the element type of the data: tensor.Float under either build.
type Float interface{ ~float32 | ~float64 }

// Marked returns an error if a ledger's mark does not match the noise. Secure noise in a research ledger would be safe,
// but a reader could not tell from the mark which noise a run had.
func Marked(l *privacy.Ledger, secret bool) error {
	noise := privacy.Research
	if secret {
		noise = privacy.Secure
	}
	if l == nil {
		return errors.New("no ledger, so no noise")
	}
	if l.Noise() != noise {
		return fmt.Errorf("this sampler draws %q, but the ledger promises %q", noise, l.Noise())
	}
	return nil
}

// Research returns an error for a missing ledger and for one that promises secure noise.
func Research(purpose string, l *privacy.Ledger) error {
	if err := Marked(l, false); err != nil {
		return fmt.Errorf("%s: %w", purpose, err)
	}
	return nil
}

// Proportion counts successes of independent trials, to compare with the probability that they
// should have.
type Proportion struct {
	What   string  // what a trial is, for the message: "number of ones lost"
	N, Got int64   // trials, and successes among them
	P      float64 // probability of a success
}

// Count counts one trial.
func (c *Proportion) Count(success bool) {
	c.N++
	if success {
		c.Got++
	}
}

// Check returns an error if the count is outside N P ± (sqrt(2 N P (1-P) x) + 2x/3), which has probability at most
// exp(-x) on each side (Bernstein).
func (c *Proportion) Check(purpose string, x float64) error {
	n := float64(c.N)
	r := math.Sqrt(2*n*c.P*(1-c.P)*x) + 2*x/3
	if d := float64(c.Got) - n*c.P; math.Abs(d) > r {
		return &CheckError{purpose, c.What, float64(c.Got), n*c.P - r, n*c.P + r, c.N, ""}
	}
	return nil
}

// Bounded sums independent values of mean zero, each from an interval of a given width.
type Bounded struct {
	What  string // what the sum is, for the message
	N     int64  // values
	Sum   float64
	Width float64 // of the interval
}

// Add adds a value.
func (b *Bounded) Add(v float64) {
	b.N++
	b.Sum += v
}

// Check returns an error if the sum is beyond Width sqrt(N x/2), which has probability at most exp(-x) on each side
// (Hoeffding).
func (b *Bounded) Check(purpose string, x float64) error {
	if r := b.Width * math.Sqrt(float64(b.N)*x/2); !(math.Abs(b.Sum) <= r) {
		return &CheckError{purpose, b.What, b.Sum, -r, r, b.N, ""}
	}
	return nil
}

// Drift sums differences that each have mean zero given all earlier ones.
type Drift struct {
	What string // what the sum is, for the message
	N    int64  // differences
	Sum  float64
	V    float64 // the total variance is at most V
	B    float64 // each difference is at most B from zero
}

// Expect adds to V the variance of one more difference.
func (c *Drift) Expect(variance float64) { c.V += variance }

// Add adds a difference.
func (c *Drift) Add(v float64) {
	c.N++
	c.Sum += v
}

// Check returns an error if the sum is beyond sqrt(2 V x) + 2 B x/3, which has probability at most exp(-x) on each side
// (Freedman, Annals of Probability 1975, theorem 1.6).
func (c *Drift) Check(purpose string, x float64) error {
	r := math.Sqrt(2*c.V*x) + 2*c.B*x/3
	if !(math.Abs(c.Sum) <= r) {
		return &CheckError{purpose, c.What, c.Sum, -r, r, c.N, ""}
	}
	return nil
}

// Checker is a check with two tails.
type Checker = interface {
	Check(purpose string, x float64) error
}

// CheckAll runs checks with two tails each. With a correct sampler any of them fails with at most the probability of
// the share.
func CheckAll(purpose string, share Share, checks ...Checker) error {
	x := math.Log(2 * float64(len(checks)) / share.FalseAlarm())
	for _, c := range checks {
		if err := c.Check(purpose, x); err != nil {
			return err
		}
	}
	return nil
}
