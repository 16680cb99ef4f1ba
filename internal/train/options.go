package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"privrec/internal/autograd"
	"privrec/internal/rng"
)

// Model is a model that can be trained.
type Model interface {
	// Params returns the same parameters in the same order each time, with distinct names.
	Params() []*autograd.Param
	// Loss builds the mean loss over the batch's samples (1, 1) on the tape. Random draws in it must depend
	// only on the batch (its Step), never on earlier calls.
	Loss(t *autograd.Tape, b Batch) (*autograd.Node, error)
}

// Batch names the samples of one step.
type Batch struct {
	Epoch   int     // from 0
	Step    int     // from 0, counted over the whole run
	Samples []int32 // indices into the model's own sample table; valid during the call only
}

// Score is one named validation result. Higher is better unless Lower is set.
type Score struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Lower bool    `json:"lower,omitempty"`
}

// better reports whether s beats old, strictly.
func (s Score) better(old float64) bool {
	if s.Lower {
		return s.Value < old
	}
	return s.Value > old
}

// Selection names the epoch whose parameters the model holds when training ends.
type Selection uint8

// Values of Selection. SelectLast keeps the parameters of the last epoch. SelectBest keeps a copy of the
// parameters of the first epoch with the best primary score.
const (
	SelectLast Selection = iota
	SelectBest
)

// Extra is state of the caller that belongs to the same step as the parameters, such as a privacy ledger or running
// checks of a mechanism.
type Extra interface {
	// Save returns the state. The loop calls it between steps, right before Store.Save.
	Save() ([]byte, error)
	// Load restores a state from Save. The loop calls it once, before the first step of a resumed run.
	Load([]byte) error
}

// Options holds the settings of a training. Fields without a default are required.
type Options struct {
	Samples   int      // number of samples, indices 0..Samples-1; ignored when List is set
	List      []int32  // the samples' indices; nil means 0..Samples-1
	BatchSize int      // samples a step
	DropLast  bool     // leave out an epoch's last batch when it is not full; default: keep it
	Shuffle   bool     // a new order every epoch, drawn from Seed; default: the order of List
	Seed      rng.Seed // of the shuffle only
	Epochs    int      // at least 1

	Optimizer Optimizer
	Rate      float64  // base learning rate
	Schedule  Schedule // learning rate by epoch; default nil: Rate throughout
	ClipNorm  float64  // largest norm of all gradients together, which are scaled down to it; default 0: no clipping

	// Validate scores the model after an epoch; nil for none. An error ends the run. It must not change the model. A
	// checkpoint is written before it. If the context ends and Validate returns an error, the run is interrupted there
	// and validates again on resumption.
	Validate func(ctx context.Context, epoch int) ([]Score, error)
	Primary  string    // the score that SelectBest looks at; default: the first that Validate returns
	Select   Selection // default: SelectLast
	Stop     Stop      // early stopping; the zero value never stops

	Hooks Hooks

	Store     Store         // where checkpoints go; nil for none
	SaveEvery time.Duration // at most this long between checkpoints; default 0: not by time
	SaveSteps int           // a checkpoint every so many steps; default 0: not by steps
	Extra     Extra         // saved and restored with each checkpoint; nil for none
	Tag       string        // identifies the configuration; a checkpoint with another tag is refused
}

// ErrNoSamples is returned for training without data.
var ErrNoSamples = errors.New("there are no samples to train on")

func (o *Options) samples() int {
	if o.List != nil {
		return len(o.List)
	}
	return o.Samples
}

// rate returns the learning rate of an epoch.
func (o *Options) rate(epoch int) float64 {
	if o.Schedule == nil {
		return o.Rate
	}
	return o.Schedule.LR(o.Rate, epoch)
}

// batches returns the number of steps in an epoch.
func (o *Options) batches() int {
	n := o.samples()
	if o.DropLast {
		return n / o.BatchSize
	}
	return (n + o.BatchSize - 1) / o.BatchSize
}

