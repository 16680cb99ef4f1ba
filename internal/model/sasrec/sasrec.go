package sasrec

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Model is SASRec over items 1..V. Any number of tapes may use it at once while its
// parameters do not change.
type Model struct {
	Item     *autograd.Param // E (V+1, d), row 0 unused
	Position *autograd.Param // P (n, d)
	Config   Config

	blocks []*block
	final  *nn.LayerNorm
	drop   *nn.Dropout // of the input
}

// normEps is the number that the authors' program adds to the variance.
const normEps = 1e-8

// New returns a model over items 1..items.
// Matrices start with Glorot and Bengio's uniform values and biases at 0, as in the authors' program. Initial values
// and dropout masks depend on the seed and the parameters' names. New fails on a shape that Config.Check refuses.
func New(items int, c Config, seed rng.Seed) (*Model, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if items < 1 {
		return nil, fmt.Errorf("sasrec: %d items, want at least 1", items)
	}
	init := nn.Xavier(seed)
	m := &Model{
		Item:     nn.NewTableParam("item", items+1, c.Dim, init),
		Position: nn.NewParam("position", c.Length, c.Dim, init),
		Config:   c,
		final:    newNorm("final", c.Dim),
		drop:     nn.NewDropout("sasrec.input", c.Dropout, seed),
	}
	for k := range c.Blocks {
		m.blocks = append(m.blocks, newBlock(fmt.Sprintf("block%d", k), c, init, seed))
	}
	return m, nil
}

func newNorm(name string, d int) *nn.LayerNorm {
	l := nn.NewLayerNorm(name, d)
	l.Eps = normEps
	return l
}

// Params returns the parameters in a fixed order, the item table first.
func (m *Model) Params() []*autograd.Param {
	all := []*autograd.Param{m.Item, m.Position}
	for _, b := range m.blocks {
		all = append(all, b.Params()...)
	}
	return append(all, m.final.Params()...)
}

// Items returns V.
func (m *Model) Items() int { return m.Item.Value.Rows - 1 }

// Forward returns the output F (N, d), one row for each row of the batch. On a tape in training mode it drops elements,
// which depend on the step.
func (m *Model) Forward(t *autograd.Tape, b *Batch, step int) *autograd.Node {
	return m.forward(t, b, at(step))
}

// draw identifies the masks of dropout: the step and, if a tape holds part of a batch, the part.
type draw []uint64

func at(index ...int) (d draw) {
	for _, i := range index {
		d = append(d, uint64(i))
	}
	return d
}

func (m *Model) forward(t *autograd.Tape, b *Batch, d draw) *autograd.Node {
	x := m.input(t, b, d)
	for _, k := range m.blocks {
		x = k.forward(t, x, x, b.Offsets, nil, d)
	}
	return m.final.Forward(t, x)
}

// Continue returns the row of F after the last item of every sequence (B, d), for
// evaluation. It computes the last block only for these rows.
func (m *Model) Continue(t *autograd.Tape, b *Batch) *autograd.Node {
	x := m.input(t, b, at(0))
	end := len(m.blocks) - 1
	for _, k := range m.blocks[:end] {
		x = k.forward(t, x, x, b.Offsets, nil, at(0))
	}
	each := make([]int32, b.Len()+1) // a segment of one query for every sequence
	for i := range each {
		each[i] = int32(i)
	}
	return m.final.Forward(t, m.blocks[end].forward(t, x.Gather(b.Last), x, each, b.Offsets, at(0)))
}

func (m *Model) input(t *autograd.Tape, b *Batch, d draw) *autograd.Node {
	x := t.Rows(m.Item, b.Items).Scale(math.Sqrt(float64(m.Config.Dim))) // (N, d)
	return m.drop.Forward(t, x.Add(t.Rows(m.Position, b.Positions)), d...)
}

// Score fills scores (B, V) with the inner products of Continue's rows and all items (eq. 6).
func (m *Model) Score(t *autograd.Tape, b *Batch, scores tensor.Matrix) {
	h := m.Continue(t, b)
	tensor.Gemm(false, true, 1, h.V, tensor.RowsView(m.Item.Value, 1, m.Item.Value.Rows), 0, scores)
}

// block is one layer of attention with a point-wise network.
type block struct {
	norms             [2]*nn.LayerNorm
	query, key, value *nn.Linear
	up, down          *nn.Linear // point-wise, d to d to d
	drops             [3]*nn.Dropout
	heads             int
	paper             bool
}

