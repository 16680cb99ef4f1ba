package topn

import (
	"context"
	"time"

	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Limits of a forecast's measurements, since a user waits for it.
const (
	ForecastSteps = 20
	forecastUsers = 512 // ranked
)

// Forecast implements run.Forecaster. What is made at once takes as long as it takes.
func (x *Experiment) Forecast(ctx context.Context) (f run.Forecast, err error) {
	if x.Model == nil {
		return f, run.ErrNoForecast
	}
	kinds, n := len(x.Method.releases()), len(x.test.users)
	r := experiment.Rehearsal{Rows: "users", Test: n, Final: kinds, Ranked: kinds * n, Rank: x.timeRelease}
	if x.Method.Eval.Candidates > 0 { // each user is ranked once more
		r.Ranked *= 2
	}
	if x.valid != nil {
		r.Held = len(x.valid.users)
	}
	return x.training().Forecast(ctx, r)
}

// timeRelease times the release of the model at hand, and the ranking of some users by it.
func (x *Experiment) timeRelease(ctx context.Context) (t experiment.Timed, err error) {
	start := time.Now()
	v, err := x.release(x.Method.releases()[0], callOnValid(0))
	if err != nil {
		return t, err
	}
	s, err := x.scorer(v)
	if err != nil {
		return t, err
	}
	once := time.Since(start).Seconds()
	t, err = x.timeUsers(ctx, s)
	t.Once = once
	return t, err
}

// Estimate returns the forecast of a run whose steps the method timed itself, and which ranks the test users once, by
// inner products of vectors. r has the steps, and in Text what they are.
func (x *Experiment) Estimate(ctx context.Context, r experiment.Rehearsed,
	users, items tensor.Matrix) (run.Forecast, error) {
	t, err := x.timeUsers(ctx, inner(users, items))
	return r.Ranks(t, "users", len(x.test.users)).Estimate(), err
}

// timeUsers times the ranking of some users.
func (x *Experiment) timeUsers(ctx context.Context, s eval.Scorer) (t experiment.Timed, err error) {
	some := x.test.first(forecastUsers)
	start := time.Now()
	_, err = x.rank(ctx, s, some, depth([]metrics.Metric{Primary}))
	return experiment.Timed{Each: time.Since(start).Seconds() / float64(len(some.users)), Rows: len(some.users)}, err
}
