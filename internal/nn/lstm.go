package nn

import "privrec/internal/autograd"

// LSTMCell is one step of a long short-term memory (Hochreiter & Schmidhuber 1997, with the forget
// gate of Gers et al. 2000); input, forget, candidate and output are stacked in that order.
type LSTMCell struct {
	Wih, Whh *autograd.Param // (4d, in), (4d, d)
	Bih, Bhh *autograd.Param // (1, 4d)
}

// NewLSTMCell returns a cell from width in to a state of width d.
func NewLSTMCell(name string, in, d int, init Init) *LSTMCell {
	return &LSTMCell{
		Wih: NewParam(name+".Wih", 4*d, in, init), Whh: NewParam(name+".Whh", 4*d, d, init),
		Bih: NewParam(name+".bih", 1, 4*d, init), Bhh: NewParam(name+".bhh", 1, 4*d, init),
	}
}

// Forward takes x (n, in), the output h and the memory c (n, d) to the next of each:
// c' = sigmoid(f) ∘ c + sigmoid(i) ∘ tanh(g); h' = sigmoid(o) ∘ tanh(c').
func (l *LSTMCell) Forward(t *autograd.Tape, x, h, c *autograd.Node) (h2, c2 *autograd.Node) {
	return l.Step(t, l.Input(t, x), h, c)
}

// Input is the part that does not depend on the state, x·Wihᵀ + bih (n, 4d).
func (l *LSTMCell) Input(t *autograd.Tape, x *autograd.Node) *autograd.Node {
	return x.Linear(t.Use(l.Wih), t.Use(l.Bih))
}

// Step is Forward with the input's part done.
func (l *LSTMCell) Step(t *autograd.Tape, gi, h, c *autograd.Node) (h2, c2 *autograd.Node) {
	d := h.Cols()
	a := gi.Add(h.Linear(t.Use(l.Whh), t.Use(l.Bhh))) // (n, 4d)
	in, forget := a.SliceCols(0, d).Sigmoid(), a.SliceCols(d, 2*d).Sigmoid()
	candidate, out := a.SliceCols(2*d, 3*d).Tanh(), a.SliceCols(3*d, 4*d).Sigmoid()
	c2 = forget.Mul(c).Add(in.Mul(candidate))
	return out.Mul(c2.Tanh()), c2
}

// Params implements Layer.
func (l *LSTMCell) Params() []*autograd.Param {
	return []*autograd.Param{l.Wih, l.Whh, l.Bih, l.Bhh}
}