func newBlock(name string, c Config, init nn.Init, seed rng.Seed) *block {
	linear := func(part string) *nn.Linear { return nn.NewLinear(name+"."+part, c.Dim, c.Dim, true, init) }
	b := &block{
		query: linear("query"), key: linear("key"), value: linear("value"), up: linear("up"), down: linear("down"),
		heads: c.Heads, paper: c.Norm == NormPaper,
	}
	for i, part := range []string{"attend", "point"} {
		b.norms[i] = newNorm(name+"."+part, c.Dim)
	}
	for i, part := range []string{"attend", "up", "down"} {
		b.drops[i] = nn.NewDropout("sasrec."+name+"."+part, c.Dropout, seed)
	}
	return b
}

// Params implements nn.Layer.
func (b *block) Params() []*autograd.Param {
	return nn.Params(b.norms[0], b.query, b.key, b.value, b.norms[1], b.up, b.down)
}

// forward returns the block's output for the rows of x, which attend to the rows of memory. Without memoryOff, memory
// is x itself, divided into segments by off, and a row looks back within its segment. With memoryOff, each row of x
// sees all of its segment of memory.
func (b *block) forward(t *autograd.Tape, x, memory *autograd.Node, off, memoryOff []int32, d draw) *autograd.Node {
	y := b.norms[0].Forward(t, x)
	source := memory
	if b.paper {
		if source = y; memory != x {
			source = b.norms[0].Forward(t, memory)
		}
	}
	a := t.Attention(b.query.Forward(t, y), b.key.Forward(t, source), b.value.Forward(t, source),
		autograd.AttentionShape{Query: off, Key: memoryOff, Heads: b.heads, Causal: memoryOff == nil})
	x = b.residual(x, y).Add(b.drops[0].Forward(t, a, d...))
	y = b.norms[1].Forward(t, x)
	h := b.drops[1].Forward(t, b.up.Forward(t, y).ReLU(), d...)
	return b.residual(x, y).Add(b.drops[2].Forward(t, b.down.Forward(t, h), d...))
}

// residual returns the operand to which a sublayer's output is added: its input x, or its normalised input y.
func (b *block) residual(x, y *autograd.Node) *autograd.Node {
	if b.paper {
		return x
	}
	return y
}

// Config sets the shape of the network.
type Config struct {
	Dim    int `yaml:"dim" limit:"1..4096"`   // d, width of items, positions and all layers
	Blocks int `yaml:"blocks" limit:"1..100"` // b, the number of attention blocks
	Heads  int `yaml:"heads"`                 // number of attention heads; must divide d
	// n, the number of latest items of a sequence that the network reads
	Length  int     `yaml:"length" limit:"1..10000"`
	Dropout float64 `yaml:"dropout" limit:"[0,1)"`
	// where layers are normalised: code (as the authors' program does) or paper (section III-C)
	Norm string `yaml:"norm" limit:"code|paper"`
}

// Placements of layer normalisation; f is attention or the point-wise network.
const (
	// NormCode is the authors' program: y = LN(x), x' = y + dropout(f(y)). The residual
	// carries the normalised rows, and attention takes its queries from y and its keys
	// and values from x.
	NormCode = "code"
	// NormPaper is section III-C: x' = x + dropout(f(LN(x))).
	NormPaper = "paper"
)

// Default returns the shape assumed by the protection of the exposure attack: the paper's two blocks and one head, for
// sparse data.
func Default() Config {
	return Config{Dim: 64, Blocks: 2, Heads: 1, Length: 50, Dropout: 0.2, Norm: NormCode}
}

// Check returns an error for the first field out of its range.
func (c Config) Check() error {
	switch {
	case c.Dim < 1:
		return fmt.Errorf("sasrec: dim is %d, want at least 1", c.Dim)
	case c.Blocks < 1:
		return fmt.Errorf("sasrec: blocks is %d, want at least 1", c.Blocks)
	case c.Heads < 1 || c.Dim%c.Heads != 0:
		return fmt.Errorf("sasrec: %d heads do not divide a width of %d", c.Heads, c.Dim)
	case c.Length < 1:
		return fmt.Errorf("sasrec: length is %d, want at least 1", c.Length)
	case !(c.Dropout >= 0 && c.Dropout < 1):
		return fmt.Errorf("sasrec: dropout is %v, want at least 0 and below 1", c.Dropout)
	case c.Norm != NormCode && c.Norm != NormPaper:
		return fmt.Errorf("sasrec: norm is %q, want %s or %s", c.Norm, NormCode, NormPaper)
	}
	return nil
}
