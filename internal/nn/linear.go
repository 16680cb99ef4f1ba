package nn

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Linear is the layer y = x·Wᵀ + B.
type Linear struct {
	W *autograd.Param // (out, in)
	B *autograd.Param // (1, out); nil without bias
}

// NewLinear returns a linear layer from width in to width out. init fills the weights and, if there is
// one, the bias.
func NewLinear(name string, in, out int, bias bool, init Init) *Linear {
	l := &Linear{W: NewParam(name+".W", out, in, init)}
	if bias {
		l.B = NewParam(name+".b", 1, out, init)
	}
	return l
}

// Forward maps x (n, in) to (n, out).
func (l *Linear) Forward(t *autograd.Tape, x *autograd.Node) *autograd.Node {
	a := l.On(t, x)
	return a.X.Linear(a.W, a.B)
}

// On returns the layer applied to x, as a part of Tape.ConcatLinear.
func (l *Linear) On(t *autograd.Tape, x *autograd.Node) autograd.Affine {
	a := autograd.Affine{X: x, W: t.Use(l.W)}
	if l.B != nil {
		a.B = t.Use(l.B)
	}
	return a
}

// Params implements Layer.
func (l *Linear) Params() []*autograd.Param {
	if l.B == nil {
		return []*autograd.Param{l.W}
	}
	return []*autograd.Param{l.W, l.B}
}

// MLP is several linear layers with an activation between them and none after the last.
type MLP struct {
	Layers []*Linear
	Act    func(*autograd.Node) *autograd.Node // (*autograd.Node).ReLU and the like
}

// NewMLP returns an MLP through the given widths, input first.
func NewMLP(name string, widths []int, act func(*autograd.Node) *autograd.Node, init Init) *MLP {
	m := &MLP{Act: act}
	for i := range len(widths) - 1 {
		m.Layers = append(m.Layers, NewLinear(fmt.Sprintf("%s.%d", name, i), widths[i], widths[i+1], true, init))
	}
	return m
}

// Forward maps x (n, first width) to (n, last width).
func (m *MLP) Forward(t *autograd.Tape, x *autograd.Node) *autograd.Node {
	for i, l := range m.Layers {
		if x = l.Forward(t, x); i < len(m.Layers)-1 {
			x = m.Act(x)
		}
	}
	return x
}

// Params implements Layer.
func (m *MLP) Params() []*autograd.Param {
	var all []*autograd.Param
	for _, l := range m.Layers {
		all = append(all, l.Params()...)
	}
	return all
}

// Attention is multi-head attention (Vaswani et al. 2017, section 3.2) over packed segments.
type Attention struct {
	Query, Key, Value, Out *Linear
	Heads                  int
	Causal                 bool
}

// NewAttention returns attention of width d in and out; heads must divide d.
func NewAttention(name string, d, heads int, causal bool, init Init) *Attention {
	return &Attention{
		Query: NewLinear(name+".query", d, d, true, init), Key: NewLinear(name+".key", d, d, true, init),
		Value: NewLinear(name+".value", d, d, true, init), Out: NewLinear(name+".out", d, d, true, init),
		Heads: heads, Causal: causal,
	}
}

// Forward lets each row of x attend to the rows of its own segment of memory, which may be x
// itself. xOff and memoryOff are the segments' offsets; memoryOff nil means the same as xOff.
func (a *Attention) Forward(t *autograd.Tape, x, memory *autograd.Node, xOff, memoryOff []int32) *autograd.Node {
	q, k, v := a.Query.Forward(t, x), a.Key.Forward(t, memory), a.Value.Forward(t, memory)
	y := t.Attention(q, k, v, autograd.AttentionShape{Query: xOff, Key: memoryOff, Heads: a.Heads, Causal: a.Causal})
	return a.Out.Forward(t, y)
}

// Params implements Layer.
func (a *Attention) Params() []*autograd.Param { return Params(a.Query, a.Key, a.Value, a.Out) }

// LayerNorm normalises each row to mean 0 and variance 1, then scales and shifts it
// (Ba, Kiros & Hinton 2016).
type LayerNorm struct {
	Gain, Shift *autograd.Param // (1, d), starting at 1 and 0
	Eps         float64         // added to the variance; 0 means autograd.LayerNormEps
}

// NewLayerNorm returns layer normalisation of width d.
func NewLayerNorm(name string, d int) *LayerNorm {
	ones := func(m tensor.Matrix, _ string) { each(m, func() float64 { return 1 }) }
	return &LayerNorm{Gain: NewParam(name+".gain", 1, d, ones), Shift: NewParam(name+".shift", 1, d, Zeros)}
}

// Forward normalises the rows of x (n, d).
func (l *LayerNorm) Forward(t *autograd.Tape, x *autograd.Node) *autograd.Node {
	eps := l.Eps
	if eps == 0 {
		eps = autograd.LayerNormEps
	}
	return x.LayerNormWith(t.Use(l.Gain), t.Use(l.Shift), eps)
}

// Params implements Layer.
func (l *LayerNorm) Params() []*autograd.Param { return []*autograd.Param{l.Gain, l.Shift} }

// Dropout sets elements to zero in training. Its masks depend on the seed, its name and the indices
// that Forward gets.
type Dropout struct {
	Rate   float64 // probability of zero, in [0, 1)
	stream rng.Stream
}

// NewDropout returns dropout that draws its masks from a stream of its own, by its name.
func NewDropout(name string, rate float64, seed rng.Seed) *Dropout {
	return &Dropout{Rate: rate, stream: seed.Stream("dropout/" + name)}
}

// Forward drops elements of x by the mask of the given indices: the global step and, where a tape holds
// part of a batch, the number of the part.
func (d *Dropout) Forward(t *autograd.Tape, x *autograd.Node, index ...uint64) *autograd.Node {
	return x.Dropout(d.Rate, d.stream.Sub(index...))
}

// Params implements Layer. Dropout has no parameters.
func (d *Dropout) Params() []*autograd.Param { return nil }
