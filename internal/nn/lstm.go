package nn

import "privrec/internal/autograd"

// LSTMCell is one step of a long short-term memory (Hochreiter & Schmidhuber 1997, with the forget
// gate of Gers et al. 2000). The rows of the input gate i, the forget gate f, the candidate g and the
// output gate o are stacked in this order; each is W x + b + U h + b':
//
//	c' = sigmoid(f) ∘ c + sigmoid(i) ∘ tanh(g)
//	h' = sigmoid(o) ∘ tanh(c')
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

// Forward returns the next output h' and cell c' (n, d) of h and c (n, d), given x (n, in).
func (l *LSTMCell) Forward(t *autograd.Tape, x, h, c *autograd.Node) (h2, c2 *autograd.Node) {
	return l.Step(t, l.Input(t, x), h, c)
}

// Input returns the part that does not depend on the state, x·Wihᵀ + bih (n, 4d).
func (l *LSTMCell) Input(t *autograd.Tape, x *autograd.Node) *autograd.Node {
	return x.Linear(t.Use(l.Wih), t.Use(l.Bih))
}

// Step returns the next output and cell as Forward does, given gi, what Input returned.
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
