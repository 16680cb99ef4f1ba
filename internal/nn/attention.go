package nn

import "privrec/internal/autograd"

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
