package mechanism

import "fmt"

// falseAlarm is the probability of a false alarm that a whole run may spend: the
// sum over its mechanisms of what each one's Share allows it.
const falseAlarm = 1e-9

// Share is the part of a run's false-alarm probability, 1e-9, that all checks of
// one mechanism together may spend, in (0, 1]. A run with n mechanisms gives
// each 1/n, and a right sampler then fails any check in at most one run of 1e9.
// 0 is 1, the whole: n mechanisms that leave it at that spend n times 1e-9.
type Share float64

// Validate reports a share outside [0, 1].
func (s Share) Validate() error {
	if !(s >= 0 && s <= 1) {
		return fmt.Errorf("share of the false-alarm probability is %v, want above 0 and at most 1, or 0 for 1", float64(s))
	}
	return nil
}

// FalseAlarm is the probability that the share allows.
func (s Share) FalseAlarm() float64 {
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
