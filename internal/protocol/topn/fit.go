package topn

import (
	"context"
	"slices"

	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/optim"
	"privrec/internal/train"
)

// training says how the model is trained.
func (x *Experiment) training() experiment.Fit {
	c := x.Method.Train
	return experiment.Fit{Core: &x.Core, Epochs: c.Epochs, Held: x.valid != nil, Every: x.Method.Eval.Every,
		Select: c.Select == SelectValidation, Primary: Primary, Patience: c.Patience,
		Watched: []metrics.Metric{Primary, Second}, Begin: x.begin, Rank: x.scoreEpoch}
}

// begin returns the model with the samples of the training.
func (x *Experiment) begin(experiment.Training) (train.Model, train.Options, error) {
	c := x.Method.Train
	return onTriples{x.Model, x.sampler}, train.Options{
		Samples: x.learned.Edges(), BatchSize: c.Batch, Shuffle: c.Sampler == bpr.Pass,
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
