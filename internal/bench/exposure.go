package bench

import (
	"context"
	"fmt"

	"privrec/internal/attack/exposure"
	"privrec/internal/autograd"
	"privrec/internal/dataset/slate"
	"privrec/internal/optim"
	"privrec/internal/rng"
	"privrec/internal/train"
)

// The sizes of the exposure attack on Zhihu: its vocabulary, slates, behaviours and batches.
const (
	exposureVocab = 57265
	exposureSlate = 10
	exposureLen   = 5
	exposureBatch = 256
	exposurePairs = 1 << 13
)

// Exposure measures a training step of attacks on slates of random items (forward, loss over the whole
// vocabulary, backward, dense Adam), and ranking a batch by own predictions.
func Exposure(ctx context.Context, o Options) ([]Result, error) {
	shape := fmt.Sprintf("vocab=%d slate=%d behaviour=%d dim=128 batch=%d", exposureVocab, exposureSlate, exposureLen, exposureBatch)
	var cases []Case
	for _, of := range [][2]string{{"mean", "gru"}, {"attention", "point"}, {"attention", "transformer"}} {
		c := exposure.Paper(of[0], of[1])
		name := of[0] + "_" + of[1]
		cases = append(cases,
			Case{name + "_step", shape, func() (func() error, error) { return attackStep(c) }},
			Case{name + "_rank", shape + " depth=20", func() (func() error, error) { return attackRank(ctx, c) }})
	}
	return Run(ctx, o, cases)
}

// randomPairs are pairs of uniform items.
func randomPairs() *slate.Pairs {
	items := graphSeed.Stream("bench.pairs")
	draw := func(n int) []int32 {
		s := make([]int32, n)
		for i := range s {
			s[i] = slate.FirstItem + int32(items.IntN(exposureVocab-int(slate.FirstItem)))
		}
		return s
	}
	return &slate.Pairs{
		T: exposureSlate, L: exposureLen, Users: make([]int32, exposurePairs), Complete: make([]bool, exposurePairs),
		Slates: draw(exposurePairs * exposureSlate), Behaviours: draw(exposurePairs * exposureLen),
	}
}

// trainer is an attack in training.
type trainer struct {
	on      *exposure.Objective
	tape    *autograd.Tape
	adam    optim.Optimizer
	rate    float64
	params  []*autograd.Param
	samples []int32
	order   rng.Stream
	steps   int
}

func attackStep(c exposure.Config) (func() error, error) {
	m, err := exposure.New(c, exposureVocab, exposureSlate, exposureLen, graphSeed)
	if err != nil {
		return nil, err
	}
	how := exposure.PaperTraining()
	t := &trainer{
		on: m.On(randomPairs()), tape: autograd.NewTape(), adam: how.Optimizer(), rate: how.Rate,
		params: m.Params(), samples: make([]int32, exposureBatch), order: graphSeed.Stream("bench.order"),
	}
	return t.run, nil
}

func (s *trainer) run() error {
	for k := range s.samples {
		s.samples[k] = int32(s.order.IntN(exposurePairs))
	}
	s.tape.Reset()
	loss, err := s.on.Loss(s.tape, train.Batch{Step: s.steps, Samples: s.samples})
	if err != nil {
		return err
	}
	s.tape.Backward(loss)
	s.steps++
	return s.adam.Step(s.params, s.tape.Grads(), s.rate)
}

func attackRank(ctx context.Context, c exposure.Config) (func() error, error) {
	m, err := exposure.New(c, exposureVocab, exposureSlate, exposureLen, graphSeed)
	if err != nil {
		return nil, err
	}
	pairs, rows := randomPairs(), make([]int32, exposureBatch)
	for k := range rows {
		rows[k] = int32(k)
	}
	return func() error {
		return m.Rank(ctx, pairs, rows, 20, nil, func(int32, [][]int32) error { return nil })
	}, nil
}
