package exposure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/stats"
	"privrec/internal/train"
)

// How much a forecast measures: it is asked for by somebody who waits.
const (
	forecastTime  = 3 * time.Second
	forecastPairs = 256
)

// forecast trains a few steps of the setting on its own pairs, takes the loss of some
// validation pairs, ranks some test pairs, and multiplies. Slates are as they were:
// protecting them is quick.
func forecast(ctx context.Context, seed rng.Seed, c Config, others []run.Task) (f run.Forecast, err error) {
	start := time.Now()
	set, err := c.loadPairs(ctx, others, seed)
	if err != nil {
		return f, err
	}
	x, err := prepare(&run.Env{Seed: seed}, c, set)
	if err != nil {
		return f, err
	}
	m, err := x.newModel()
	if err != nil {
		return f, err
	}
	defer giveBack(m)
	loading := time.Since(start).Seconds()
	seconds, err := timeSteps(ctx, objective{m.On(x.train)}, c.Train.Optimizer(), c.Train.Rate, firstRows(x.train.Len()), c.Train.Batch)
	if err != nil {
		return f, err
	}
	perValid, err := perPair(x.valid.Len(), func(rows []int32) error {
		_, err := m.ValidationLoss(ctx, x.valid.Select(rows), c.Train.Batch)
		return err
	})
	if err != nil {
		return f, err
	}
	perTest, err := perPair(x.test.Len(), func(rows []int32) error {
		return m.Rank(ctx, x.test, rows, slices.Max(c.Eval.K), nil, func(int32, [][]int32) error { return nil })
	})
	if err != nil {
		return f, err
	}
	perEpoch := (x.train.Len() + c.Train.Batch - 1) / c.Train.Batch
	steps := c.Train.Epochs * perEpoch
	validated := c.Train.Epochs * x.valid.Len()
	ranked := x.test.Len() * len(c.Eval.Vocabulary)
	rest := loading + float64(validated)*perValid + float64(ranked)*perTest
	step := stats.Mean(seconds)
	return run.Forecast{
		Steps: steps, StepSeconds: step, Seconds: rest + float64(steps)*step, Fastest: rest + float64(steps)*slices.Min(seconds),
		Basis: fmt.Sprintf("%d training steps on the run's own pairs (mean %.1f ms) for %d epochs of %d, the loss of %d validation pairs an epoch (%.3f ms each) and %d test pairs ranked (%.3f ms each); every epoch counted, none saved by stopping early",
			len(seconds), 1000*step, c.Train.Epochs, perEpoch, x.valid.Len(), 1000*perValid, ranked, 1000*perTest),
	}, nil
}

// perPair is the time in seconds that work takes for one of n pairs, measured on some.
func perPair(n int, work func(rows []int32) error) (float64, error) {
	if n == 0 {
		return 0, nil
	}
	rows := firstRows(min(n, forecastPairs))
	start := time.Now()
	err := work(rows)
	return time.Since(start).Seconds() / float64(len(rows)), err
}

// firstRows are the rows 0 to n-1.
func firstRows(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

// timeSteps times training steps on rows as they come, from the first again after the last.
func timeSteps(ctx context.Context, m train.Model, o train.Optimizer, rate float64, rows []int32, batch int) ([]float64, error) {
	samples := make([]int32, min(batch, len(rows)))
	return run.TimeSteps(ctx, m, run.Rehearsal{
		Optimizer: o, Rate: rate, Warm: 1, Fewest: 1, Steps: 20, Most: forecastTime,
		Batch: func(i int) train.Batch {
			for k := range samples {
				samples[k] = rows[(i*len(samples)+k)%len(rows)]
			}
			return train.Batch{Step: i, Samples: samples}
		},
	})
}
