package train

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// toy predicts each item's successor: an embedding, a linear map with dropout, tied output weights.
type toy struct {
	E, W, B *autograd.Param
	next    []int32
	idx     []int32
	targets []int32
	ledger  *ledger
	sparse  bool                                           // look rows up only, so that no gradient of the items is dense
	onLoss  func(b Batch) error                            // before the loss
	bend    func(b Batch, n *autograd.Node) *autograd.Node // after it
}

const toyItems, toyWidth = 12, 5

// newToy makes a model whose initial values depend on seed.
func newToy(seed rng.Seed) *toy {
	m := &toy{
		E: autograd.NewParam("item", toyItems, toyWidth), W: autograd.NewParam("map", toyWidth, toyWidth),
		B: autograd.NewParam("bias", 1, toyWidth), ledger: &ledger{},
	}
	for _, p := range m.Params() {
		stream := seed.Stream(p.Name)
		for i := range p.Value.Data {
			p.Value.Data[i] = tensor.Float(stream.NormFloat64() / 3)
		}
	}
	for i := range toyItems {
		m.next = append(m.next, int32((5*i+3)%toyItems))
	}
	return m
}

func (m *toy) Params() []*autograd.Param { return []*autograd.Param{m.E, m.W, m.B} }

func (m *toy) Loss(t *autograd.Tape, b Batch) (*autograd.Node, error) {
	if m.onLoss != nil {
		if err := m.onLoss(b); err != nil {
			return nil, err
		}
	}
	m.ledger.events = append(m.ledger.events, byte(b.Epoch), byte(b.Step), byte(len(b.Samples)))
	m.idx, m.targets = m.idx[:0], m.targets[:0]
	for _, s := range b.Samples {
		m.idx = append(m.idx, s%toyItems)
		m.targets = append(m.targets, m.next[s%toyItems])
	}
	drop := rng.Seed(9).Stream("dropout", uint64(b.Step))
	h := t.Rows(m.E, m.idx).Linear(t.Use(m.W), t.Use(m.B)).Dropout(0.2, drop) // (n, d)
	var loss *autograd.Node
	if m.sparse {
		loss = h.RowDot(t.Rows(m.E, m.targets)).LogSigmoid().MeanAll().Scale(-1)
	} else {
		loss = h.MatMulT(t.Use(m.E)).CrossEntropy(m.targets)
	}
	if m.bend != nil {
		loss = m.bend(b, loss)
	}
	return loss, nil
}

// ledger is the caller's state: a record of every step.
type ledger struct{ events []byte }

func (l *ledger) Save() ([]byte, error) { return slices.Clone(l.events), nil }
func (l *ledger) Load(b []byte) error   { l.events = slices.Clone(b); return nil }

// momentum is a small optimiser with state, independent of package optim.
type momentum struct{ v map[string]tensor.Matrix }

func (o *momentum) Step(params []*autograd.Param, g *autograd.Grads, lr float64) error {
	if o.v == nil {
		o.v = map[string]tensor.Matrix{}
	}
	for _, p := range params {
		v, ok := o.v[p.Name]
		if !ok {
			v = tensor.New(p.Value.Rows, p.Value.Cols)
			o.v[p.Name] = v
		}
		tensor.Scale(0.9, v.Data)
		if d, ok := g.Dense(p); ok {
			tensor.Axpy(1, d.Data, v.Data)
		} else if rows, vals, ok := g.Sparse(p); ok {
			for i, r := range rows {
				tensor.Add(tensor.Row(v, int(r)), tensor.Row(vals, i))
			}
		}
		tensor.Axpy(tensor.Float(-lr), v.Data, p.Value.Data)
	}
	return nil
}

func (o *momentum) State() []autograd.NamedTensor {
	var list []autograd.NamedTensor
	for _, name := range []string{"bias", "item", "map"} {
		if v, ok := o.v[name]; ok {
			list = append(list, autograd.NamedTensor{Name: name, Value: v})
		}
	}
	return list
}

func (o *momentum) Load(list []autograd.NamedTensor) error {
	o.v = map[string]tensor.Matrix{}
	for _, t := range list {
		if t.Name == "surplus" {
			return errors.New(`no parameter for state "surplus"`)
		}
		o.v[t.Name] = cloneMatrix(t.Value)
	}
	return nil
}

type halving struct{}

func (halving) LR(base float64, epoch int) float64 { return base / math.Pow(2, float64(epoch)) }

// memory is a store that keeps a deep copy, as a file would.
type memory struct {
	c     *Checkpoint
	saves int
	fail  error
}

func (s *memory) Save(c *Checkpoint) error {
	if s.fail != nil {
		return s.fail
	}
	s.c = cloneCheckpoint(c)
	s.saves++
	return nil
}

func (s *memory) Load() (*Checkpoint, bool, error) {
	if s.c == nil {
		return nil, false, nil
	}
	return cloneCheckpoint(s.c), true, nil
}

func cloneCheckpoint(c *Checkpoint) *Checkpoint {
	d := &Checkpoint{State: slices.Clone(c.State)}
	for _, t := range c.Tensors {
		d.Tensors = append(d.Tensors, autograd.NamedTensor{Name: t.Name, Value: cloneMatrix(t.Value)})
	}
	return d
}

// flatten is everything a checkpoint holds, as bytes.
func flatten(c *Checkpoint) []byte {
	var b bytes.Buffer
	b.Write(c.State)
	for _, t := range c.Tensors {
		fmt.Fprintf(&b, "\n%s %dx%d ", t.Name, t.Value.Rows, t.Value.Cols)
		if err := binary.Write(&b, binary.LittleEndian, t.Value.Data); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

// hits is a deterministic validation: how often the model ranks the successor first, and its mean loss.
func hits(m *toy) []Score {
	t := autograd.NewTape()
	t.NoGrad = true
	t.SetTraining(false)
	all := make([]int32, toyItems)
	for i := range all {
		all[i] = int32(i)
	}
	logits := t.Rows(m.E, all).Linear(t.Use(m.W), t.Use(m.B)).MatMulT(t.Use(m.E))
	right := 0
	for i := range all {
		row := tensor.Row(logits.V, i)
		if slices.Index(row, slices.Max(row)) == int(m.next[i]) {
			right++
		}
	}
	return []Score{{Name: "hit", Value: float64(right) / toyItems}, {Name: "loss", Value: logits.CrossEntropy(m.next).Scalar(), Lower: true}}
}

func wantError(t *testing.T, name string, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want %q", name, parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q lacks %q", name, err, part)
		}
	}
}
