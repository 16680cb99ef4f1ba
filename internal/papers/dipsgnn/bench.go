package dipsgnn

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/bench"
	"privrec/internal/dataset"
	"privrec/internal/model/userinput"
	"privrec/internal/nn"
	"privrec/internal/optim"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/rng"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// stepBench holds a training step of the real model on random sessions. It packs graphs, draws and records noise, and
// computes loss, gradients and Adam.
type stepBench struct {
	model  train.Model
	tape   *autograd.Tape
	adam   *optim.Adam
	params []*autograd.Param
	steps  int
}

// benchBatch is the paper's batch. The benchBatches batches differ, so that no step finds the last one's rows in the
// cache.
const (
	benchBatch    = 100
	benchBatches  = 8
	benchFeatures = 30 // as ML-1M has: gender 2, age 7, occupation 21
)

// newStepBench draws 8 batches of 100 sessions over a catalogue. length draws the number of items of a session before
// its label. A quarter of the positions repeat the first item.
func newStepBench(items int, length func(*rng.Stream) int) (*stepBench, error) {
	const seed = rng.Seed(1)
	c := Default()
	init := nn.Uniform(seed, 1/math.Sqrt(float64(c.Model.Dim)))
	draw := seed.Stream("bench.sessions")
	users := benchBatch * benchBatches
	sequences := make([][]int32, users)
	samples := dataset.Samples{}
	features := tensor.New(users, benchFeatures)
	for u := range sequences {
		l := length(&draw)
		seq := make([]int32, l+1)
		for p := range seq {
			seq[p] = int32(1 + draw.IntN(items))
		}
		for range l / 4 {
			seq[draw.IntN(l)] = seq[0]
		}
		sequences[u] = seq
		samples.User, samples.Length = append(samples.User, int32(u)), append(samples.Length, int32(l))
		for _, at := range []int{draw.IntN(2), 2 + draw.IntN(7), 9 + draw.IntN(21)} {
			tensor.Row(features, u)[at] = 1
		}
	}
	p := nextitem.NewPart("train", sequences, samples, items)
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return nil, err
	}
	added := &aggregationNoise{period: func(nextitem.Pass) error { return nil }}
	_, std := c.deviations()
	for dir := range added.to {
		g := channel.Gaussian{
			Purpose: fmt.Sprint("bench ", dir), Sigma: std, Sensitivity: c.Model.Norm,
			Unit: privacy.Edge, Neighbouring: privacy.AddRemove,
		}
		if added.to[dir], err = channel.Open[tensor.Float](g, l, seed.Stream(g.Purpose)); err != nil {
			return nil, err
		}
	}
	learner := &nextitem.Sessions{
		Net: &noisy{Network: NewNetwork(items, c.Model, init), user: userinput.New(features, users,
			c.Model.UserDim, init),
			noise: func(*nextitem.Part) (noise, error) { return added, nil }},
		Part: p, Batch: benchBatch,
	}
	lessons, err := learner.Lessons(0)
	if err != nil {
		return nil, err
	}
	b := &stepBench{model: lessons.Model, tape: autograd.NewTape(), adam: optim.NewAdam(c.Train.L2)}
	b.params = b.model.Params()
	return b, nil
}

// step makes one training step.
func (b *stepBench) step() error {
	var samples [benchBatch]int32
	first := b.steps % benchBatches * benchBatch
	for i := range samples {
		samples[i] = int32(first + i)
	}
	b.tape.Reset()
	loss, err := b.model.Loss(b.tape, train.Batch{Epoch: b.steps, Step: b.steps, Samples: samples[:]})
	if err != nil {
		return err
	}
	b.tape.Backward(loss)
	b.steps++
	return b.adam.Step(b.params, b.tape.Grads(), Default().Train.Rate)
}

// Bench measures a training step of 100 sessions with the catalogues of ML-1M and Tmall. The
// first two results have lengths min(50, 2 + geometric(0.2)), as the PyTorch program that they
// are compared with draws them. The third has sessions as long as ML-1M's prefixes.
func Bench(ctx context.Context, o bench.Options) ([]bench.Result, error) {
	short := func(s *rng.Stream) int {
		return min(50, 3+int(math.Floor(math.Log(1-s.Float64())/math.Log(0.8))))
	}
	long := func(s *rng.Stream) int { return 1 + s.IntN(63) }
	var cases []bench.Case
	for _, c := range []struct {
		items  int
		length func(*rng.Stream) int
		name   string
		shape  string
	}{
		{2810, short, "dipsgnn_step", "batch=100 items=2810"},
		{98226, short, "dipsgnn_step_large", "batch=100 items=98226"},
		{2810, long, "dipsgnn_step_long", "batch=100 items=2810 mean length=32"},
	} {
		cases = append(cases, bench.Case{Name: c.name, Shape: c.shape, Prepare: func() (func() error, error) {
			b, err := newStepBench(c.items, c.length)
			if err != nil {
				return nil, err
			}
			return b.step, nil
		}})
	}
	return bench.Run(ctx, o, cases)
}
