package bench

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// DPSGD measures a training step of matrix factorisation by BPR on one table of users and items, of Gowalla's size
// unless o says otherwise, with and without privacy for one pair. A step with privacy draws a Poisson batch, clips
// the gradient of every pair, and adds noise to every coordinate of the table. One without sums the same gradients
// of a batch of fixed size. Both are measured with Adam over the whole table, and with gradient descent, where a
// step without privacy changes only the rows that it touched. So does one with privacy whose noise is deferred. The
// shape of a case ends with the loss of fixed weights that scripts/bench/dpsgd.py also computes.
func DPSGD(ctx context.Context, o Options) ([]Result, error) {
	s := o.Sizes
	if s == (Sizes{}) {
		s = Gowalla()
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	shape := fmt.Sprintf("table=%dx%d pairs=%d batch=%d loss=%.6f", s.Users+s.Items, s.Dim, s.Edges, s.Batch,
		pairsCheck())
	var cases []Case
	for _, k := range pairsKinds {
		cases = append(cases, Case{k.name, shape, func() (func() error, error) {
			t, err := newPairsStep(s, k)
			if err != nil {
				return nil, err
			}
			return t.run, nil
		}})
	}
	return Run(ctx, o, cases)
}

// pairsKind is a way to make a step.
type pairsKind struct {
	name                    string
	private, adam, deferred bool
}

// pairsKinds lists the ways that DPSGD measures.
var pairsKinds = []pairsKind{{"private_adam", true, true, false}, {"plain_adam", false, true, false},
	{"private_sgd", true, false, false}, {"plain_sgd", false, false, false},
	{"private_sgd_deferred", true, false, true}}

// pairsStep makes training steps on pairs (u, i) with a negative j.
type pairsStep struct {
	Sizes
	adam  bool
	graph *graph.Bipartite
	table tensor.Matrix // (users + items, d), users first
	steps *descent.RowSteps[tensor.Float]
	late  *descent.Deferred[tensor.Float] // in place of steps
	draw  rng.Stream                      // of batches without privacy, and of negatives
	step  int

	ends          []int          // of the pairs' rows
	rows          []int32        // (B, 3)
	values        []tensor.Float // (B, 3, d)
	sum           tensor.Matrix  // without privacy: of gradients, zero between steps where it is kept
	first, second tensor.Matrix  // Adam's moments
}

// pairsRate is the learning rate.
const pairsRate = 1e-3

func newPairsStep(s Sizes, k pairsKind) (*pairsStep, error) {
	g, err := powerLaw(s, graphSeed)
	if err != nil {
		return nil, err
	}
	n := s.Users + s.Items
	t := &pairsStep{Sizes: s, adam: k.adam, graph: g, table: tensor.NewTable(n, s.Dim),
		draw: graphSeed.Stream("bench.pairs")}
	weights := graphSeed.Stream("bench.table")
	for i := range t.table.Data {
		t.table.Data[i] = tensor.Float(0.1 * weights.NormFloat64())
	}
	if k.adam {
		t.first, t.second = tensor.NewTable(n, s.Dim), tensor.NewTable(n, s.Dim)
	}
	if !k.private {
		t.sum = tensor.NewTable(n, s.Dim)
		return t, nil
	}
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return nil, err
	}
	d := descent.DPSGD{Purpose: "bench pairs", Clip: 1, NoiseMultiplier: 1, Examples: int64(g.Edges()),
		Sampling: privacy.Poisson, Rate: min(1, float64(s.Batch)/float64(g.Edges())), Unit: privacy.Edge}
	noise := graphSeed.Stream("bench.noise")
	if k.deferred {
		t.late, err = descent.OpenDeferred(d, descent.Move{Rate: -pairsRate}, tensor.ScaleAdd, t.table.Data, s.Dim, l,
			noise)
	} else {
		t.steps, err = descent.OpenRows[tensor.Float](d, n, s.Dim, l, noise)
	}
	return t, err
}

// run makes a step.
func (t *pairsStep) run() error {
	t.step++
	if t.late != nil {
		return t.deferred()
	}
	if t.steps == nil {
		t.plain()
		return nil
	}
	batch, err := t.steps.Begin(0, uint64(t.step))
	if err != nil {
		return err
	}
	t.draws(batch, true)
	if err := t.steps.AddAll(tensor.Parallel, t.ends, t.rows, t.values); err != nil {
		return err
	}
	per := tensor.Float(1 / t.steps.ExpectedBatch())
	update := t.update()
	return t.steps.Finish(tensor.Parallel, func(at int, sum []tensor.Float) {
		tensor.Scale(per, sum)
		update(at, sum)
	})
}

// deferred makes a step with privacy that adds noise to the rows that it reads.
func (t *pairsStep) deferred() error {
	batch, err := t.late.Begin(0, uint64(t.step))
	if err != nil {
		return err
	}
	t.draws(batch, false)
	if err := t.late.Read(tensor.Parallel, t.rows); err != nil {
		return err
	}
	t.gradients()
	if err := t.late.AddAll(tensor.Parallel, t.ends, t.rows, t.values); err != nil {
		return err
	}
	return t.late.Finish(tensor.Parallel)
}

