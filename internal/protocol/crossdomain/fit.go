package crossdomain

import (
	"context"
	"fmt"
	"slices"
	"time"

	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/run"
	"privrec/internal/train"
)

// primary is the metric that chooses the epoch (section IV of the paper).
var primary = metrics.Metric{Kind: metrics.NDCG, K: 10}

// Names of the two families of scores of an epoch.
const (
	onValid = "valid "
	onTest  = "test "
)

// fit trains the model. With refit it trains a second time on all rows, for as many epochs as validation
// chose.
func (x *Experiment) fit(ctx context.Context) (*experiment.Fitted, error) {
	again := ""
	if x.Training.Refit {
		again = "all rows"
	}
	return experiment.Fit{Env: x.Env, Epochs: x.Training.Epochs, Again: again,
		Learn: func(ctx context.Context, t experiment.Training) (r *train.Result, err error) {
			x.close()
			rows := x.tuning
			if t.Again {
				rows = x.final
			}
			if x.model, err = x.New(rows); err != nil {
				return nil, err
			}
			return train.Run(ctx, x.model, x.options(x.model, rows, t))
		}}.Run(ctx)
}

// options returns the options of one training.
func (x *Experiment) options(m Model, rows *Rows, t experiment.Training) train.Options {
	c := x.Training
	o := train.Options{
		Samples: m.Steps(), BatchSize: 1, Seed: x.Env.Seed, Epochs: t.Epochs, Optimizer: m.Optimizer(), Rate: c.Rate,
		Hooks: x.Env.TrainHooks(), Store: t.Store, SaveEvery: x.Env.SaveEvery, SaveSteps: x.Env.SaveSteps,
		Tag: x.Env.ConfigHash,
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
func (x *Experiment) validate(ctx context.Context, m Model, rows *Rows, valid,
	test bool) (scores []train.Score, err error) {
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

// metrics returns the metrics that the paper reports, at the configured cutoffs.
func (x *Experiment) metrics() []metrics.Metric {
	return metrics.Grid([]metrics.Kind{metrics.HR, metrics.NDCG}, x.eval.K)
}

// Limits of a forecast's measurements, since a user waits for it.
const (
	forecastTime  = 3 * time.Second
	forecastUsers = 4 * rankUsers
)

// Forecast implements run.Forecaster: it trains a few steps on the run's own rows, ranks some users, and extrapolates.
func (x *Experiment) Forecast(ctx context.Context) (f run.Forecast, err error) {
	m, err := x.New(x.tuning)
	if err != nil {
		return f, err
	}
	defer closeModel(m)
	opening, adam := x.Env.Opening(), m.Optimizer()
	steps, err := run.TimeSteps(ctx, m, run.Rehearsal{
		Optimizer: adam, Rate: x.Training.Rate, BeforeRead: adam.Touch,
		Warm: 3, Fewest: 1, Steps: 40, Most: forecastTime,
		Batch: func(i int) train.Batch { return train.Batch{Step: i, Samples: []int32{m.Rehearsed(i)}} },
	})
	if err != nil {
		return f, err
	}
	some := *x.valid
	some.users = some.users[:min(forecastUsers, len(some.users))]
	start := time.Now()
	if _, _, err := x.on(m, x.tuning).sampled(ctx, &some); err != nil {
		return f, err
	}
	user := time.Since(start).Seconds() / float64(len(some.users))
	c, trainings := x.Training, 1
	if c.Refit {
		trainings = 2
	}
	ranked := c.Epochs*len(x.valid.users) + len(x.test.users)
	if x.eval.Every {
		ranked += c.Epochs * len(x.test.users)
	}
	return experiment.Rehearsed{
		Opening: opening, Steps: steps, Of: trainings * c.Epochs * m.Steps(), Ranking: float64(ranked) * user,
		Text: fmt.Sprintf("%d epochs of %d in %d trainings, and %d users ranked (%.3f ms each) for %d", c.Epochs,
			m.Steps(), trainings, len(some.users), 1000*user, ranked),
	}.Estimate(), nil
}
