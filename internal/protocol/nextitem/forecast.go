package nextitem

import (
	"context"
	"slices"
	"time"

	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/run"
)

// forecastSamples is the number of samples that a forecast ranks, since a user waits for it.
const forecastSamples = 1000

// Forecast implements run.Forecaster. It rehearses the model of the reported training.
func (x *Experiment) Forecast(ctx context.Context) (run.Forecast, error) {
	n := x.Test.Samples.Len()
	r := experiment.Rehearsal{
		As: experiment.Training{Again: x.Refit != nil},
		Samples: func(t experiment.Training) int {
			if t.Again {
				return x.Model.Count(x.Refit)
			}
			return x.Model.Count(x.Train)
		},
		Rows: "samples", Test: n, Final: len(x.Modes), Ranked: len(x.Modes) * n, Rank: x.timeRanking,
	}
	if x.Valid != nil {
		r.Held = x.Valid.Samples.Len()
	}
	return x.training().Forecast(ctx, r)
}

// timeRanking times the making of a scorer, and the ranking of some samples by it.
func (x *Experiment) timeRanking(ctx context.Context) (t experiment.Timed, err error) {
	t.Rows = min(forecastSamples, x.Test.Samples.Len())
	start := time.Now()
	s, err := x.Model.Scorer(x.Test, x.Fit.Passes().Rehearsal(), slices.Contains(x.Modes, NoiseOn))
	if err != nil {
		return t, err
	}
	t.Once = time.Since(start).Seconds()
	start = time.Now()
	_, err = eval.Ranks(ctx, s, x.Test.All()[:t.Rows], x.Test.Labels[:t.Rows], x.candidates(x.Test))
	t.Each = time.Since(start).Seconds() / float64(t.Rows)
	return t, run.Interrupted(ctx, err)
}
