package channel

import (
	"errors"
	"fmt"
)

// DPSGDState is what a checkpoint stores of a run of DP-SGD: its noise, the counts of its
// batches, and what its checks have spent of their false-alarm probability. As JSON it keeps
// every bit.
type DPSGDState struct {
	Noise    State      `json:"noise"`
	Examples int64      `json:"examples"`
	Rate     exact      `json:"rate"`
	Batch    int64      `json:"batch"`
	Batches  batchTally `json:"batches"`
	Checked  int64      `json:"checked"` // batches at the last check
	Checks   int64      `json:"checks"`  // made so far
	Failed   string     `json:"failed,omitempty"`
}

// State returns the state of the run between two steps.
func (s *Steps[T]) State() DPSGDState {
	st := DPSGDState{Noise: s.noise.State(), Examples: s.d.Examples, Rate: exact(s.d.Rate), Batch: s.d.Batch,
		Batches: s.batches.seen, Checked: s.checked, Checks: s.spent.k}
	if s.failed != nil {
		st.Failed = s.failed.Error()
	}
	return st
}

// Restore puts a new run into the state of a checkpoint. It fails on the state of another run,
// of one that failed, and on one taken in the middle of a step. The check that consecutive
// batches differ starts again from here.
func (s *Steps[T]) Restore(st DPSGDState) error {
	if err := s.restore(st); err != nil {
		return fmt.Errorf("%s: restore: %w", s.d.Purpose, err)
	}
	return nil
}

func (s *Steps[T]) restore(st DPSGDState) error {
	t := st.Batches
	switch {
	case s.failed != nil:
		return s.failed
	case s.batches.seen != (batchTally{}) || s.release != nil:
		return errors.New("the run was begun already")
	case st.Failed != "":
		return fmt.Errorf("the state is of a run that failed: %s", st.Failed)
	case st.Examples != s.d.Examples || float64(st.Rate) != s.d.Rate || st.Batch != s.d.Batch:
		return fmt.Errorf("the state is of batches of %d examples at rate %v, %d each", st.Examples, float64(st.Rate), st.Batch)
	case t.Batches < 0 || t.Examples < 0 || !(t.SumSq >= 0) || !(t.Widest >= 0) || t.Paired < 0 || t.Paired > t.Examples,
		t.Common < 0 || t.Common > t.Paired, st.Checked < 0 || st.Checked > t.Batches, st.Checks < 0, st.Checks == 0 && st.Checked != 0:
		return errors.New("the state contradicts itself")
	}
	if err := s.noise.Restore(st.Noise); err != nil {
		return err
	}
	s.batches.seen, s.checked, s.spent.k = t, st.Checked, st.Checks
	return nil
}
