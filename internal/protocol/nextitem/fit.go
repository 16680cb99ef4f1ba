package nextitem

import (
	"context"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/optim"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/train"
)

// fit trains and leaves the parameters to report in the model. With refit it trains twice. The first training learns
// the samples that are not held out, and chooses the number of epochs. The second starts from the same initial values
// and learns all samples.
func (x *Experiment) fit(ctx context.Context) (*experiment.Fitted, error) {
	if x.Fit.Epochs == 0 { // the model is computed
		defer x.Env.Stage("fit")()
		return &experiment.Fitted{Result: &train.Result{}}, run.Interrupted(ctx, x.build(x.learned()))
	}
	f := experiment.Fit{Env: x.Env, Epochs: x.Fit.Epochs, Learn: x.learn}
	if x.Refit != nil {
		f.Again = "all samples"
	}
	return f.Run(ctx)
}

// learn makes a new model and trains it once.
func (x *Experiment) learn(ctx context.Context, t experiment.Training) (*train.Result, error) {
	q, first := x.Train, x.Fit.Passes().Epoch(0)
	if t.Again {
		q, first = x.Refit, x.Fit.Passes().Again(0)
	}
	if err := x.build(q); err != nil {
		return nil, err
	}
	l, err := x.model.Lessons(first)
	if err != nil {
		return nil, err
	}
	o := x.options(q, l, t.Epochs, first)
	o.Hooks, o.Store, o.SaveEvery, o.SaveSteps = x.Env.TrainHooks(), t.Store, x.Env.SaveEvery, x.Env.SaveSteps
	return train.Run(ctx, l.Model, o)
}

// Learn trains once, in memory, and returns the model with the parameters to report. Close frees its memory.
func (x *Experiment) Learn(ctx context.Context, h train.Hooks) (Learner, error) {
	first := x.Fit.Passes().Epoch(0)
	if err := x.build(x.Train); err != nil {
		return nil, err
	}
	l, err := x.model.Lessons(first)
	if err != nil {
		return nil, err
	}
	o := x.options(x.Train, l, x.Fit.Epochs, first)
	o.Hooks = h
	_, err = train.Run(ctx, l.Model, o)
	return x.model, err
}

// options returns the options of a training on a part. The caller sets where checkpoints go
// and who is told.
func (x *Experiment) options(q *Part, l Lessons, epochs int, first Pass) train.Options {
	t := x.Fit
	o := train.Options{
		Samples: l.Samples, List: l.List, BatchSize: t.Batch, Shuffle: !l.InOrder, Seed: x.Env.Seed, Epochs: epochs,
		Optimizer: x.optimizer(), Rate: t.Rate,
		Schedule: optim.StepDecay{Factor: t.DecayBy, Every: t.DecayEvery, TickBefore: t.TickBefore},
		Extra:    x.Extra, Tag: x.Env.ConfigHash,
	}
	held := x.Valid != nil && q == x.Train
	every := x.Eval.Every && !(t.Refit && held)
	if held || every {
		o.Validate = func(ctx context.Context, epoch int) ([]train.Score, error) {
			return x.validate(ctx, first+Pass(epoch), held, every)
		}
	}
	if !held && t.Refit {
		return o // the number of epochs is settled
	}
	if t.Select == SelectValidation {
		o.Select, o.Primary = train.SelectBest, onValid+x.primary().String()
	}
	if t.Patience > 0 {
		o.Stop = train.Stop{Rule: train.StopReset, Patience: t.Patience}
		if t.PatienceTotal {
			o.Stop.Rule = train.StopTotal
		}
		watched := onTest
		if held {
			watched = onValid
		}
		for _, m := range x.cut.watched(x.metrics()) {
			o.Stop.Metrics = append(o.Stop.Metrics, watched+m.String())
		}
	}
	return o
}

// optimizer returns a new optimiser of the setting.
func (x *Experiment) optimizer() train.Optimizer {
	if x.Optimizer != nil {
		return x.Optimizer()
	}
	return optim.NewAdam(x.Fit.L2)
}

// Learner is a model that the protocol trains and ranks by. It is made for the samples that it learns. It is not safe
// for concurrent use.
type Learner interface {
	// Params returns all parameters, in a fixed order.
	Params() []*autograd.Param
	// Count returns the number of training samples of a part.
	Count(p *Part) int
	// Lessons returns the samples and the loss for the training loop. first is the pass of its first epoch.
	Lessons(first Pass) (Lessons, error)
	// Scorer returns a scorer of all items for the samples of a part, for one pass over them.
	// noisy asks for the noise that a model with noisy messages adds in training.
	Scorer(p *Part, pass Pass, noisy bool) (eval.Scorer, error)
}

// Lessons holds the samples of a training loop and the loss over them. The learner defines them: they differ from the
// samples of a part if a model learns from whole sequences or from pairs.
type Lessons struct {
	Model   train.Model
	Samples int     // indices 0..Samples-1; ignored where List is set
	List    []int32 // the samples' indices
	InOrder bool    // not shuffled every epoch
}

// OpenSelection names the selection of the epoch by held-out rows, which has no noise.
var OpenSelection = experiment.NotCovered("selection",
	"rows held out of training decide, in the clear, when it ends or which epoch is reported")

// Unprotect declares that the method protects nothing. It reads the sequences in the clear,
// and everything listed in more.
func (x *Experiment) Unprotect(more ...experiment.Open) error {
	a := &unprotected{experiment.Unprotected("sequences",
		"the model trains on and recommends from the sequences in the clear; its parameters tell of them too")}
	a.Unbounded = append(a.Unbounded, more...)
	if x.Fit.Selected() {
		a.Unbounded = append(a.Unbounded, OpenSelection)
	}
	return x.Declare(a)
}

// unprotected is the account of a model without any privacy.
type unprotected struct{ experiment.Account }

// Show implements experiment.Privacy: it lists what has no noise.
func (a *unprotected) Show(d *report.Document) { a.ShowOpen(d) }
