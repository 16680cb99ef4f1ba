package rdpgcf

import (
	"context"
	"fmt"
	"slices"
	"time"

	"privrec/internal/dataset/registry"
	"privrec/internal/metrics"
	"privrec/internal/optim"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/stats"
	"privrec/internal/train"
)

// effort is how much a forecast measures: it is asked for by somebody who waits.
const (
	forecastSteps = 20
	forecastTime  = 3 * time.Second
	forecastUsers = 512 // ranked
)

// forecast trains a few steps of RDP-GCF on the run's own rows. Its noise is drawn
// and recorded in a ledger that nobody keeps.
func forecast(ctx context.Context, seed rng.Seed, c Config) (run.Forecast, error) {
	if c.Privacy.Method == MethodRepaired {
		return forecastRepaired(ctx, seed, c)
	}
	return rehearse(ctx, seed, c, func(x *experiment) (model, error) {
		n, err := rehearsedNoise(x, c)
		if err != nil {
			return nil, err
		}
		return c.build(x, n)
	})
}

// rehearsed is an experiment that writes nothing.
func rehearsed(ctx context.Context, seed rng.Seed, s setting) (*experiment, error) {
	cfg := s.common()
	d, err := registry.LoadInteractions(ctx, cfg.data.Name, cfg.data.Recipe, registry.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	return prepare(&run.Env{Seed: seed}, "forecast", s, d)
}

func forecastBaseline[M shape](ctx context.Context, seed rng.Seed, s Setting[M]) (run.Forecast, error) {
	return rehearse(ctx, seed, s, s.Model.build)
}

// rehearse trains a few steps of the real model on the real rows, ranks some users,
// and multiplies.
func rehearse(ctx context.Context, seed rng.Seed, s setting, build func(*experiment) (model, error)) (f run.Forecast, err error) {
	start := time.Now()
	cfg := s.common()
	x, err := rehearsed(ctx, seed, s)
	if err != nil {
		return f, err
	}
	if x.model, err = build(x); err != nil {
		return f, err
	}
	loading := time.Since(start).Seconds()
	seconds, err := x.timeSteps(ctx)
	if err != nil {
		return f, err
	}
	release, user, err := x.timeRanking(ctx)
	if err != nil {
		return f, err
	}
	t := cfg.train
	perEpoch := (x.graph.Edges() + t.Batch - 1) / t.Batch
	steps, releases, users := t.Epochs*perEpoch, len(cfg.releases), len(cfg.releases)*len(x.test.users)
	if x.valid != nil {
		releases, users = releases+t.Epochs, users+t.Epochs*len(x.valid.users)
	}
	if cfg.eval.Every {
		releases, users = releases+t.Epochs, users+t.Epochs*len(x.test.users)
	}
	step, least := stats.Mean(seconds), slices.Min(seconds)
	rest := loading + float64(releases)*release + float64(users)*user
	return run.Forecast{
		Steps: steps, StepSeconds: step, Seconds: rest + float64(steps)*step, Fastest: rest + float64(steps)*least,
		Basis: fmt.Sprintf("%d training steps on the run's own rows (mean %.1f ms, fastest %.1f ms) for %d epochs of %d, and %d users ranked (%.3f ms each) for %d; every epoch counted, none saved by stopping early",
			len(seconds), 1000*step, 1000*least, t.Epochs, perEpoch, min(forecastUsers, len(x.test.users)), 1000*user, users),
	}, nil
}

// timeSteps times training steps on edges drawn at random.
func (x *experiment) timeSteps(ctx context.Context) ([]float64, error) {
	samples, draw := make([]int32, min(x.cfg.train.Batch, x.graph.Edges())), x.env.Seed.Stream("forecast.order")
	return run.TimeSteps(ctx, x.objective(), run.Rehearsal{
		Optimizer: optim.NewAdam(x.cfg.train.Decay), Rate: x.cfg.train.Rate,
		Warm: 2, Fewest: 3, Steps: forecastSteps, Most: forecastTime,
		Batch: func(i int) train.Batch {
			for k := range samples {
				samples[k] = int32(draw.IntN(x.graph.Edges()))
			}
			return train.Batch{Step: i, Samples: samples}
		},
	})
}

// timeRanking is the time of a release, and of ranking one user, in seconds.
func (x *experiment) timeRanking(ctx context.Context) (release, user float64, err error) {
	start := time.Now()
	users, items, err := x.model.Release(x.cfg.releases[0], 0)
	if err != nil {
		return 0, 0, err
	}
	release = time.Since(start).Seconds()
	some := *x.test
	some.users = some.users[:min(forecastUsers, len(some.users))]
	some.find = some.find[:len(some.users)]
	start = time.Now()
	_, err = x.rank(ctx, inner(users, items), &some, depth([]metrics.Metric{primary}))
	return release, time.Since(start).Seconds() / float64(len(some.users)), err
}
