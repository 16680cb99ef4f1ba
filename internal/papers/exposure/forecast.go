package exposure

import (
	"context"
	"fmt"
	"slices"
	"time"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/stats"
)

// How much a forecast measures: it is asked for by somebody who waits.
const (
	forecastWarm  = 1 // steps made before those that are measured
	forecastSteps = 20
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
	seconds, err := x.timeSteps(ctx, m)
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
	rows := make([]int32, min(n, forecastPairs))
	for i := range rows {
		rows[i] = int32(i)
	}
	start := time.Now()
	err := work(rows)
	return time.Since(start).Seconds() / float64(len(rows)), err
}

// timeSteps are the times of training steps in seconds, after some that warm up.
func (x *experiment) timeSteps(ctx context.Context, m *attack.Model) (seconds []float64, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *autograd.Error:
			err = r
		default:
			panic(r)
		}
	}()
	tape, optimizer, on := autograd.NewTape(), x.cfg.Train.Optimizer(), m.On(x.train)
	n, batch := x.train.Len(), min(x.cfg.Train.Batch, x.train.Len())
	rows := make([]int32, batch)
	for began, i := time.Now(), 0; i < forecastWarm+1 || i < forecastSteps && time.Since(began) < forecastTime; i++ {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", run.ErrInterrupted, context.Cause(ctx))
		}
		for k := range rows {
			rows[k] = int32((i*batch + k) % n)
		}
		start := time.Now()
		tape.Reset()
		loss, err := on.Loss(tape, i, rows)
		if err != nil {
			return nil, err
		}
		tape.Backward(loss)
		if err := optimizer.Step(m.Params(), tape.Grads(), x.cfg.Train.Rate); err != nil {
			return nil, err
		}
		if i >= forecastWarm {
			seconds = append(seconds, time.Since(start).Seconds())
		}
	}
	return seconds, nil
}
