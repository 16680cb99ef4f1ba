// Package apgnn is A-PGNN without its history part: Zhang, Wu, Gao, Jiang, Xu,
// Wang, "Personalized Graph Neural Networks with Attention Mechanism for
// Session-Aware Recommendation", arXiv 1910.08887.
//
//	in  = A_in  (W_in  h + U_in  e_u + b_in)      rows divided by in-degree
//	out = A_out (W_out h + U_out e_u + b_out)     rows divided by out-degree
//	h'  = GRU([in ; out], h)
//
// The adjacency counts repeated transitions before it is normalised. The
// original also attends from the current to earlier sessions; Hu & Fang give
// each user one sequence and state no session split, so there are no earlier
// sessions to attend to and that part is left out. The user vector comes from
// the caller: the paper compared under "considers user profiles", the original
// learns one vector a user id.
package apgnn

import (
	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/ggnn"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// Model is A-PGNN over items 1..items with user vectors of a given width.
type Model struct {
	Item    *autograd.Param // E (items+1, d), row 0 unused
	In, Out *nn.Linear      // [W U] (d, d+d') and b
	Cell    *ggnn.Cell
	Read    *ggnn.Readout
	Steps   int // propagation steps, 1 in the original

	win, wout []tensor.Float // edge weights of the batch at hand
}

// New makes a model of item width d and user width userDim whose parameters
// init fills by name.
func New(items, d, userDim, steps int, init nn.Init) *Model {
	return &Model{
		Item:  nn.NewTableParam("item", items+1, d, init),
		In:    nn.NewLinear("in", d+userDim, d, true, init),
		Out:   nn.NewLinear("out", d+userDim, d, true, init),
		Cell:  ggnn.NewCell("cell", d, init),
		Read:  ggnn.NewReadout("read", d, userDim, init),
		Steps: steps,
	}
}

// Forward returns one vector a session (B, d) from the batch's graphs and user
// vectors (B, d').
func (m *Model) Forward(t *autograd.Tape, g *graph.Packed, user *autograd.Node) *autograd.Node {
	m.win, m.wout = g.CountWeights(m.win[:0], m.wout[:0])
	h := t.Rows(m.Item, g.Node)     // (N, d)
	each := user.Gather(g.SampleOf) // (N, d')
	for range m.Steps {
		x := h.ConcatCols(each) // (N, d+d')
		in := t.EdgeSum(m.In.Forward(t, x), g.Src, g.Dst, m.win, g.Nodes())
		out := t.EdgeSum(m.Out.Forward(t, x), g.Dst, g.Src, m.wout, g.Nodes())
		h = m.Cell.Forward(t, in.ConcatCols(out), h)
	}
	return m.Read.Forward(t, g, h, user)
}

// Params lists the parameters in a fixed order, the item table first.
func (m *Model) Params() []*autograd.Param {
	return append([]*autograd.Param{m.Item}, nn.Params(m.In, m.Out, m.Cell, m.Read)...)
}