// update returns the optimiser's update by a part of the mean gradient.
func (t *pairsStep) update() func(at int, mean []tensor.Float) {
	coef := tensor.NewAdamCoef(pairsRate, 0.9, 0.999, 1e-8, 0, t.step)
	return func(at int, mean []tensor.Float) {
		end := at + len(mean)
		if t.adam {
			tensor.AdamStep(t.table.Data[at:end], mean, t.first.Data[at:end], t.second.Data[at:end], coef)
		} else {
			tensor.Axpy(-pairsRate, mean, t.table.Data[at:end])
		}
	}
}

// plain makes a step without privacy.
func (t *pairsStep) plain() {
	batch := make([]int32, t.Batch)
	for k := range batch {
		batch[k] = int32(t.draw.IntN(t.graph.Edges()))
	}
	t.draws(batch, true)
	if !t.adam {
		for k, r := range t.rows[:3*len(batch)] {
			tensor.Axpy(-pairsRate/tensor.Float(t.Batch), t.values[k*t.Dim:(k+1)*t.Dim], tensor.Row(t.table, int(r)))
		}
		return
	}
	for k, r := range t.rows[:3*len(batch)] {
		tensor.Axpy(1/tensor.Float(t.Batch), t.values[k*t.Dim:(k+1)*t.Dim], tensor.Row(t.sum, int(r)))
	}
	const piece = 4096
	update := t.update()
	tensor.Parallel((len(t.sum.Data)+piece-1)/piece, 8, func(_, lo, hi int) {
		for p := lo; p < hi; p++ {
			at, end := p*piece, min((p+1)*piece, len(t.sum.Data))
			update(at, t.sum.Data[at:end])
		}
	})
	for _, r := range t.rows[:3*len(batch)] {
		clear(tensor.Row(t.sum, int(r)))
	}
}

// draws lists the rows of the pairs of a batch, each with a negative among all other items, and computes their gradients
// too, if asked.
func (t *pairsStep) draws(batch []int32, gradients bool) {
	d := t.Dim
	if cap(t.rows) < 3*len(batch) {
		t.rows, t.values = make([]int32, 3*len(batch)), make([]tensor.Float, 3*len(batch)*d)
	}
	t.rows, t.values = t.rows[:3*len(batch)], t.values[:3*len(batch)*d]
	t.ends = slices.Grow(t.ends[:0], len(batch))[:len(batch)]
	tensor.Parallel(len(batch), 64, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			e := t.graph.Edge(int(batch[k]))
			s := t.draw.Sub(uint64(t.step), uint64(k))
			j := int32(s.IntN(t.Items - 1))
			if j >= e.Item {
				j++
			}
			rows := t.rows[3*k : 3*k+3]
			rows[0], rows[1], rows[2] = e.User, int32(t.Users)+e.Item, int32(t.Users)+j
			t.ends[k] = 3 * (k + 1)
			if gradients {
				pairGradient(t.table, rows, t.values[3*k*d:3*(k+1)*d])
			}
		}
	})
}

// gradients computes the gradients of the pairs that were drawn.
func (t *pairsStep) gradients() {
	d := t.Dim
	tensor.Parallel(len(t.ends), 64, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			pairGradient(t.table, t.rows[3*k:3*k+3], t.values[3*k*d:3*(k+1)*d])
		}
	})
}

// pairGradient writes the gradient of ln(1 + exp(-x)), x = u·(i - j), with respect to the rows u, i and j of the table
// to values (3, d), and returns the loss.
func pairGradient(table tensor.Matrix, rows []int32, values []tensor.Float) float64 {
	d := table.Cols
	u, i, j := tensor.Row(table, int(rows[0])), tensor.Row(table, int(rows[1])), tensor.Row(table, int(rows[2]))
	x := float64(tensor.Dot(u, i) - tensor.Dot(u, j))
	slope := tensor.Float(-1 / (1 + math.Exp(x)))
	tensor.ScaleTo(slope, values[:d], i)
	tensor.Axpy(-slope, j, values[:d])
	tensor.ScaleTo(slope, values[d:2*d], u)
	tensor.ScaleTo(-slope, values[2*d:3*d], u)
	return math.Log1p(math.Exp(-x))
}

// pairsCheck returns the mean loss of 8 pairs on a table (60, 8) that another program can compute too. Value k of
// the table is 2.4 frac(k/phi) - 1.2, with phi the golden ratio. Pair k is of the rows k, 20 + 3k and 40 + 2k.
func pairsCheck() float64 {
	table := tensor.New(60, 8)
	for k := range table.Data {
		_, f := math.Modf(float64(k) * (math.Phi - 1))
		table.Data[k] = tensor.Float(2.4*f - 1.2)
	}
	sum, values := 0.0, make([]tensor.Float, 3*8)
	for k := range int32(8) {
		sum += pairGradient(table, []int32{k, 20 + 3*k, 40 + 2*k}, values)
	}
	return sum / 8
}
