package topn

import (
	"context"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/optim"
	"privrec/internal/train"
)

// trained is the BPR objective for the training loop.
type trained struct{ bpr.Objective }

// Params implements train.Model.
func (t trained) Params() []*autograd.Param { return t.Encoder.Params() }

// Loss implements train.Model.
func (t trained) Loss(tape *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	return t.Objective.Loss(tape, b.Step, b.Samples)
}

// objective returns the model with the loss of the setting.
func (x *Experiment) objective() train.Model {
	if x.Own != nil {
		return ownLoss{x.Own, x.sampler}
	}
	scale := x.Method.Scale
	if scale == 0 {
		scale = 1
	}
	return trained{bpr.Objective{Encoder: x.Model, Sampler: x.sampler, Scale: scale, L2: x.Method.Train.L2}}
}

// fit trains the model, and leaves in it the parameters to report.
func (x *Experiment) fit(ctx context.Context) (*experiment.Fitted, error) {
	c := x.Method.Train
	return experiment.Fit{Core: &x.Core, Epochs: c.Epochs, Held: x.valid != nil, Every: x.Method.Eval.Every,
		Select: c.Select == SelectValidation, Primary: Primary, Patience: c.Patience,
		Watched: []metrics.Metric{Primary, Second}, Begin: x.begin, Rank: x.scoreEpoch}.Run(ctx)
}

// begin returns the model with the samples of the training.
func (x *Experiment) begin(experiment.Training) (train.Model, train.Options, error) {
	c := x.Method.Train
	return x.objective(), train.Options{Samples: x.learned.Edges(), BatchSize: c.Batch, Shuffle: c.Sampler == bpr.Pass,
		Optimizer: c.optimizer(), Rate: c.Rate, Schedule: optim.StepDecay{Factor: c.RateBy, Every: c.RateEvery}}, nil
}

// scoreEpoch scores the validation or the test rows by the first release.
func (x *Experiment) scoreEpoch(ctx context.Context, _ experiment.Training, epoch int,
	test bool) ([]metrics.Value, error) {
	ms := x.metrics()
	for _, m := range []metrics.Metric{Primary, Second} {
		if !slices.Contains(ms, m) {
			ms = append(ms, m)
		}
	}
	p, call := x.valid, callOnValid(epoch)
	if test {
		p, call = x.test, callOnTest(epoch)
	}
	ranks, err := x.score(ctx, p, x.Method.releases()[0], call, ms)
	if err != nil {
		return nil, err
	}
	return metrics.SummarySet(ms, ranks), nil
}
