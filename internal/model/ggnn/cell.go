package ggnn

import (
	"privrec/internal/autograd"
	"privrec/internal/nn"
)

// Cell is one gated propagation step: it joins what arrived over incoming and
// outgoing edges and moves the node states by a GRU.
type Cell struct {
	GRU *nn.GRUCell // input 2d, state d
}

// NewCell makes a cell for states of width d.
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
