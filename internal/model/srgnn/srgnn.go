// Package srgnn is SR-GNN: Wu, Tang, Zhu, Wang, Xie, Tan, "Session-based
// Recommendation with Graph Neural Networks", AAAI 2019, arXiv 1811.00855.
//
//	in  = A_in  (W_in  h + b_in)  + c_in      eq. 1, rows of A_in divided by in-degree
//	out = A_out (W_out h + b_out) + c_out     eq. 1, rows of A_out divided by out-degree
//	h'  = Cell([in ; out], h)                 eq. 2 to 5, see ggnn.Cell
//	z   = Readout(h')                         eq. 6 and 7, see ggnn.Readout
//	score of item i = z · row of i            eq. 8
//
// h holds the rows of the session's items, one a node. The adjacency is binary:
// an edge that a session repeats counts once.
//
// Departures: eq. 1 has one bias, added after the sum, where the released
// program has the two biases above.
package srgnn

import (
	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/ggnn"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// Model is SR-GNN over items 1..items.
type Model struct {
	Item            *autograd.Param // E (items+1, d), row 0 unused
	In, Out         *nn.Linear      // W (d, d), b
	BiasIn, BiasOut *autograd.Param // c (1, d)
	Cell            *ggnn.Cell
	Read            *ggnn.Readout
	Steps           int // propagation steps, 1 in the paper

	win, wout []tensor.Float // edge weights of the batch at hand
}

// New returns a model over items 1..items, of width d, with a number of propagation steps; init fills its parameters by
// name.
func New(items, d, steps int, init nn.Init) *Model {
	return &Model{
		Item:    nn.NewTableParam("item", items+1, d, init),
		In:      nn.NewLinear("in", d, d, true, init),
		Out:     nn.NewLinear("out", d, d, true, init),
		BiasIn:  nn.NewParam("in.after", 1, d, init),
		BiasOut: nn.NewParam("out.after", 1, d, init),
		Cell:    ggnn.NewCell("cell", d, init),
		Read:    ggnn.NewReadout("read", d, 0, init),
		Steps:   steps,
	}
}

// Forward returns one vector z for each session (B, d). Its inner products with the rows of Item are the scores.
func (m *Model) Forward(t *autograd.Tape, g *graph.Packed) *autograd.Node {
	m.win, m.wout = g.BinaryWeights(m.win[:0], m.wout[:0])
	h := t.Rows(m.Item, g.Node) // (N, d)
	for range m.Steps {
		in := t.EdgeSum(m.In.Forward(t, h), g.Src, g.Dst, m.win, g.Nodes()).AddRow(t.Use(m.BiasIn))
		out := t.EdgeSum(m.Out.Forward(t, h), g.Dst, g.Src, m.wout, g.Nodes()).AddRow(t.Use(m.BiasOut))
		h = m.Cell.Forward(t, in.ConcatCols(out), h)
	}
	return m.Read.Forward(t, g, h, nil)
}

// Items returns the table of items.
func (m *Model) Items() *autograd.Param { return m.Item }

// Params returns the parameters in a fixed order, the item table first.
func (m *Model) Params() []*autograd.Param {
	params := []*autograd.Param{m.Item, m.BiasIn, m.BiasOut}
	return append(params, nn.Params(m.In, m.Out, m.Cell, m.Read)...)
}
