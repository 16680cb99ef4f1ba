package crossdomain

import (
	"context"
	"slices"
	"time"

	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/run"
	"privrec/internal/train"
)

// primary is the metric that chooses the epoch (section IV of the paper).
var primary = metrics.Metric{Kind: metrics.NDCG, K: 10}

// training says how the model is trained. With refit it is trained a second time on all rows, for as many epochs as
// validation chose.
func (x *Experiment) training() experiment.Fit {
	c := x.Training
	f := experiment.Fit{Core: &x.Core, Epochs: c.Epochs, Held: true, Every: x.eval.Every, Select: c.Select,
		Primary: primary, Patience: c.Patience, Watched: []metrics.Metric{primary}, Begin: x.begin, Rank: x.scoreEpoch}
	if c.Refit {
		f.Again = "all rows"
	}
	return f
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
	if err := x.Make(x.learned(t)); err != nil {
		return nil, o, err
	}
	return x.Model, train.Options{Samples: x.Model.Steps(), BatchSize: 1, Optimizer: x.Model.Optimizer(),
		Rate: x.Training.Rate}, nil
}

// scoreEpoch ranks the validation or the test rows among their lists.
func (x *Experiment) scoreEpoch(ctx context.Context, t experiment.Training, _ int,
	test bool) (values []metrics.Value, err error) {
	h := x.valid
	if test {
		h = x.test
	}
	r, _, err := x.on(x.Model, x.learned(t)).sampled(ctx, h)
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

// forecastUsers is the number of users that a forecast ranks, since a user waits for it.
const forecastUsers = 4 * rankUsers

// Forecast implements run.Forecaster. It rehearses the first training.
func (x *Experiment) Forecast(ctx context.Context) (run.Forecast, error) {
	return x.training().Forecast(ctx, experiment.Rehearsal{
		Batch: func(i int) []int32 { return []int32{x.Model.Rehearsed(i)} },
		Rows:  "users", Held: len(x.valid.users), Test: len(x.test.users), Final: 1, Ranked: len(x.test.users),
		Rank: func(ctx context.Context) (t experiment.Timed, err error) {
			some := *x.valid
			some.users = some.users[:min(forecastUsers, len(some.users))]
			t.Rows = len(some.users)
			start := time.Now()
			_, _, err = x.on(x.Model, x.tuning).sampled(ctx, &some)
			t.Each = time.Since(start).Seconds() / float64(t.Rows)
			return t, err
		},
	})
}
