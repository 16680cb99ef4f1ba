package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// ErrInterrupted is wrapped by the error of a run that ended with its context. With a store, the run was saved and can
// be resumed.
var ErrInterrupted = errors.New("training interrupted")

// ErrNotSaved is wrapped beside ErrInterrupted if the state could not be saved. The steps since the last checkpoint are
// lost.
var ErrNotSaved = errors.New("not saved")

// Result holds the outcome of a finished run, besides the model's parameters.
type Result struct {
	Epochs  []EpochRecord // all of the run, those before a resumption included
	Steps   int           // over the whole run
	Best    int           // epoch with the best primary score, -1 without validation
	Stopped bool          // early stopping ended the run
	Resumed bool          // it began from a checkpoint
}

// loop holds one run under way.
type loop struct {
	model  Model
	opt    *Options
	params []*autograd.Param
	tape   *autograd.Tape
	order  *order
	at     progress
	best   []tensor.Matrix // parameters of the best epoch, in the order of params; nil before it

	saved   time.Time // last checkpoint, or the start
	savedAt mark
	onStep  throttle
	resumed bool
}

// Run trains the model to the end of its epochs, or until early stopping, and leaves the selected parameters in it. If
// the store holds a checkpoint, the run continues from it; from the checkpoint of a finished run Run returns at once.
// If the context ends, Run saves the state and returns an error that wraps [ErrInterrupted] and the context's cause. If
// a step fails, Run returns a [*StepError] and leaves the last checkpoint as it is.
func Run(ctx context.Context, m Model, o Options) (*Result, error) {
	l, err := newLoop(m, &o)
	if err != nil {
		return nil, err
	}
	if err := l.resume(); err != nil {
		return nil, fmt.Errorf("train: resume: %w", err)
	}
	fresh := !l.at.Done
	for !l.at.Done {
		if err := l.epoch(ctx); err != nil {
			return nil, err
		}
	}
	if fresh {
		if err := l.save(); err != nil {
			return nil, err
		}
	}
	if o.Select == SelectBest && l.best != nil {
		for i, p := range l.params {
			copyMatrix(p.Value, l.best[i])
		}
	}
	return &Result{
		Epochs: l.at.History, Steps: l.at.Step, Best: l.at.Best,
		Stopped: len(l.at.History) < o.Epochs, Resumed: l.resumed,
	}, nil
}

func newLoop(m Model, o *Options) (*loop, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	l := &loop{
		model: m, opt: o, params: m.Params(), tape: autograd.NewTape(), order: newOrder(o),
		saved: time.Now(), savedAt: mark{epoch: -1}, onStep: newThrottle(o.Hooks.Every),
		at: progress{Version: stateVersion, Identity: o.identity(), Best: -1},
	}
	seen := map[string]bool{}
	for _, p := range l.params {
		if seen[p.Name] {
			return nil, fmt.Errorf("train: two parameters are named %q", p.Name)
		}
		seen[p.Name] = true
	}
	l.prepareLazy()
	return l, nil
}

