package topn

import (
	"context"
	"fmt"
	"time"

	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/run"
	"privrec/internal/train"
)

// Limits of a forecast's measurements, since a user waits for it.
const (
	ForecastSteps = 20
	forecastTime  = 3 * time.Second
	forecastUsers = 512 // ranked
)

// Forecast implements run.Forecaster. It trains a few steps of the model on the run's own rows, ranks some users, and
// extrapolates.
func (x *Experiment) Forecast(ctx context.Context) (f run.Forecast, err error) {
	opening := x.Env.Opening()
	if x.Model == nil { // what is made at once takes as long as it takes
		return f, run.ErrNoForecast
	}
	seconds, err := x.timeSteps(ctx)
	if err != nil {
		return f, err
	}
	kinds := x.Method.releases()
	start := time.Now()
	v, err := x.release(kinds[0], callOnValid(0))
	if err != nil {
		return f, err
	}
	s, err := x.scorer(v)
	if err != nil {
		return f, err
	}
	release := time.Since(start).Seconds()
	user, timed, err := x.TimeUser(ctx, s)
	if err != nil {
		return f, err
	}
	t := x.Method.Train
	perEpoch := (x.learned.Edges() + t.Batch - 1) / t.Batch
	releases, ranked := len(kinds), len(kinds)*len(x.test.users)
	if x.Method.Eval.Candidates > 0 { // each user is ranked once more
		ranked += len(kinds) * len(x.test.users)
	}
	if x.valid != nil {
		releases, ranked = releases+t.Epochs, ranked+t.Epochs*len(x.valid.users)
	}
	if x.Method.Eval.Every {
		releases, ranked = releases+t.Epochs, ranked+t.Epochs*len(x.test.users)
	}
	return experiment.Rehearsed{
		Opening: opening, Steps: seconds, Of: t.Epochs * perEpoch,
		Ranking: float64(releases)*release + float64(ranked)*user,
		Text: fmt.Sprintf("%d epochs of %d, and %d users ranked (%.3f ms each) for %d", t.Epochs, perEpoch, timed,
			1000*user, ranked),
	}.Estimate(), nil
}

// timeSteps times training steps on edges drawn at random. It returns the seconds of each.
func (x *Experiment) timeSteps(ctx context.Context) ([]float64, error) {
	t, edges := x.Method.Train, x.learned.Edges()
	samples, draw := make([]int32, min(t.Batch, edges)), x.Env.Seed.Stream("forecast.order")
	return run.TimeSteps(ctx, onTriples{x.Model, x.sampler}, run.Rehearsal{
		Optimizer: t.optimizer(), Rate: t.Rate,
		Warm: 2, Fewest: 3, Steps: ForecastSteps, Most: forecastTime,
		Batch: func(i int) train.Batch {
			for k := range samples {
				samples[k] = int32(draw.IntN(edges))
			}
			return train.Batch{Step: i, Samples: samples}
		},
	})
}

// TestUsers returns the number of users whose rankings are measured.
func (x *Experiment) TestUsers() int { return len(x.test.users) }

// TimeUser returns the seconds to rank one user, and the number of users it was measured over.
func (x *Experiment) TimeUser(ctx context.Context, s eval.Scorer) (seconds float64, users int, err error) {
	some := x.test.first(forecastUsers)
	start := time.Now()
	_, err = x.rank(ctx, s, some, depth([]metrics.Metric{Primary}))
	return time.Since(start).Seconds() / float64(len(some.users)), len(some.users), err
}
