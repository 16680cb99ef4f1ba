package exposure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"privrec/internal/optim"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/stats"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// sasrecSome is how many test items a forecast ranks, to know what one takes.
const sasrecSome = 512

// forecastSASRec trains a few steps of the real model on the real sequences, ranks some
// test items, and multiplies.
func forecastSASRec(ctx context.Context, seed rng.Seed, c SASRecConfig) (r run.Forecast, err error) {
	start := time.Now()
	s, _, err := c.Data.load(ctx, seed)
	if err != nil {
		return r, err
	}
	f, err := newSASRecFit(c, s, seed)
	if err != nil {
		return r, err
	}
	defer tensor.Free(f.model.Item.Value)
	loading := time.Since(start).Seconds()
	users := f.learnable()
	if len(users) == 0 {
		return r, train.ErrNoSamples
	}
	adam := optim.NewAdam(0)
	adam.Beta2 = c.Train.Beta2
	seconds, err := timeSteps(ctx, f, adam, c.Train.Rate, users, c.Train.Batch)
	if err != nil {
		return r, err
	}
	valid, test := sasrecHeldOut(s, false), sasrecHeldOut(s, true)
	each, err := f.timeRanking(ctx, test)
	if err != nil {
		return r, err
	}
	perEpoch := (len(users) + c.Train.Batch - 1) / c.Train.Batch
	ranked := c.Train.Epochs*len(valid.users) + len(test.users)
	step, rest := stats.Mean(seconds), loading+float64(ranked)*each
	steps := c.Train.Epochs * perEpoch
	return run.Forecast{
		Steps: steps, StepSeconds: step, Seconds: rest + float64(steps)*step, Fastest: rest + float64(steps)*slices.Min(seconds),
		Basis: fmt.Sprintf("%d training steps on the run's own sequences (mean %.1f ms) for %d epochs of %d, and %d items ranked (%.3f ms each) for %d; every epoch counted, none saved by stopping early",
			len(seconds), 1000*step, c.Train.Epochs, perEpoch, min(sasrecSome, len(test.users)), 1000*each, ranked),
	}, nil
}

// timeRanking is the time of ranking one item in seconds.
func (f *sasrecFit) timeRanking(ctx context.Context, p sasrecPart) (float64, error) {
	n := min(sasrecSome, len(p.users))
	if n == 0 {
		return 0, nil
	}
	p.users, p.contexts, p.targets, p.unknown = p.users[:n], p.contexts[:n], p.targets[:n], 0
	start := time.Now()
	_, err := f.ranking(p).ranks(ctx)
	return time.Since(start).Seconds() / float64(n), err
}
