package rdpgcf

import (
	"context"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/optim"
	"privrec/internal/train"
)

// trained is the objective as the training loop takes it.
type trained struct{ bpr.Objective }

// Params implements train.Model.
func (t trained) Params() []*autograd.Param { return t.Encoder.Params() }

// Loss implements train.Model.
func (t trained) Loss(tape *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	return t.Objective.Loss(tape, b.Step, b.Samples)
}

// objective is the loss of the setting.
func (x *experiment) objective() trained {
	scale := x.cfg.scale
	if scale == 0 {
		scale = 1
	}
	return trained{bpr.Objective{Encoder: x.model, Sampler: x.sampler, Scale: scale, L2: x.cfg.train.L2}}
}

// Names of the two families of scores of an epoch.
const (
	onValid = "valid "
	onTest  = "test "
)

// fit trains the model and leaves in it the parameters to report.
func (x *experiment) fit(ctx context.Context) (*train.Result, error) {
	defer x.env.Stage("train")()
	return train.Run(ctx, x.objective(), x.options())
}

// options are those of the training.
func (x *experiment) options() train.Options {
	t := x.cfg.train
	o := train.Options{
		Samples: x.graph.Edges(), BatchSize: t.Batch, Shuffle: t.Sampler == bpr.Pass, Seed: x.env.Seed, Epochs: t.Epochs,
		Optimizer: optim.NewAdam(t.Decay), Rate: t.Rate, Schedule: optim.StepDecay{Factor: t.RateBy, Every: t.RateEvery},
		Hooks: x.env.TrainHooks(), Store: x.env.TrainStore(), SaveEvery: x.env.SaveEvery, SaveSteps: x.env.SaveSteps,
		Extra: x.extra, Tag: x.env.ConfigHash,
	}
	if x.valid != nil || x.cfg.eval.Every {
		o.Validate = x.validate
	}
	if t.Select == SelectValidation {
		o.Select, o.Primary = train.SelectBest, onValid+primary.String()
	}
	if t.Patience > 0 {
		o.Stop = train.Stop{Rule: train.StopReset, Patience: t.Patience, Metrics: []string{onValid + primary.String(), onValid + second.String()}}
	}
	return o
}

// validate scores the validation rows, the test rows, or both, by the first release.
func (x *experiment) validate(ctx context.Context, epoch int) ([]train.Score, error) {
	var scores []train.Score
	ms := x.metrics()
	for _, m := range []metrics.Metric{primary, second} {
		if !slices.Contains(ms, m) {
			ms = append(ms, m)
		}
	}
	for _, v := range []struct {
		prefix string
		part   *part
		due    bool
		call   int
	}{
		{onValid, x.valid, x.valid != nil, 2 * epoch},
		{onTest, x.test, x.cfg.eval.Every, 2*epoch + 1},
	} {
		if !v.due {
			continue
		}
		ranks, err := x.score(ctx, v.part, x.cfg.releases[0], v.call, ms)
		if err != nil {
			return nil, err
		}
		for _, m := range metrics.SummarySet(ms, ranks) {
			scores = append(scores, train.Score{Name: v.prefix + m.Metric.String(), Value: m.Value})
		}
	}
	return scores, nil
}
