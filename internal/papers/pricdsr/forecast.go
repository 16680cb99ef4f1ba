package pricdsr

import (
	"context"
	"fmt"
	"slices"
	"time"

	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/stats"
	"privrec/internal/train"
)

// effort is how much a forecast measures: it is asked for by somebody who waits.
const (
	forecastTime  = 3 * time.Second
	forecastUsers = 4 * rankUsers
)

// forecast trains a few steps of the setting on the run's own rows and ranks some users,
// and multiplies. Noise is drawn and recorded in a ledger that nobody keeps.
func forecast(ctx context.Context, seed rng.Seed, c Config) (f run.Forecast, err error) {
	start := time.Now()
	d, err := c.loadCross(ctx, seed)
	if err != nil {
		return f, err
	}
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return f, err
	}
	x, err := prepare(&run.Env{Seed: seed}, c, d, l)
	if err != nil {
		return f, err
	}
	t, err := newTrainer(x.newModel(), x.tuning, c, seed)
	if err != nil {
		return f, err
	}
	defer giveBack(t)
	loading := time.Since(start).Seconds()
	seconds, err := t.timeSteps(ctx)
	if err != nil {
		return f, err
	}
	some := *x.valid
	some.users = some.users[:min(forecastUsers, len(some.users))]
	start = time.Now()
	if _, _, err := t.sampled(ctx, x.tape, &some); err != nil {
		return f, err
	}
	user := time.Since(start).Seconds() / float64(len(some.users))
	trainings := 1
	if c.Train.Refit {
		trainings = 2
	}
	steps := trainings * c.Train.Epochs * t.steps()
	ranked := c.Train.Epochs * len(x.valid.users)
	if c.Eval.Every {
		ranked += c.Train.Epochs * len(x.test.users)
	}
	ranked += len(x.test.users)
	step, rest := stats.Mean(seconds), loading+float64(ranked)*user
	return run.Forecast{
		Steps: steps, StepSeconds: step, Seconds: rest + float64(steps)*step, Fastest: rest + float64(steps)*slices.Min(seconds),
		Basis: fmt.Sprintf("%d training steps on the run's own rows (mean %.1f ms) for %d epochs of %d in %d trainings, and %d users ranked (%.3f ms each) for %d; every epoch counted, none saved by stopping early",
			len(seconds), 1000*step, c.Train.Epochs, t.steps(), trainings, len(some.users), 1000*user, ranked),
	}, nil
}

// timeSteps times training steps of both domains in turn.
func (t *trainer) timeSteps(ctx context.Context) ([]float64, error) {
	adam := newTwin(t)
	return run.TimeSteps(ctx, t, run.Rehearsal{
		Optimizer: adam, Rate: t.cfg.Train.Rate, BeforeRead: adam.Touch,
		Warm: 3, Fewest: 1, Steps: 40, Most: forecastTime,
		Batch: func(i int) train.Batch {
			at := i / 2 % t.batches(0)
			if i%2 == 1 && t.domains == 2 {
				at = t.batches(0) + i/2%t.batches(1)
			}
			return train.Batch{Step: i, Samples: []int32{int32(at)}}
		},
	})
}
