package nn

import (
	"privrec/internal/autograd"
)

// Reset names the place where the reset gate of a GRU acts.
type Reset int

const (
	// ResetAfter applies the gate to the product with the state's weights:
	// c = tanh(W x + b + r ∘ (U h + b')). PyTorch, cuDNN and the released SR-GNN do so.
	ResetAfter Reset = iota
	// ResetBefore applies the gate to the state: c = tanh(W x + b + U (r ∘ h) + b'), as in Cho et al.
	// 2014, equation 8.
	ResetBefore
)

// Gate names the state that an open z gate of a GRU lets through.
type Gate int

const (
	// GateKeep keeps the old state: h' = (1-z) ∘ c + z ∘ h (PyTorch, cuDNN, Cho et al. 2014).
	GateKeep Gate = iota
	// GateUpdate takes the new state: h' = (1-z) ∘ h + z ∘ c (Chung et al. 2014; equation 5 of SR-GNN,
	// though not its code; DIPSGNN). The two values differ by the sign of z's weights.
	GateUpdate
)

// GRUCell is one step of a gated recurrent unit. The rows of r, z and the candidate c are stacked in
// this order:
//
//	r = sigmoid(Wr x + br + Ur h + b'r), z = sigmoid(Wz x + bz + Uz h + b'z)
//
// c is as [Reset] says, and the next state h' as [Gate] says.
type GRUCell struct {
	Wih, Whh *autograd.Param // (3d, in), (3d, d)
	Bih, Bhh *autograd.Param // (1, 3d)
	Reset    Reset
	Gate     Gate
}

// NewGRUCell returns a cell from width in to a state of width d.
func NewGRUCell(name string, in, d int, reset Reset, gate Gate, init Init) *GRUCell {
	return &GRUCell{
		Wih: NewParam(name+".Wih", 3*d, in, init), Whh: NewParam(name+".Whh", 3*d, d, init),
		Bih: NewParam(name+".bih", 1, 3*d, init), Bhh: NewParam(name+".bhh", 1, 3*d, init),
		Reset: reset, Gate: gate,
	}
}

// Forward returns the next state (n, d) of the state h (n, d), given x (n, in).
func (c *GRUCell) Forward(t *autograd.Tape, x, h *autograd.Node) *autograd.Node {
	return c.Step(t, c.Input(t, x), h)
}

// Input returns the part that does not depend on the state, x·Wihᵀ + bih (n, 3d). It can be computed
// for all steps of a sequence at once.
func (c *GRUCell) Input(t *autograd.Tape, x *autograd.Node) *autograd.Node {
	return x.Linear(t.Use(c.Wih), t.Use(c.Bih))
}

// Step returns the next state like Forward, given gi, a result of Input.
func (c *GRUCell) Step(t *autograd.Tape, gi, h *autograd.Node) *autograd.Node {
	w, b, d := t.Use(c.Whh), t.Use(c.Bhh), h.Cols()
	if c.Reset == ResetAfter {
		return t.GRUGates(gi, h.Linear(w, b), h, c.Gate == GateUpdate)
	}
	rz := gi.SliceCols(0, 2*d).Add(h.Linear(w.SliceRows(0, 2*d), b.SliceCols(0, 2*d))).Sigmoid() // (n, 2d)
	r, z := rz.SliceCols(0, d), rz.SliceCols(d, 2*d)
	u := r.Mul(h).Linear(w.SliceRows(2*d, 3*d), b.SliceCols(2*d, 3*d))
	n := gi.SliceCols(2*d, 3*d).Add(u).Tanh()
	if c.Gate == GateUpdate {
		return h.Add(z.Mul(n.Sub(h)))
	}
	return n.Add(z.Mul(h.Sub(n)))
}

// States returns the states after every step of some sequences, each from state 0, given gi, a result of Input for all
// steps (N, d). Rows start[p] to start[p+1] are step p, longest sequence first, as autograd.Tape.GRUStates says. A cell
// with ResetBefore needs GateUpdate.
func (c *GRUCell) States(t *autograd.Tape, gi *autograd.Node, start []int) *autograd.Node {
	w, b := t.Use(c.Whh), t.Use(c.Bhh)
	switch {
	case c.Reset == ResetAfter:
		return t.GRUStates(gi, w, b, start, c.Gate == GateUpdate)
	case c.Gate != GateUpdate:
		panic("nn: GRUCell.States of a cell with ResetBefore and GateKeep")
	}
	return t.GRUStatesBefore(gi, w, b, start)
}

// Params implements Layer.
func (c *GRUCell) Params() []*autograd.Param {
	return []*autograd.Param{c.Wih, c.Whh, c.Bih, c.Bhh}
}

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

// Step returns the next output and cell like Forward, given gi, a result of Input.
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