// epoch runs the rest of the current epoch: its batches, then validation and what follows from it.
func (l *loop) epoch(ctx context.Context) error {
	o, at := l.opt, &l.at
	lr := o.rate(at.Epoch)
	samples, batches := l.order.of(at.Epoch), o.batches()
	entered := time.Now()
	for at.Batch < batches {
		if ctx.Err() != nil {
			return l.interrupt(ctx)
		}
		from := at.Batch * o.BatchSize
		to := min(from+o.BatchSize, len(samples))
		loss, err := l.step(Batch{Epoch: at.Epoch, Step: at.Step, Samples: samples[from:to:to]}, lr)
		if err != nil {
			return &StepError{
				Epoch: at.Epoch, Batch: at.Batch, Batches: batches, Step: at.Step, From: from, To: to,
				Samples: slices.Clone(samples[from:min(to, from+5)]), Err: err,
			}
		}
		at.LossSum += bits(loss * float64(to-from))
		at.Seen += to - from
		at.Batch++
		at.Step++
		now := time.Now()
		l.tell(now, entered, lr, batches)
		if l.due(now) {
			if err := l.save(); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return l.interrupt(ctx)
	}
	return l.finishEpoch(ctx, lr, entered)
}

// tell calls OnStep if it is due.
func (l *loop) tell(now, entered time.Time, lr float64, batches int) {
	h, at := &l.opt.Hooks, &l.at
	if h.OnStep == nil {
		return
	}
	if due := l.onStep.due(now); !due && at.Batch != 1 && at.Batch != batches {
		return
	}
	h.OnStep(StepInfo{
		Epoch: at.Epoch, Epochs: l.opt.Epochs, Step: at.Step, Batch: at.Batch, Batches: batches, Samples: at.Seen,
		Loss: float64(at.LossSum) / float64(at.Seen), LR: l.effective(lr), Seconds: now.Sub(entered).Seconds(),
	})
}

// finishEpoch validates, selects, decides on stopping, and moves to the next epoch.
func (l *loop) finishEpoch(ctx context.Context, lr float64, entered time.Time) error {
	o, at := l.opt, &l.at
	l.settle()
	if err := l.checkParams(); err != nil {
		return err
	}
	record := EpochRecord{
		Epoch: at.Epoch, Steps: at.Batch, Samples: at.Seen, LR: l.effective(lr),
		Loss: float64(at.LossSum) / float64(at.Seen),
	}
	trained := time.Now()
	stop := false
	if o.Validate != nil {
		scores, err := l.validate(ctx)
		if err != nil {
			return err
		}
		record.Scores = scores
		if record.Best, err = l.choose(scores); err != nil {
			return err
		}
		if stop, err = at.Stop.update(o.Stop, scores); err != nil {
			return err
		}
	}
	at.History = append(at.History, record)
	at.Epoch++
	at.Batch, at.Seen, at.LossSum = 0, 0, 0
	at.Done = stop || at.Epoch == o.Epochs
	if o.Hooks.OnEpoch != nil {
		o.Hooks.OnEpoch(EpochInfo{
			EpochRecord: record, Stopped: stop && at.Epoch < o.Epochs,
			TrainSeconds: trained.Sub(entered).Seconds(), ValidateSeconds: time.Since(trained).Seconds(),
		})
	}
	return nil
}

// validate saves a checkpoint, then calls the caller's validation. It saves before the call and not after an
// interruption of it, since a ledger may have grown during the call and the resumed run validates again.
func (l *loop) validate(ctx context.Context) ([]Score, error) {
	if err := l.save(); err != nil {
		return nil, err
	}
	scores, err := l.opt.Validate(ctx, l.at.Epoch)
	if err != nil {
		if ctx.Err() != nil {
			return nil, l.interrupted(ctx)
		}
		return nil, fmt.Errorf("train: validation after epoch %d: %w", l.at.Epoch+1, err)
	}
	if len(scores) == 0 {
		return nil, fmt.Errorf("train: validation after epoch %d returned no score", l.at.Epoch+1)
	}
	for _, s := range scores {
		if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			return nil, fmt.Errorf("train: validation after epoch %d: %s is %v: %w", l.at.Epoch+1, s.Name, s.Value,
				ErrNotFinite)
		}
	}
	return slices.Clone(scores), nil
}

// choose reports whether the epoch is the best so far by the primary score, and keeps its parameters if SelectBest
// needs them. Among equal epochs the first is the best.
func (l *loop) choose(scores []Score) (best bool, err error) {
	primary := 0
	if l.opt.Primary != "" {
		primary = slices.IndexFunc(scores, func(s Score) bool { return s.Name == l.opt.Primary })
	}
	if primary < 0 {
		return false, fmt.Errorf("train: Primary names %q, Validate returned %s", l.opt.Primary, names(scores))
	}
	if l.at.Best >= 0 {
		held := l.at.History[l.at.Best].Scores
		i := slices.IndexFunc(held, func(s Score) bool { return s.Name == scores[primary].Name })
		if i < 0 {
			return false, fmt.Errorf("train: Validate returned %s, earlier %s", names(scores), names(held))
		}
		if !scores[primary].better(held[i].Value) {
			return false, nil
		}
	}
	l.at.Best = l.at.Epoch
	if l.opt.Select == SelectBest {
		if l.best == nil {
			l.best = make([]tensor.Matrix, len(l.params))
			for i, p := range l.params {
				l.best[i] = tensor.New(p.Value.Rows, p.Value.Cols)
			}
		}
		for i, p := range l.params {
			copyMatrix(l.best[i], p.Value)
		}
	}
	return true, nil
}

// checkParams returns an error, with the name, for parameters that are not finite: a bad gradient may have a finite
// loss.
func (l *loop) checkParams() error {
	for _, p := range l.params {
		for i := range p.Value.Rows {
			if j, ok := tensor.Finite(tensor.Row(p.Value, i)); !ok {
				return fmt.Errorf("train: epoch %d, after batch %d (step %d): parameter %s holds %v at (%d,%d): %w",
					l.at.Epoch+1, l.at.Batch, l.at.Step, p.Name, tensor.Row(p.Value, i)[j], i, j, ErrNotFinite)
			}
		}
	}
	return nil
}
