package train

import "time"

// Hooks are functions that the loop calls as training goes on. They run on the loop's goroutine, so a slow hook
// slows training.
type Hooks struct {
	OnStep  func(StepInfo)  // at the first and last step of an epoch, between them at most once per Every
	Every   time.Duration   // default 0: 200 ms; negative: every step
	OnEpoch func(EpochInfo) // after each epoch, validation included
	OnSave  func(SaveInfo)  // after each checkpoint
}

const defaultEvery = 200 * time.Millisecond

// StepInfo describes a run after a step.
type StepInfo struct {
	Epoch   int     // from 0
	Epochs  int     // planned
	Step    int     // steps done over the whole run, this one included
	Batch   int     // batches done in this epoch, this one included
	Batches int     // batches an epoch
	Samples int     // samples seen in this epoch
	Loss    float64 // mean over this epoch's samples so far
	LR      float64 // of this step, a warm-up included
	Seconds float64 // since this process entered the epoch
}

// EpochRecord holds what a run remembers of an epoch. Checkpoints hold it, so it has no time in it.
type EpochRecord struct {
	Epoch   int     `json:"epoch"` // from 0
	Steps   int     `json:"steps"`
	Samples int     `json:"samples"`
	Loss    float64 `json:"loss"` // mean over the samples
	LR      float64 `json:"lr"`   // of the last step
	Scores  []Score `json:"scores,omitempty"`
	Best    bool    `json:"best,omitempty"` // this epoch is the best so far by the primary score
}

// EpochInfo is an epoch's record with the seconds that it took. They count from when this process entered the
// epoch, so a resumed epoch reports only the part since then.
type EpochInfo struct {
	EpochRecord
	TrainSeconds    float64
	ValidateSeconds float64
	Stopped         bool // early stopping ends the run here
}

// SaveInfo describes a checkpoint that was written.
type SaveInfo struct {
	Epoch, Batch, Step int
	Seconds            float64
}

// throttle lets OnStep through at most once per interval.
type throttle struct {
	every time.Duration
	next  time.Time
}

func newThrottle(every time.Duration) throttle {
	if every == 0 {
		every = defaultEvery
	}
	return throttle{every: every}
}

func (t *throttle) due(now time.Time) bool {
	if now.Before(t.next) {
		return false
	}
	t.next = now.Add(t.every)
	return true
}
