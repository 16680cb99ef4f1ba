package bench

import (
	"context"
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/model/sasrec"
	"privrec/internal/optim"
	"privrec/internal/rng"
)

// sasrecSizes holds the sizes of SASRec, of its data and of its batches.
type sasrecSizes struct {
	sasrec.Config
	items, batch int
	users        int // sequences to draw batches from
}

// movieSequences returns the sizes of ML-1M's items, and those of SASRec's program elsewhere.
func movieSequences() sasrecSizes {
	return sasrecSizes{Config: sasrec.Default(), items: 3416, batch: 128, users: 1024}
}

// SASRec measures a training step on sequences of 21 to 96 uniform items, reading or predicting the latest 51: forward,
// loss, backward and dense Adam. The loss of a case is over all items, or of one negative a place. The shape of a case
// ends with the loss of fixed weights that scripts/bench/sasrec.py also computes.
func SASRec(ctx context.Context, o Options) ([]Result, error) {
	return sasrecOf(ctx, o, movieSequences())
}

func sasrecOf(ctx context.Context, o Options, s sasrecSizes) ([]Result, error) {
	var cases []Case
	for _, sampled := range []bool{false, true} {
		loss, err := sasrecCheck(sampled)
		if err != nil {
			return nil, err
		}
		shape := fmt.Sprintf("items=%d dim=%d blocks=%d heads=%d length=%d batch=%d loss=%.6f", s.items, s.Dim,
			s.Blocks, s.Heads, s.Length, s.batch, loss)
		name := map[bool]string{false: "sasrec_all", true: "sasrec_sampled"}[sampled]
		cases = append(cases, Case{name, shape, func() (func() error, error) {
			t, err := newSASRecStep(s, sampled)
			if err != nil {
				return nil, err
			}
			return t.run, nil
		}})
	}
	return Run(ctx, o, cases)
}

// sasrecStep makes training steps on random users.
type sasrecStep struct {
	sasrecSizes
	model     *sasrec.Model
	sequences [][]int32
	sampled   bool
	tape      *autograd.Tape
	adam      *optim.Adam
	params    []*autograd.Param
	draw      rng.Stream
	batch     sasrec.Batch
	negatives []int32
	steps     int
}

func newSASRecStep(s sasrecSizes, sampled bool) (*sasrecStep, error) {
	m, err := sasrec.New(s.items, s.Config, graphSeed)
	if err != nil {
		return nil, err
	}
	t := &sasrecStep{sasrecSizes: s, model: m, sampled: sampled, tape: autograd.NewTape(), adam: optim.NewAdam(0),
		params: m.Params(), draw: graphSeed.Stream("bench.sasrec"), sequences: make([][]int32, s.users)}
	t.adam.Beta2 = 0.98
	for u := range t.sequences {
		q := make([]int32, 21+t.draw.IntN(76))
		for k := range q {
			q[k] = int32(1 + t.draw.IntN(s.items))
		}
		t.sequences[u] = q
	}
	return t, nil
}

func (t *sasrecStep) run() error {
	t.batch.Reset(t.Length)
	for range t.sasrecSizes.batch {
		if err := t.batch.AddPairs(t.sequences[t.draw.IntN(len(t.sequences))]); err != nil {
			return err
		}
	}
	t.negatives = t.negatives[:0]
	for range t.batch.Targets {
		t.negatives = append(t.negatives, int32(1+t.draw.IntN(t.items)))
	}
	t.tape.Reset()
	t.tape.Backward(sasrecLoss(t.tape, t.model, &t.batch, t.sampled, t.negatives, t.steps))
	t.steps++
	return t.adam.Step(t.params, t.tape.Grads(), 1e-3)
}

func sasrecLoss(t *autograd.Tape, m *sasrec.Model, b *sasrec.Batch, sampled bool, negatives []int32,
	step int) *autograd.Node {
	if sampled {
		return m.Sampled(t, b, negatives, step)
	}
	return m.CrossEntropy(t, b, step)
}

// sasrecCheck returns the loss of six sequences without dropout on a model of 40 items, width 8
// and length 10, from weights that another program can compute too: those of fillFixed, between
// -0.2 and 0.2. Item k of sequence q, which has 4+2q, is 1 + (7q + 3k) mod 40. The negative of
// target number j is 1 + 11j mod 40.
func sasrecCheck(sampled bool) (float64, error) {
	m, err := sasrec.New(40, sasrec.Config{Dim: 8, Blocks: 2, Heads: 1, Length: 10, Norm: sasrec.NormCode}, graphSeed)
	if err != nil {
		return 0, err
	}
	for p, q := range m.Params() {
		fillFixed(q.Value, p, 0.4)
	}
	var b sasrec.Batch
	b.Reset(10)
	for q := range 6 {
		s := make([]int32, 4+2*q)
		for k := range s {
			s[k] = int32(1 + (7*q+3*k)%40)
		}
		if err := b.AddPairs(s); err != nil {
			return 0, err
		}
	}
	negatives := make([]int32, len(b.Targets))
	for j := range negatives {
		negatives[j] = int32(1 + 11*j%40)
	}
	t := autograd.NewTape()
	t.NoGrad = true
	t.SetTraining(false)
	return sasrecLoss(t, m, &b, sampled, negatives, 0).Scalar(), nil
}
