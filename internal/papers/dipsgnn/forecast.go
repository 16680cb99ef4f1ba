package dipsgnn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"privrec/internal/dataset/registry"
	"privrec/internal/eval"
	"privrec/internal/model/apgnn"
	"privrec/internal/model/srgnn"
	"privrec/internal/nn"
	"privrec/internal/optim"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/stats"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// effort is how much a forecast measures: it is asked for by somebody who waits.
type effort struct {
	steps   int           // of training, at most
	time    time.Duration // of these steps, about
	least   time.Duration // go on for so long all the same, to see what else the machine does
	samples int           // ranked
}

// forecastEffort is that for a run's own samples.
var forecastEffort = effort{steps: 40, time: 1500 * time.Millisecond, least: 500 * time.Millisecond, samples: 1000}

// forecast trains a few steps of the real model on the real samples, ranks some,
// and multiplies. Its noise is drawn and recorded in a ledger that nobody keeps.
func forecast[C setting](ctx context.Context, seed rng.Seed, c C) (run.Forecast, error) {
	start := time.Now()
	cfg := c.shared()
	d, err := registry.Load(ctx, cfg.data.Name, cfg.data.Recipe, registry.Options{Seed: seed})
	if err != nil {
		return run.Forecast{}, err
	}
	x, err := cut(&run.Env{Seed: seed}, "forecast", c, d)
	if err != nil {
		return run.Forecast{}, err
	}
	if err := x.rehearse(any(c)); err != nil {
		return run.Forecast{}, err
	}
	loading := time.Since(start)
	q := x.train
	if x.refit != nil {
		q = x.refit
	}
	seconds, err := x.timeSteps(ctx, q, forecastEffort)
	if err != nil {
		return run.Forecast{}, err
	}
	sample, ranked, err := x.timeRanking(ctx, forecastEffort)
	if err != nil {
		return run.Forecast{}, err
	}
	steps, ranks, text := x.work()
	step, least := stats.Mean(seconds), slices.Min(seconds)
	rest := loading.Seconds() + float64(ranks)*sample
	return run.Forecast{
		Steps: steps, StepSeconds: step,
		Seconds: rest + float64(steps)*step, Fastest: rest + float64(steps)*least,
		Basis: fmt.Sprintf("%d training steps on the run's own samples (mean %.1f ms, fastest %.1f ms) for %s, and %d samples ranked (%.3f ms each) for %d; every epoch counted, none saved by stopping early",
			len(seconds), 1000*step, 1000*least, text, ranked, 1000*sample, ranks),
	}, nil
}

// rehearse builds the network with noise as in training, but with features in
// the clear, which costs the same.
func (x *experiment) rehearse(c any) error {
	features := tensor.Matrix{}
	if x.cfg.userInput == UserFeatures {
		var err error
		if features, err = clearFeatures(x.data.Features); err != nil {
			return err
		}
	}
	if c, ok := c.(Config); ok {
		x.modes = c.Eval.Noise
		if err := x.rehearseNoise(c); err != nil {
			return err
		}
	}
	if width := userWidth(c); width > 0 {
		x.user = newUserInput(features, x.data.Users, width, x.init())
	}
	switch c := c.(type) {
	case Config:
		x.net = noisy{NewNetwork(x.items, c.Model, x.init())}
	case SRGNNConfig:
		x.net = plain{srgnn.New(x.items, c.Model.Dim, c.Model.Steps, x.init())}
	case APGNNConfig:
		x.net = personal{apgnn.New(x.items, c.Model.Dim, c.Model.UserDim, c.Model.Steps, x.init())}
	case interface{ network(int, nn.Init) network }:
		x.net = c.network(x.items, x.init())
	default:
		return fmt.Errorf("forecast: unknown configuration %T", c)
	}
	return nil
}

// userWidth is d', 0 for a network without user vectors.
func userWidth(c any) int {
	switch c := c.(type) {
	case Config:
		return c.Model.UserDim
	case APGNNConfig:
		return c.Model.UserDim
	}
	return 0
}

// rehearseNoise opens the run's noise over a ledger in memory.
func (x *experiment) rehearseNoise(c Config) error {
	_, std := c.deviations()
	if std == 0 || math.IsInf(c.Privacy.Transitions.Epsilon, 1) {
		return nil
	}
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return err
	}
	a := &aggregationNoise{period: func(int) error { return nil }}
	for dir := range a.to {
		g := channel.Gaussian{
			Purpose: fmt.Sprint("forecast ", dir), Sigma: std, Sensitivity: c.Model.Norm, Unit: privacy.Edge, Neighbouring: privacy.AddRemove,
		}
		if a.to[dir], err = channel.Open[tensor.Float](g, l, x.env.Seed.Stream(g.Purpose)); err != nil {
			return err
		}
	}
	x.noise = func(*part) (noise, error) { return a, nil }
	return nil
}

// timeSteps times training steps on a part's samples, in an order of its own.
func (x *experiment) timeSteps(ctx context.Context, q *part, e effort) (seconds []float64, err error) {
	r := x.on(q)
	if x.noise != nil {
		if r.noise, err = x.noise(q); err != nil {
			return nil, err
		}
	}
	batch, order := min(x.cfg.train.Batch, q.samples.Len()), q.all()
	shuffle := x.env.Seed.Stream("forecast.order")
	for i := range order {
		j := i + shuffle.IntN(len(order)-i)
		order[i], order[j] = order[j], order[i]
	}
	return run.TimeSteps(ctx, r, run.Rehearsal{
		Optimizer: optim.NewAdam(x.cfg.train.L2), Rate: x.cfg.train.Rate,
		Warm: 2, Fewest: 3, Steps: e.steps, Most: e.time, Least: e.least,
		Batch: func(i int) train.Batch {
			at := i * batch % (len(order) - batch + 1)
			return train.Batch{Epoch: i, Step: i, Samples: order[at : at+batch]}
		},
	})
}

// timeRanking is the time of ranking one sample, in seconds, and over how many it
// was taken.
func (x *experiment) timeRanking(ctx context.Context, e effort) (each float64, n int, err error) {
	n = min(e.samples, x.test.samples.Len())
	r := x.on(x.test)
	r.pass = 1 << 30 // after all passes of the steps
	if slices.Contains(x.modes, NoiseOn) && x.noise != nil {
		if r.noise, err = x.noise(x.test); err != nil {
			return 0, 0, err
		}
	}
	start := time.Now()
	if _, err := eval.Ranks(ctx, r, x.test.all()[:n], x.test.labels[:n], eval.Options{Tape: x.tape}); err != nil {
		return 0, 0, err
	}
	return time.Since(start).Seconds() / float64(n), n, nil
}

// work counts the run's steps and ranked samples when nothing stops early.
func (x *experiment) work() (steps, ranks int, text string) {
	t := x.cfg.train
	perEpoch := func(p *part) int { return (p.samples.Len() + t.Batch - 1) / t.Batch }
	first := t.Epochs * perEpoch(x.train)
	steps, text = first, fmt.Sprintf("%d epochs of %d steps", t.Epochs, perEpoch(x.train))
	if x.valid != nil {
		ranks += t.Epochs * x.valid.samples.Len()
	}
	if x.refit != nil {
		steps += t.Epochs * perEpoch(x.refit)
		text += fmt.Sprintf(" and %d of %d", t.Epochs, perEpoch(x.refit))
	}
	if x.cfg.every {
		ranks += t.Epochs * x.test.samples.Len()
	}
	return steps, ranks + len(x.modes)*x.test.samples.Len(), text
}
