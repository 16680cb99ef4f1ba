package crossdomain

import (
	"context"
	"slices"

	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/train"
)

// primary chooses the epoch (section IV of the paper).
var primary = metrics.Metric{Kind: metrics.NDCG, K: 10}

// Names of the two families of scores of an epoch.
const (
	onValid = "valid "
	onTest  = "test "
)

// fit trains, and with refit once more on all rows for as many epochs as validation
// chose. It returns the reported model.
func (x *Experiment) fit(ctx context.Context) (Model, *experiment.Fitted, error) {
	var m Model // of the last training
	again := ""
	if x.Training.Refit {
		again = "all rows"
	}
	f, err := experiment.Fit{Env: x.Env, Epochs: x.Training.Epochs, Again: again, Learn: func(ctx context.Context, t experiment.Training) (r *train.Result, err error) {
		if m != nil {
			closeModel(m)
		}
		rows := x.tuning
		if t.Again {
			rows = x.final
		}
		if m, err = x.New(rows); err != nil {
			return nil, err
		}
		return train.Run(ctx, m, x.options(m, rows, t))
	}}.Run(ctx)
	if err != nil && m != nil {
		closeModel(m)
	}
	return m, f, err
}

// options returns how one training runs.
func (x *Experiment) options(m Model, rows *Rows, t experiment.Training) train.Options {
	c := x.Training
	o := train.Options{
		Samples: m.Steps(), BatchSize: 1, Seed: x.Env.Seed, Epochs: t.Epochs, Optimizer: m.Optimizer(), Rate: c.Rate,
		Hooks: x.Env.TrainHooks(), Store: t.Store, SaveEvery: x.Env.SaveEvery, SaveSteps: x.Env.SaveSteps, Tag: x.Env.ConfigHash,
	}
	every := x.eval.Every && (!c.Refit || t.Again)
	if !t.Again || every {
		o.Validate = func(ctx context.Context, _ int) ([]train.Score, error) {
			return x.validate(ctx, m, rows, !t.Again, every)
		}
	}
	if t.Again {
		return o // the number of epochs is settled
	}
	if c.Select {
		o.Select, o.Primary = train.SelectBest, onValid+primary.String()
	}
	if c.Patience > 0 {
		o.Stop = train.Stop{Rule: train.StopReset, Patience: c.Patience, Metrics: []string{onValid + primary.String()}}
	}
	return o
}

// validate ranks the validation rows, the test rows, or both, among their lists.
func (x *Experiment) validate(ctx context.Context, m Model, rows *Rows, valid, test bool) (scores []train.Score, err error) {
	for _, v := range []struct {
		due    bool
		prefix string
		held   *held
	}{{valid, onValid, x.valid}, {test, onTest, x.test}} {
		if !v.due {
			continue
		}
		r, _, err := x.on(m, rows).sampled(ctx, v.held)
		if err != nil {
			return nil, err
		}
		ms := x.metrics()
		if !slices.Contains(ms, primary) {
			ms = append(ms, primary)
		}
		for _, m := range ms {
			scores = append(scores, train.Score{Name: v.prefix + m.String(), Value: r.mean(m)})
		}
	}
	return scores, nil
}

// metrics returns what the paper reports, at the configured cutoffs.
func (x *Experiment) metrics() []metrics.Metric {
	return metrics.Grid([]metrics.Kind{metrics.HR, metrics.NDCG}, x.eval.K)
}
