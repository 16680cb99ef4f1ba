package nextitem

import (
	"context"

	"privrec/internal/experiment"
	"privrec/internal/optim"
	"privrec/internal/run"
	"privrec/internal/train"
)

// fit trains, and leaves the parameters to report in the model. With refit it trains twice.
// The first training learns the samples that are not held out, and chooses the number of
// epochs. The second begins at the same initial values and learns all samples.
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

// Learn trains in memory, without a second training. It returns the model with the parameters
// to report. Close gives its memory back.
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
