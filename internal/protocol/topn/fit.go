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

// Names of the two families of scores of an epoch.
const (
	onValid = "valid "
	onTest  = "test "
)

// fit trains the model, and leaves in it the parameters to report.
func (x *Experiment) fit(ctx context.Context) (*experiment.Fitted, error) {
	return experiment.Fit{Env: x.Env, Epochs: x.Method.Train.Epochs,
		Learn: func(ctx context.Context, t experiment.Training) (*train.Result, error) {
			return train.Run(ctx, x.objective(), x.options(t))
		}}.Run(ctx)
}

// options returns the options of the training.
func (x *Experiment) options(t experiment.Training) train.Options {
	c := x.Method.Train
	o := train.Options{
		Samples: x.learned.Edges(), BatchSize: c.Batch, Shuffle: c.Sampler == bpr.Pass, Seed: x.Env.Seed,
		Epochs:    t.Epochs,
		Optimizer: c.optimizer(), Rate: c.Rate, Schedule: optim.StepDecay{Factor: c.RateBy, Every: c.RateEvery},
		Hooks: x.Env.TrainHooks(), Store: t.Store, SaveEvery: x.Env.SaveEvery, SaveSteps: x.Env.SaveSteps,
		Extra: x.Extra, Tag: x.Env.ConfigHash,
	}
	if x.valid != nil || x.Method.Eval.Every {
		o.Validate = x.validate
	}
	if c.Select == SelectValidation {
		o.Select, o.Primary = train.SelectBest, onValid+Primary.String()
	}
	if c.Patience > 0 {
		o.Stop = train.Stop{Rule: train.StopReset, Patience: c.Patience, Metrics: []string{onValid + Primary.String(),
			onValid + Second.String()}}
	}
	return o
}

// validate scores the validation rows, the test rows, or both, by the first release.
func (x *Experiment) validate(ctx context.Context, epoch int) ([]train.Score, error) {
	var scores []train.Score
	ms := x.metrics()
	for _, m := range []metrics.Metric{Primary, Second} {
		if !slices.Contains(ms, m) {
			ms = append(ms, m)
		}
	}
	for _, v := range []struct {
		prefix string
		part   *part
		due    bool
		call   Call
	}{
		{onValid, x.valid, x.valid != nil, callOnValid(epoch)},
		{onTest, x.test, x.Method.Eval.Every, callOnTest(epoch)},
	} {
		if !v.due {
			continue
		}
		ranks, err := x.score(ctx, v.part, x.Method.releases()[0], v.call, ms)
		if err != nil {
			return nil, err
		}
		for _, m := range metrics.SummarySet(ms, ranks) {
			scores = append(scores, train.Score{Name: v.prefix + m.Metric.String(), Value: m.Value})
		}
	}
	return scores, nil
}
