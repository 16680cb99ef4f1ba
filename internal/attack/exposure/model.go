package exposure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"

	"privrec/internal/autograd"
	"privrec/internal/dataset/slate"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Model is an attack model: an encoder, a decoder and an output layer over the vocabulary. Several goroutines may use
// it at once while it is not being trained.
type Model struct {
	Config
	vocab, t, l int

	enc encoder
	dec decoder         // nil: point-wise
	out *autograd.Param // W (V, d)
	a   *autograd.Param // a (1, V), the output bias
}

// New returns a model for slates of T items and behaviours of L clicks, with tokens below vocab. Equal seeds give equal
// models: the initial value of a parameter depends only on the seed and its name. New fails on a setting that
// Config.Check refuses and on sizes below 1.
func New(c Config, vocab, T, L int, seed rng.Seed) (*Model, error) {
	if field, problem := c.Check(); field != "" {
		return nil, fmt.Errorf("exposure attack: %s: %s", field, problem)
	}
	if vocab <= int(slate.FirstItem) || T < 1 || L < 1 {
		return nil, fmt.Errorf("exposure attack: a vocabulary of %d tokens, %d of them items, slates of %d, "+
			"behaviours of %d", vocab, vocab-int(slate.FirstItem), T, L)
	}
	init := xavier(c.Init, seed)
	m := &Model{Config: c, vocab: vocab, t: T, l: L}
	items := nn.NewTableParam("item", vocab, c.Dim, init)
	m.out, m.a = items, nn.NewParam("output.b", 1, vocab, nn.Zeros)
	input := items
	if c.Tie == TieCode {
		m.out = nn.NewTableParam("output.W", vocab, c.Dim, init)
		input = m.out
		if c.Decoder == "transformer" {
			input = nn.NewTableParam("decoder.item", vocab, c.Dim, init)
		}
	}
	m.enc = newEncoder(c, items, init, seed)
	m.dec = newDecoder(c, input, L, init, seed)
	return m, nil
}

// xavier returns the named initialisation of Glorot & Bengio 2010. A parameter with one row is a bias and starts at 0.
func xavier(law string, seed rng.Seed) nn.Init {
	return func(dst tensor.Matrix, name string) {
		switch {
		case dst.Rows == 1:
			nn.Zeros(dst, name)
		case law == "xavier-uniform":
			nn.Uniform(seed, math.Sqrt(6/float64(dst.Rows+dst.Cols)))(dst, name)
		default:
			nn.Normal(seed, math.Sqrt(2/float64(dst.Rows+dst.Cols)))(dst, name)
		}
	}
}

// Params lists the parameters in a fixed order, each once, the item table first.
func (m *Model) Params() []*autograd.Param {
	all := append([]*autograd.Param{m.enc.items}, m.enc.Params()...)
	if m.dec != nil {
		if t := m.dec.table(); t != m.enc.items && t != m.out {
			all = append(all, t)
		}
		all = append(all, m.dec.Params()...)
	}
	if m.out != m.enc.items {
		all = append(all, m.out)
	}
	return append(all, m.a)
}

// Vocab returns the number of tokens V, the specials included.
func (m *Model) Vocab() int { return m.vocab }

// Lists implements [Ranker]: it returns 1 if the decoder is point-wise, else L.
func (m *Model) Lists() int {
	if m.dec == nil {
		return 1
	}
	return m.l
}

// fits refuses pairs whose lengths differ from the model's.
func (m *Model) fits(p *slate.Pairs) error {
	if p.T != m.t || p.L != m.l {
		return fmt.Errorf("exposure attack: pairs of slates of %d and behaviours of %d, the model is for %d and %d",
			p.T, p.L, m.t, m.l)
	}
	return nil
}

// Objective is the model's loss on some pairs, for training. One goroutine uses it at a time.
type Objective struct {
	m *Model
	p *slate.Pairs
	b batch
}

// On returns the training objective over p: sample i is row i of p.
func (m *Model) On(p *slate.Pairs) *Objective { return &Objective{m: m, p: p} }

// Params lists the model's parameters.
func (o *Objective) Params() []*autograd.Param { return o.m.Params() }

// Loss returns the loss over some samples (1, 1). Point-wise it is the mean over pairs of eq. 10.
// Sequence-wise it is the mean over pairs and steps of the cross-entropy, as in the program, where eq. 14 has
// the sum. Targets outside the vocabulary do not count. Dropout depends on the step.
func (o *Objective) Loss(t *autograd.Tape, step int, samples []int32) (*autograd.Node, error) {
	if err := o.m.fits(o.p); err != nil {
		return nil, err
	}
	o.b.lay(o.m, o.p, samples)
	return o.m.loss(t, &o.b, uint64(step)), nil
}

// loss returns the mean over the counted targets of the batch.
func (m *Model) loss(t *autograd.Tape, b *batch, step uint64) *autograd.Node {
	if m.dec == nil {
		q := autograd.SoftTargets{Class: b.class, Off: b.many, On: 1 / float64(m.l), Rest: m.Smoothing}
		return t.TiedSoftmax(m.enc.vector(t, &b.slates, step), m.out, m.a, q)
	}
	return t.TiedSoftmax(m.dec.states(t, m.enc.context(t, &b.slates, step, m.Decoder), b, step), m.out, m.a,
		autograd.OneHot(b.class))
}

// ValidationLoss returns the loss over all of p without dropout. It computes batchSize pairs at a time, which
// changes only the rounding. It fails on pairs without a known target, and when ctx ends.
func (m *Model) ValidationLoss(ctx context.Context, p *slate.Pairs, batchSize int) (mean float64, err error) {
	defer recovered(&err)
	if err := m.fits(p); err != nil {
		return 0, err
	}
	if batchSize < 1 {
		return 0, fmt.Errorf("exposure attack: validation %d pairs at a time", batchSize)
	}
	tape := autograd.NewTape()
	tape.SetTraining(false)
	var b batch
	var sum float64
	count := 0
	rows := make([]int32, 0, batchSize)
	for lo := 0; lo < p.Len(); lo += batchSize {
		if ctx.Err() != nil {
			return 0, fmt.Errorf("validation after %d of %d pairs: %w", lo, p.Len(), context.Cause(ctx))
		}
		rows = rows[:0]
		for i := lo; i < min(p.Len(), lo+batchSize); i++ {
			rows = append(rows, int32(i))
		}
		tape.Reset()
		tape.NoGrad = true
		n := b.lay(m, p, rows)
		sum += m.loss(tape, &b, 0).Scalar() * float64(n)
		count += n
	}
	if count == 0 {
		return 0, errors.New("exposure attack: validation without a known target")
	}
	return sum / float64(count), nil
}

// recovered turns a panic into err, at the boundary of the package.
func recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case *autograd.Error:
		*err = r
	case error:
		*err = fmt.Errorf("exposure attack: panic: %w\n%s", r, debug.Stack())
	default:
		*err = fmt.Errorf("exposure attack: panic: %v\n%s", r, debug.Stack())
	}
}