// check returns an error, with the name of the field, for options that cannot work.
func (o *Options) check() error {
	n := o.samples()
	switch {
	case n < 0 || n > math.MaxInt32:
		return fmt.Errorf("train: Samples is %d, outside 0 to %d", n, math.MaxInt32)
	case n == 0:
		return fmt.Errorf("train: %w", ErrNoSamples)
	case o.BatchSize < 1:
		return fmt.Errorf("train: BatchSize is %d, want at least 1", o.BatchSize)
	case o.Epochs < 1:
		return fmt.Errorf("train: Epochs is %d, want at least 1", o.Epochs)
	case o.batches() == 0:
		return fmt.Errorf("train: BatchSize %d is above the %d samples and DropLast leaves no batch", o.BatchSize, n)
	case o.Optimizer == nil:
		return errors.New("train: Optimizer is missing")
	case !(o.Rate >= 0) || math.IsInf(o.Rate, 0):
		return fmt.Errorf("train: Rate is %v, want a finite number, not negative", o.Rate)
	case !(o.ClipNorm >= 0) || math.IsInf(o.ClipNorm, 0):
		return fmt.Errorf("train: ClipNorm is %v, want a finite number, 0 for none", o.ClipNorm)
	case o.Select > SelectBest:
		return fmt.Errorf("train: Select is %d, want SelectLast or SelectBest", o.Select)
	case o.Validate == nil && o.Select == SelectBest:
		return errors.New("train: SelectBest needs Validate")
	case o.Validate == nil && o.Stop.Rule != StopNever:
		return errors.New("train: early stopping needs Validate")
	case o.SaveSteps < 0 || o.SaveEvery < 0:
		return fmt.Errorf("train: SaveSteps %d and SaveEvery %v must not be negative", o.SaveSteps, o.SaveEvery)
	}
	return o.Stop.check()
}

// Optimizer has the methods that the loop calls on an optimiser; package optim implements it.
type Optimizer interface {
	// Step applies one update.
	Step(params []*autograd.Param, g *autograd.Grads, lr float64) error
	// State returns everything that later steps depend on, in a fixed order and under distinct names. Calling it, or
	// Load with its result, must not change any later result.
	State() []autograd.NamedTensor
	// Load restores a state before the first step of a resumed run. It fails on other names and shapes, with the name.
	Load([]autograd.NamedTensor) error
}

// Schedule determines the learning rate of an epoch.
type Schedule interface {
	// LR returns the learning rate of an epoch, counted from 0, given the base learning rate.
	LR(base float64, epoch int) float64
}

// warming is an optimiser that multiplies the rate of a step, counted from 1, by a factor of its own.
type warming interface {
	Factor(step int) float64
}

// effective returns the learning rate of the last step, given that of its epoch.
func (l *loop) effective(lr float64) float64 {
	if o, ok := l.opt.Optimizer.(warming); ok {
		return lr * o.Factor(l.at.Step)
	}
	return lr
}

// lazy is an optimiser that updates rows only when they are read.
type lazy interface {
	// Touch brings the given rows of p up to date; nil means all of them.
	Touch(p *autograd.Param, rows []int32)
}

// prepareLazy makes the tape ask a lazy optimiser for the rows it is about to read.
func (l *loop) prepareLazy() {
	if o, ok := l.opt.Optimizer.(lazy); ok {
		l.tape.BeforeRead = o.Touch
	}
}

// settle brings all parameters up to date. The loop calls it at the end of every epoch, with or without a
// checkpoint, so that it makes no difference between runs.
func (l *loop) settle() {
	if o, ok := l.opt.Optimizer.(lazy); ok {
		for _, p := range l.params {
			o.Touch(p, nil)
		}
	}
}

// Hooks holds functions that the loop calls during training. They run on the loop's goroutine, so a slow hook slows
// training.
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

// EpochRecord holds the results of an epoch that a run keeps. Checkpoints store it, so it contains no times.
type EpochRecord struct {
	Epoch   int     `json:"epoch"` // from 0
	Steps   int     `json:"steps"`
	Samples int     `json:"samples"`
	Loss    float64 `json:"loss"` // mean over the samples
	LR      float64 `json:"lr"`   // of the last step
	Scores  []Score `json:"scores,omitempty"`
	Best    bool    `json:"best,omitempty"` // this epoch is the best so far by the primary score
}

// EpochInfo holds an epoch's record with its duration in seconds. That counts from when this process entered the epoch,
// so a resumed epoch reports only the part since then.
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
