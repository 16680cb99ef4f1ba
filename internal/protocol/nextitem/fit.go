package nextitem

import (
	"context"

	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/optim"
	"privrec/internal/run"
	"privrec/internal/train"
)

// fit trains and leaves the parameters to report in the model. With refit it trains twice. The first training learns
// the samples that are not held out, and chooses the number of epochs. The second starts from the same initial values
// and learns all samples.
func (x *Experiment) fit(ctx context.Context) (*experiment.Fitted, error) {
	if x.Fit.Epochs == 0 { // the model is computed
		defer x.Env.Stage("fit")()
		return &experiment.Fitted{Result: &train.Result{}}, run.Interrupted(ctx, x.Make(x.learned()))
	}
	return x.training().Run(ctx)
}

// Learn trains once, in memory, and returns the model with the parameters to report. Close frees its memory.
func (x *Experiment) Learn(ctx context.Context, h train.Hooks) (Learner, error) {
	err := x.training().Once(ctx, h)
	return x.Model, err
}

// training says how the model is trained.
func (x *Experiment) training() experiment.Fit {
	t := x.Fit
	_, primary, all := x.cut.measures()
	f := experiment.Fit{Core: &x.Core, Epochs: t.Epochs, Held: x.Valid != nil, Every: x.Eval.Every,
		Select: t.Select == SelectValidation, Primary: primary, Patience: t.Patience, Total: t.PatienceTotal,
		Watched: []metrics.Metric{primary}, Begin: x.begin, Rank: x.scoreEpoch}
	if all {
		f.Watched = x.metrics()
	}
	if x.Refit != nil {
		f.Again = "all samples"
	}
	return f
}

// begin makes a new model, and returns it with its samples.
func (x *Experiment) begin(t experiment.Training) (train.Model, train.Options, error) {
	q, c := x.Train, x.Fit
	if t.Again {
		q = x.Refit
	}
	if err := x.Make(q); err != nil {
		return nil, train.Options{}, err
	}
	l, err := x.Model.Lessons(x.pass(t, 0))
	return l.Model, train.Options{
		Samples: l.Samples, List: l.List, BatchSize: c.Batch, Shuffle: !l.InOrder,
		Optimizer: x.optimizer(), Rate: c.Rate,
		Schedule: optim.StepDecay{Factor: c.DecayBy, Every: c.DecayEvery, TickBefore: c.TickBefore},
	}, err
}

// pass returns the pass of an epoch of a training. epoch counts from 0.
func (x *Experiment) pass(t experiment.Training, epoch int) Pass {
	if t.Again {
		return x.Fit.Passes().Again(epoch)
	}
	return x.Fit.Passes().Epoch(epoch)
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
	experiment.Model
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
	a := experiment.Unprotected("sequences",
		"the model trains on and recommends from the sequences in the clear; its parameters tell of them too")
	a.Unbounded = append(a.Unbounded, more...)
	if x.Fit.Selected() {
		a.Unbounded = append(a.Unbounded, OpenSelection)
	}
	return x.Declare(&a)
}
