package mechanism

import (
	"errors"
	"fmt"

	"privrec/internal/privacy"
)

// falseAlarm is the probability of a false alarm in a whole run: the sum of what the Shares of
// its mechanisms allow.
const falseAlarm = 1e-9

// Share is the part, in (0, 1], of a run's false-alarm probability of 1e-9 that all checks of
// one mechanism together may spend. A run with n mechanisms gives each 1/n; a correct sampler
// then fails any check in at most one run of 1e9. 0 stands for 1: n mechanisms with 0 spend n
// times 1e-9.
type Share float64

// Validate fails on a share outside [0, 1].
func (s Share) Validate() error {
	if !(s >= 0 && s <= 1) {
		return fmt.Errorf("share of the false-alarm probability is %v, want above 0 and at most 1, or 0 for 1", float64(s))
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

// CheckError is a failed self-check: the noise that was added is not the noise that the ledger
// records. The run must end (exit code 4).
type CheckError struct {
	Purpose   string  // of the mechanism
	What      string  // "count", "mean", "scale", "unchanged values", ...
	Got       float64 // the statistic
	Low, High float64 // the bounds that it left
	N         int64   // values checked
	Hint      string  // the usual cause
}

// Error implements error.
func (e *CheckError) Error() string {
	s := fmt.Sprintf("noise check of %s failed: %s is %.6g, want within [%.6g, %.6g] after %d values", e.Purpose, e.What, e.Got, e.Low, e.High, e.N)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Final returns true: the run must not be resumed from a checkpoint, since it would draw the
// same noise again.
func (e *CheckError) Final() bool { return true }

// Float is the element type of the data: tensor.Float under either build.
type Float interface{ ~float32 | ~float64 }

// Marked fails on a ledger whose mark is not that of the noise. Secure noise in a research
// ledger would be safe, but a reader could not tell from the mark which noise a run had.
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

// Research fails on a missing ledger and on one that promises secure noise.
func Research(purpose string, l *privacy.Ledger) error {
	if err := Marked(l, false); err != nil {
		return fmt.Errorf("%s: %w", purpose, err)
	}
	return nil
}
