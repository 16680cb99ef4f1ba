package exposure

import (
	"math"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/rng"
)

// encoder turns slates into vectors (section 3.2.1). Slates are sets: nothing tells a position.
type encoder struct {
	kind   string
	items  *autograd.Param // (V, d)
	scale  float64         // of items on entry
	blocks []*block        // attention only
	norm   *nn.LayerNorm   // after the blocks, as the released program
}

func newEncoder(c Config, items *autograd.Param, init nn.Init, seed rng.Seed) encoder {
	e := encoder{kind: c.Encoder, items: items, scale: c.scale()}
	if c.Encoder != "attention" {
		return e
	}
	e.blocks = newBlocks("encoder", c, false, init, seed)
	e.norm = nn.NewLayerNorm("encoder.norm", c.Dim)
	return e
}

// scale is what items are multiplied by where they enter.
func (c Config) scale() float64 {
	if c.ScaleEmbedding {
		return math.Sqrt(float64(c.Dim))
	}
	return 1
}

// Params implements nn.Layer: the items are the model's.
func (e *encoder) Params() []*autograd.Param {
	var all []*autograd.Param
	for _, b := range e.blocks {
		all = append(all, b.Params()...)
	}
	if e.norm != nil {
		all = append(all, e.norm.Params()...)
	}
	return all
}

// memory is what a decoder knows of the slates: packed rows, off[i] to off[i+1] of slate i.
type memory struct {
	rows *autograd.Node
	off  []int32 // nil: one row a slate
}

// context is the memory for a decoder: of a transformer after attention the T rows of every slate,
// otherwise one vector each. (A pooled vector repeated T times, as the released program has it, would be the
// same: attention over equal rows is that row.)
func (e *encoder) context(t *autograd.Tape, s *slates, step uint64, decoder string) memory {
	if e.kind == "attention" && decoder == "transformer" {
		return memory{e.attend(t, s, step, false), s.off}
	}
	return memory{rows: e.vector(t, s, step)}
}

// vector is one row a slate (n, d): eq. 2, eq. 3, or the CLS row of the attention, which is the first. An
// empty slate pools to 0.
func (e *encoder) vector(t *autograd.Tape, s *slates, step uint64) *autograd.Node {
	switch e.kind {
	case "mean":
		return e.scaled(t.Rows(e.items, s.tokens).SegmentMean(s.off))
	case "max":
		return e.scaled(segmentMax(t.Rows(e.items, s.tokens), s.off))
	}
	return e.attend(t, s, step, true)
}

// scaled multiplies by the scale. Both poolings commute with it, so that it touches n rows instead of n·T.
func (e *encoder) scaled(x *autograd.Node) *autograd.Node {
	if e.scale == 1 {
		return x
	}
	return x.Scale(e.scale)
}

// attend is the self-attention of eq. 4-7 over the rows of every slate. With first, only the first row of each
// slate comes out of it (n, d): the last block computes no others.
func (e *encoder) attend(t *autograd.Tape, s *slates, step uint64, first bool) *autograd.Node {
	x := e.scaled(t.Rows(e.items, s.tokens))
	for k, b := range e.blocks {
		if first && k == len(e.blocks)-1 {
			x = b.forward(t, x.Gather(s.off[:s.len()]), s.one, memory{x, s.off}, memory{}, step)
		} else {
			x = b.forward(t, x, s.off, memory{rows: x}, memory{}, step)
		}
	}
	return e.norm.Forward(t, x)
}
