package exposure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"privrec/internal/experiment"
	"privrec/internal/run"
	"privrec/internal/train"
)

// How much a forecast measures: users wait for it.
const (
	forecastTime  = 3 * time.Second
	forecastPairs = 256
)

// Forecast implements run.Forecaster: it trains a few steps on the run's own pairs, takes
// the loss of some validation pairs, ranks some test pairs, and multiplies. Slates are as
// they were: protecting them is quick.
func (x *attackRun) Forecast(ctx context.Context) (f run.Forecast, err error) {
	c := x.cfg
	m, err := x.newModel()
	if err != nil {
		return f, err
	}
	defer giveBack(m)
	opening := x.Env.Opening()
	seconds, err := timeSteps(ctx, objective{m.On(x.Train)}, c.Train.Optimizer(), c.Train.Rate, firstRows(x.Train.Len()), c.Train.Batch)
	if err != nil {
		return f, err
	}
	perValid, err := perPair(x.Valid.Len(), func(rows []int32) error {
		_, err := m.ValidationLoss(ctx, x.Valid.Select(rows), c.Train.Batch)
		return err
	})
	if err != nil {
		return f, err
	}
	perTest, err := perPair(x.Test.Len(), func(rows []int32) error {
		return m.Rank(ctx, x.Test, rows, slices.Max(c.Eval.K), nil, func(int32, [][]int32) error { return nil })
	})
	if err != nil {
		return f, err
	}
	perEpoch := (x.Train.Len() + c.Train.Batch - 1) / c.Train.Batch
	steps := c.Train.Epochs * perEpoch
	validated := c.Train.Epochs * x.Valid.Len()
	ranked := x.Test.Len() * len(c.Eval.Vocabulary)
	return experiment.Rehearsed{
		Opening: opening, Steps: seconds, Of: steps, Ranking: float64(validated)*perValid + float64(ranked)*perTest,
		Text: fmt.Sprintf("%d epochs of %d, the loss of %d validation pairs an epoch (%.3f ms each) and %d test pairs ranked (%.3f ms each)",
			c.Train.Epochs, perEpoch, x.Valid.Len(), 1000*perValid, ranked, 1000*perTest),
	}.Estimate(), nil
}

// perPair returns the time in seconds that work takes for one of n pairs, measured on some.
func perPair(n int, work func(rows []int32) error) (float64, error) {
	if n == 0 {
		return 0, nil
	}
	rows := firstRows(min(n, forecastPairs))
	start := time.Now()
	err := work(rows)
	return time.Since(start).Seconds() / float64(len(rows)), err
}

// firstRows returns the rows 0 to n-1.
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
