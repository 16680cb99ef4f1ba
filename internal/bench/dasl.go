package bench

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/model/dasl"
	"privrec/internal/optim"
	"privrec/internal/rng"
)

// daslSizes holds the sizes of a two-domain model and of a batch.
type daslSizes struct {
	users       int
	items       [2]int
	dim, window int
	batch       int
}

// largeDomains returns sizes with the users of PriCDSR's paper and 240,000 items.
func largeDomains() daslSizes {
	return daslSizes{users: 10929, items: [2]int{120000, 120000}, dim: 128, window: 10, batch: 128}
}

// DASL measures a training step of DASL on the target domain: forward, loss, backward and Adam.
// Adam makes the missed steps of a table's row when the row is next read. Users and items come
// by the power laws of the graphs, and negatives are uniform. The other cases are the same step
// with all items uniform, so that rows are not read for longer, with Adam over whole tables,
// and without the other domain. The shape of a case ends with the loss of a batch without
// dropout that scripts/bench/dasl.py also computes.
func DASL(ctx context.Context, o Options) ([]Result, error) { return daslOf(ctx, o, largeDomains()) }

func daslOf(ctx context.Context, o Options, s daslSizes) ([]Result, error) {
	var cases []Case
	for _, k := range []daslKind{{name: "dasl_step", law: true, lazy: true}, {name: "dasl_uniform", lazy: true},
		{name: "dasl_dense", law: true}, {name: "dasl_single", law: true, lazy: true, single: true}} {
		cases = append(cases, Case{k.name, "", func() (func() error, error) { return newDASLStep(s, k).warm() }})
	}
	results, err := Run(ctx, o, cases)
	for k := range results {
		loss, wrong := daslCheck(s, results[k].Name == "dasl_single")
		if wrong != nil {
			return results, wrong
		}
		results[k].Shape = fmt.Sprintf("users=%d items=%d+%d dim=%d window=%d batch=%d loss=%.6f",
			s.users, s.items[0], s.items[1], s.dim, s.window, s.batch, loss)
	}
	return results, err
}

// daslKind describes one way of training.
type daslKind struct {
	name              string
	law, lazy, single bool
}

// daslStep makes training steps on random batches.
type daslStep struct {
	daslSizes
	ranks  [4]*ranks // of users, own items, other items, positives; nil: uniform
	model  *dasl.Model
	tape   *autograd.Tape
	adam   optim.Optimizer
	params []*autograd.Param
	draw   rng.Stream
	ahead  []dasl.Batch // drawn before they are used, and used again
	steps  int
}

func newDASLStep(s daslSizes, k daslKind) *daslStep {
	m := newDASL(s, k.single, dasl.Paper().Dropout)
	t := &daslStep{daslSizes: s, model: m, tape: autograd.NewTape(), params: m.Params(),
		draw: graphSeed.Stream("bench.dasl")}
	if k.law {
		users, own := newRanks(s.users, 20, 0.55, graphSeed.Stream("bench.users")),
			newRanks(s.items[0], 30, 0.75, graphSeed.Stream("bench.items"))
		t.ranks = [4]*ranks{users, own, newRanks(s.items[1], 30, 0.75, graphSeed.Stream("bench.cross")), own}
	}
	if k.lazy {
		a := optim.NewAdamLazy(0)
		a.EpsHat = true
		t.adam, t.tape.BeforeRead = a, a.Touch
	} else {
		a := optim.NewAdam(0)
		a.EpsHat = true
		t.adam = a
	}
	return t
}

func newDASL(s daslSizes, single bool, dropout float64) *dasl.Model {
	c := dasl.Paper()
	c.Dim, c.Window, c.Dropout = s.dim, s.window, dropout
	return dasl.New(s.users, s.items, c, single, graphSeed)
}

// daslWarm is the number of steps before the first measured one. First moments are then nearly 0 in rows that were not
// read since, and the cost of making missed steps is constant.
const daslWarm = 400

// warm makes these steps. In the first one every row of every table has a gradient.
func (t *daslStep) warm() (func() error, error) {
	for range daslWarm {
		if err := t.run(); err != nil {
			return nil, err
		}
	}
	return t.run, nil
}

// daslAhead is the number of batches that are drawn; first moments last for fewer steps.
const daslAhead = 1024

func (t *daslStep) run() error {
	for len(t.ahead) < daslAhead {
		t.ahead = append(t.ahead, dasl.Batch{})
		fillDASL(&t.ahead[len(t.ahead)-1], t.daslSizes, func(what, n, _ int) int32 {
			if what < len(t.ranks) && t.ranks[what] != nil {
				return t.ranks[what].draw()
			}
			return int32(t.draw.IntN(n))
		})
	}
	t.tape.Reset()
	loss := t.model.Loss(t.tape, 0, t.steps, &t.ahead[t.steps%daslAhead])
	if t.steps == 0 {
		for _, p := range t.params {
			loss = loss.Add(t.tape.Use(p).SumSq())
		}
	}
	t.tape.Backward(loss)
	t.steps++
	return t.adam.Step(t.params, t.tape.Grads(), 1e-3)
}

// fillDASL fills a batch by draw, which returns item number at of list what, below n. what is 0
// for users, 1 for own and 2 for other items, 3 for positives and 4 for negatives; items count
// from 0.
func fillDASL(b *dasl.Batch, s daslSizes, draw func(what, n, at int) int32) {
	fill := func(dst *[]int32, what, size, from, n int) {
		*dst = (*dst)[:0]
		for at := range size {
			*dst = append(*dst, int32(from)+draw(what, n, at))
		}
	}
	fill(&b.User, 0, s.batch, 0, s.users)
	fill(&b.Own, 1, s.batch*s.window, 1, s.items[0])
	fill(&b.Cross, 2, s.batch*s.window, 1, s.items[1])
	fill(&b.Pos, 3, s.batch, 1, s.items[0])
	fill(&b.Neg, 4, s.batch, 1, s.items[0])
}

// daslCheck returns the loss of one batch, from weights and indices that another program can
// compute too: those of fillFixed, between -0.2 and 0.2. Draw number i of list w among n is (7919 i + 104729 w) mod n.
func daslCheck(s daslSizes, single bool) (float64, error) {
	m := newDASL(s, single, 0)
	for p, q := range m.Params() {
		fillFixed(q.Value, p, 0.4)
	}
	var b dasl.Batch
	fillDASL(&b, s, func(what, n, at int) int32 { return int32((7919*at + 104729*what) % n) })
	t := autograd.NewTape()
	t.NoGrad = true
	t.SetTraining(false)
	loss := m.Loss(t, 0, 0, &b).Scalar()
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, fmt.Errorf("bench: the loss of the fixed batch is %v", loss)
	}
	return loss, nil
}
