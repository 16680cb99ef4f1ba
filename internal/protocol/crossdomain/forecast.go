package crossdomain

import (
	"context"
	"fmt"
	"time"

	"privrec/internal/experiment"
	"privrec/internal/run"
	"privrec/internal/train"
)

// How much a forecast measures: users wait for it.
const (
	forecastTime  = 3 * time.Second
	forecastUsers = 4 * rankUsers
)

// Forecast implements run.Forecaster: it trains a few steps on the run's own rows, ranks
// some users, and multiplies.
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
		Text: fmt.Sprintf("%d epochs of %d in %d trainings, and %d users ranked (%.3f ms each) for %d", c.Epochs, m.Steps(), trainings, len(some.users), 1000*user, ranked),
	}.Estimate(), nil
}
