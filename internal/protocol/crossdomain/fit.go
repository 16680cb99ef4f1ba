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

// fit trains the model. With refit it trains a second time on all rows, for as many epochs as validation chose.
func (x *Experiment) fit(ctx context.Context) (*experiment.Fitted, error) {
	c := x.Training
	f := experiment.Fit{Core: &x.Core, Epochs: c.Epochs, Held: true, Every: x.eval.Every, Select: c.Select,
		Primary: primary, Patience: c.Patience, Watched: []metrics.Metric{primary}, Begin: x.begin, Rank: x.scoreEpoch}
	if c.Refit {
		f.Again = "all rows"
	}
	return f.Run(ctx)
}

// learned returns the rows of a training.
func (x *Experiment) learned(t experiment.Training) *Rows {
	if t.Again {
		return x.final
	}
	return x.tuning
}

// begin makes a new model, and returns it with its steps.
func (x *Experiment) begin(t experiment.Training) (_ train.Model, o train.Options, err error) {
	x.close()
	if x.model, err = x.New(x.learned(t)); err != nil {
		return nil, o, err
	}
	return x.model, train.Options{Samples: x.model.Steps(), BatchSize: 1, Optimizer: x.model.Optimizer(),
		Rate: x.Training.Rate}, nil
}

// scoreEpoch ranks the validation or the test rows among their lists.
func (x *Experiment) scoreEpoch(ctx context.Context, t experiment.Training, _ int,
	test bool) (values []metrics.Value, err error) {
	h := x.valid
	if test {
		h = x.test
	}
	r, _, err := x.on(x.model, x.learned(t)).sampled(ctx, h)
	if err != nil {
		return nil, err
	}
	ms := x.metrics()
	if !slices.Contains(ms, primary) {
		ms = append(ms, primary)
	}
	for _, m := range ms {
		values = append(values, metrics.Value{Metric: m, Value: r.mean(m), Count: len(r)})
	}
	return values, nil
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
