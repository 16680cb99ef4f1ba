package exposure

import (
	"math"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/rng"
)

// encoder turns slates into vectors (section 3.2.1). Slates are sets, so it does not see positions.
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

// scale returns the factor that multiplies items at the input.
func (c Config) scale() float64 {
	if c.ScaleEmbedding {
		return math.Sqrt(float64(c.Dim))
	}
	return 1
}

// Params implements nn.Layer, without the items, which are the model's.
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

// memory holds the encoded slates for a decoder as packed rows: off[i] to off[i+1] belong to slate i.
type memory struct {
	rows *autograd.Node
	off  []int32 // nil: one row a slate
}

// context returns the memory for a decoder: the T rows of every slate for a transformer after attention, otherwise one
// vector for each slate. The released program repeats a pooled vector T times, which gives the same, since attention
// over equal rows returns that row.
func (e *encoder) context(t *autograd.Tape, s *slates, step uint64, decoder string) memory {
	if e.kind == "attention" && decoder == "transformer" {
		return memory{e.attend(t, s, step, false), s.off}
	}
	return memory{rows: e.vector(t, s, step)}
}

// vector returns one row for each slate (n, d): eq. 2, eq. 3, or the first row of the attention, that of the start
// token. An empty slate pools to 0.
func (e *encoder) vector(t *autograd.Tape, s *slates, step uint64) *autograd.Node {
	switch e.kind {
	case "mean":
		return e.scaled(t.Rows(e.items, s.tokens).SegmentMean(s.off))
	case "max":
		return e.scaled(segmentMax(t.Rows(e.items, s.tokens), s.off))
	}
	return e.attend(t, s, step, true)
}

// scaled multiplies x by the scale. Both poolings commute with it, so it can act on n rows instead of n·T.
func (e *encoder) scaled(x *autograd.Node) *autograd.Node {
	if e.scale == 1 {
		return x
	}
	return x.Scale(e.scale)
}

// attend returns the self-attention of eq. 4 to 7 over the rows of every slate. With first, it returns only
// the first row of each slate (n, d), and the last block computes no others.
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
