package gru4rec

import (
	"fmt"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Deep is GRU4Rec as libraries compare it under leave-one-out: the paper's layers of units, one above the other, as
// Tan, Xu, Liu, "Improved Recurrent Neural Networks for Session-based Recommendations", DLRS 2016, train them on every
// prefix.
//
//	x = dropout(E[s])                the items that are read (Tan et al., section 3.1)
//	h1 = GRU(x), h2 = GRU(h1), ...   eq. 2 to 5 in each layer, up to the last one, hL
//	r(i after s) = (V hL + b) · E_i  a dense layer back to the width of items
//
// The cell is PyTorch's: the reset gate acts after the product with the state's weights, and an open z keeps the old
// state. Dropout drops elements; Tan et al. drop whole items.
type Deep struct {
	Item   *autograd.Param // E (items+1, d), row 0 unused
	Layers []*nn.GRUCell   // input d and then hidden, state hidden
	Out    *nn.Linear      // V (d, hidden), b
	Config Config

	drop *nn.Dropout
}

// NewDeep returns a model over items 1..items.
// Matrices start with Glorot and Bengio's uniform values and biases at 0. Initial values and dropout masks depend on
// the seed and the parameters' names. NewDeep fails on a shape that CheckDeep refuses.
func NewDeep(items int, c Config, seed rng.Seed) (*Deep, error) {
	if err := c.CheckDeep(); err != nil {
		return nil, err
	}
	if items < 1 {
		return nil, fmt.Errorf("gru4rec: %d items, want at least 1", items)
	}
	init := nn.Xavier(seed)
	m := &Deep{
		Item:   nn.NewTableParam("item", items+1, c.Dim, init),
		Out:    nn.NewLinear("out", c.Hidden, c.Dim, true, init),
		Config: c,
		drop:   nn.NewDropout("gru4rec.input", c.Dropout, seed),
	}
	in := c.Dim
	for k := range c.Layers {
		m.Layers = append(m.Layers, nn.NewGRUCell(fmt.Sprintf("gru%d", k), in, c.Hidden, nn.ResetAfter, nn.GateKeep,
			init))
		in = c.Hidden
	}
	return m, nil
}

// CheckDeep returns an error for the first field that Deep cannot have.
func (c Config) CheckDeep() error {
	switch {
	case c.Dim < 1:
		return fmt.Errorf("gru4rec: dim is %d, want at least 1", c.Dim)
	case c.Hidden < 1:
		return fmt.Errorf("gru4rec: hidden is %d, want at least 1", c.Hidden)
	case c.Layers < 1:
		return fmt.Errorf("gru4rec: layers is %d, want at least 1", c.Layers)
	case c.Length < 1:
		return fmt.Errorf("gru4rec: length is %d, want at least 1", c.Length)
	case !(c.Dropout >= 0 && c.Dropout < 1):
		return fmt.Errorf("gru4rec: dropout is %v, want at least 0 and below 1", c.Dropout)
	}
	return nil
}

// Params returns the parameters in a fixed order, the item table first.
func (m *Deep) Params() []*autograd.Param {
	all := []*autograd.Param{m.Item}
	for _, l := range m.Layers {
		all = append(all, l.Params()...)
	}
	return append(all, m.Out.Params()...)
}

// Items returns the number of items.
func (m *Deep) Items() int { return m.Item.Value.Rows - 1 }

// Forward returns one row for each requested place of the batch (L, d), in the order of Batch.Add. Its inner products
// with the rows of Item are the scores. On a tape in training mode it drops elements, which depend on the step.
func (m *Deep) Forward(t *autograd.Tape, b *Batch, step int) *autograd.Node {
	b.lay()
	x := m.drop.Forward(t, t.Rows(m.Item, b.item), uint64(step)) // (N, d), position by position
	for _, layer := range m.Layers {
		x = layer.States(t, layer.Input(t, x), b.start) // (N, hidden)
	}
	return m.Out.Forward(t, x.Gather(b.rows))
}

// CrossEntropy returns the mean softmax cross-entropy over all items for the requested places of the batch (1, 1).
func (m *Deep) CrossEntropy(t *autograd.Tape, b *Batch, step int) *autograd.Node {
	return t.TiedCrossEntropy(m.Forward(t, b, step), m.Item, 1, b.Targets)
}

// Score fills scores (L, items) with the inner products of Forward's rows and all items.
func (m *Deep) Score(t *autograd.Tape, b *Batch, scores tensor.Matrix) {
	h := m.Forward(t, b, 0)
	tensor.Gemm(false, true, 1, h.V, tensor.RowsView(m.Item.Value, 1, m.Item.Value.Rows), 0, scores)
}

// Batch holds sequences that are read together, N items in all.
type Batch struct {
	Targets []int32 // (L) what follows each place that was added with a target

	seqs  [][]int32
	first []int32 // of each sequence: the place from which on its states are asked for

	order []int32 // sequences by descending length
	at    []int32 // of each sequence: its number in order
	item  []int32 // items at position 0 of all sequences in order, then at position 1, ...
	start []int   // position p holds item[start[p]:start[p+1]]
	rows  []int32 // (L) the places that are asked for, as indices into item
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.Targets, b.seqs, b.first = b.Targets[:0], b.seqs[:0], b.first[:0]
}

// Add appends a sequence to be continued, oldest item first: the state after its last item is requested. It keeps the
// slice. Add fails on a sequence without items.
func (b *Batch) Add(seq []int32) error {
	if len(seq) == 0 {
		return fmt.Errorf("gru4rec: sequence %d of the batch has no items to continue", len(b.seqs))
	}
	b.seqs, b.first = append(b.seqs, seq), append(b.first, int32(len(seq)-1))
	return nil
}

// AddPairs appends a sequence to learn from. Each of its items except the last is read, and the items from place first
// on, 1 or later, are targets. It keeps the slice. AddPairs fails if there is no target.
func (b *Batch) AddPairs(seq []int32, first int) error {
	if first < 1 || first >= len(seq) {
		return fmt.Errorf("gru4rec: no target from place %d on in a sequence of %d items", first, len(seq))
	}
	b.seqs, b.first = append(b.seqs, seq[:len(seq)-1]), append(b.first, int32(first-1))
	b.Targets = append(b.Targets, seq[first:]...)
	return nil
}

// lay orders the places of the batch so that the sequences with a further position are always
// the first ones.
func (b *Batch) lay() {
	b.order, b.item, b.start, b.rows = b.order[:0], b.item[:0], append(b.start[:0], 0), b.rows[:0]
	for s := range b.seqs {
		b.order = append(b.order, int32(s))
	}
	slices.SortStableFunc(b.order, func(x, y int32) int { return len(b.seqs[y]) - len(b.seqs[x]) })
	b.at = slices.Grow(b.at[:0], len(b.seqs))[:len(b.seqs)]
	for k, s := range b.order {
		b.at[s] = int32(k)
	}
	for p := 0; ; p++ {
		for _, s := range b.order {
			if len(b.seqs[s]) <= p {
				break
			}
			b.item = append(b.item, b.seqs[s][p])
		}
		if len(b.item) == b.start[p] {
			break
		}
		b.start = append(b.start, len(b.item))
	}
	for s, seq := range b.seqs {
		for p := int(b.first[s]); p < len(seq); p++ {
			b.rows = append(b.rows, int32(b.start[p])+b.at[s])
		}
	}
}
