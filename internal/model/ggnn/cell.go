package ggnn

import (
	"privrec/internal/autograd"
	"privrec/internal/nn"
)

// Cell is one gated propagation step. From x, what arrived over incoming and
// outgoing edges, it moves the state h of a node (SR-GNN eq. 2 to 5):
//
//	z = sigmoid(Wz x + Uz h + bz)              eq. 2
//	r = sigmoid(Wr x + Ur h + br)              eq. 3
//	c = tanh(Wc x + bc + r ∘ (Uc h + b'))      eq. 4
//	h' = (1-z) ∘ h + z ∘ c                     eq. 5
//
// Departures: eq. 4 prints Uc (r ∘ h), and no equation has a bias. As in the
// released program, r acts after the product and there are biases.
type Cell struct {
	GRU *nn.GRUCell // input 2d, state d
}

// NewCell makes a cell for states of width d, which init fills by name.
func NewCell(name string, d int, init nn.Init) *Cell {
	return &Cell{GRU: nn.NewGRUCell(name, 2*d, d, nn.ResetAfter, nn.GateUpdate, init)}
}

// Forward returns the next states (N, d) of states h (N, d), given x (N, 2d):
// what arrived over incoming and over outgoing edges, side by side.
func (c *Cell) Forward(t *autograd.Tape, x, h *autograd.Node) *autograd.Node {
	return c.GRU.Forward(t, x, h)
}

// Params lists the cell's parameters in a fixed order.
func (c *Cell) Params() []*autograd.Param { return c.GRU.Params() }
