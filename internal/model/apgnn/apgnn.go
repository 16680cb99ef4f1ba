// Package apgnn is A-PGNN without its history part: Zhang, Wu, Gao, Jiang, Xu,
// Wang, "Personalized Graph Neural Networks with Attention Mechanism for
// Session-Aware Recommendation", arXiv 1910.08887.
//
//	in  = A_in  (W_in  h + U_in  e_u + b_in)      rows of A_in divided by in-degree
//	out = A_out (W_out h + U_out e_u + b_out)     rows of A_out divided by out-degree
//	h'  = Cell([in ; out], h)                     see ggnn.Cell
//	z   = Readout(h', e_u)                        see ggnn.Readout
//	score of item i = z · row of i
//
// h holds the rows of the session's items, one a node, and e_u is the user's
// vector. The adjacency counts repeated transitions before it is normalised.
//
// Departures: the original also attends from the current session to earlier
// ones. Hu & Fang, who compare with it, give each user one sequence and state no
// session split, so there are no earlier sessions and that part is left out. The
// user vector comes from the caller: Hu & Fang say that the model considers
// user profiles, where the original learns one vector a user id.
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

// New returns a model over items 1..items, of item width d and user width userDim, with a number of propagation steps;
// init fills its parameters by name.
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

// Forward returns one vector z for each session (B, d) from the batch's graphs and user vectors (B, d'). Its inner
// products with the rows of Item are the scores.
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

// Params returns the parameters in a fixed order, the item table first.
func (m *Model) Params() []*autograd.Param {
	return append([]*autograd.Param{m.Item}, nn.Params(m.In, m.Out, m.Cell, m.Read)...)
}
