package bench

import (
	"context"
	"fmt"

	"privrec/internal/attack/exposure"
	"privrec/internal/autograd"
	"privrec/internal/dataset/slate"
	"privrec/internal/optim"
	"privrec/internal/rng"
)

// attackSizes holds the sizes of an exposure attack.
type attackSizes struct{ vocab, slate, behaviour, dim, batch, pairs int }

// zhihu returns the sizes of the exposure attack on Zhihu: its vocabulary, slates, behaviours and
// batches.
func zhihu() attackSizes { return attackSizes{57265, 10, 5, 128, 256, 1 << 13} }

// Exposure measures two calls on slates of random items: a training step of attacks (forward, loss
// over the whole vocabulary, backward, dense Adam), and the ranking of a batch that decodes with the
// attack's own predictions.
func Exposure(ctx context.Context, o Options) ([]Result, error) {
	return Run(ctx, o, attackCases(ctx, zhihu()))
}

func attackCases(ctx context.Context, s attackSizes) []Case {
	shape := fmt.Sprintf("vocab=%d slate=%d behaviour=%d dim=%d batch=%d", s.vocab, s.slate, s.behaviour, s.dim,
		s.batch)
	var cases []Case
	for _, of := range [][2]string{{"mean", "gru"}, {"attention", "point"}, {"attention", "transformer"}} {
		c := exposure.Paper(of[0], of[1])
		c.Dim = s.dim
		name := of[0] + "_" + of[1]
		cases = append(cases,
			Case{name + "_step", shape, func() (func() error, error) {
				t, err := newTrainer(c, s)
				if err != nil {
					return nil, err
				}
				return t.run, nil
			}},
			Case{name + "_rank", shape + " depth=20", func() (func() error, error) { return attackRank(ctx, c, s) }})
	}
	return cases
}

// random returns pairs of uniform items.
func (s attackSizes) random() *slate.Pairs {
	items := graphSeed.Stream("bench.pairs")
	draw := func(n int) []int32 {
		d := make([]int32, n)
		for i := range d {
			d[i] = slate.FirstItem + int32(items.IntN(s.vocab-int(slate.FirstItem)))
		}
		return d
	}
	return &slate.Pairs{
		T: s.slate, L: s.behaviour, Users: make([]int32, s.pairs), Complete: make([]bool, s.pairs),
		Slates: draw(s.pairs * s.slate), Behaviours: draw(s.pairs * s.behaviour),
	}
}

// trainer makes training steps of an attack.
type trainer struct {
	on      *exposure.Objective
	tape    *autograd.Tape
	adam    optim.Optimizer
	rate    float64
	params  []*autograd.Param
	pairs   int
	samples []int32
	order   rng.Stream
	steps   int
}

func newTrainer(c exposure.Config, s attackSizes) (*trainer, error) {
	m, err := exposure.New(c, s.vocab, s.slate, s.behaviour, graphSeed)
	if err != nil {
		return nil, err
	}
	how := exposure.PaperTraining()
	return &trainer{
		on: m.On(s.random()), tape: autograd.NewTape(), adam: how.Optimizer(), rate: how.Rate,
		params: m.Params(), pairs: s.pairs, samples: make([]int32, s.batch), order: graphSeed.Stream("bench.order"),
	}, nil
}

func (s *trainer) run() error {
	for k := range s.samples {
		s.samples[k] = int32(s.order.IntN(s.pairs))
	}
	s.tape.Reset()
	loss, err := s.on.Loss(s.tape, s.steps, s.samples)
	if err != nil {
		return err
	}
	s.tape.Backward(loss)
	s.steps++
	return s.adam.Step(s.params, s.tape.Grads(), s.rate)
}

func attackRank(ctx context.Context, c exposure.Config, s attackSizes) (func() error, error) {
	m, err := exposure.New(c, s.vocab, s.slate, s.behaviour, graphSeed)
	if err != nil {
		return nil, err
	}
	pairs, rows := s.random(), make([]int32, s.batch)
	for k := range rows {
		rows[k] = int32(k)
	}
	return func() error {
		return m.Rank(ctx, pairs, rows, 20, nil, func(int32, [][]int32) error { return nil })
	}, nil
}
