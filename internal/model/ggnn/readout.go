package ggnn

import (
	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// Readout turns node states into one vector z for each session. Every position p attends to the last position L. The
// attention weighs the sum of all positions without a softmax. The sum is joined with the last state and, if the model
// has one, the user's vector e_u:
//
//	alpha_p = q · sigmoid(W1 s_L + W2 s_p + c)          SR-GNN eq. 6; Hu & Fang eq. 10
//	z = W3 [ sum over p of alpha_p s_p ; s_L ; e_u ] + b     SR-GNN eq. 7; Hu & Fang eq. 11
//
// s_p is the state of the node at position p. Departure: the papers print the bias c and not b; as in the released
// programs both are there.
type Readout struct {
	Last  *nn.Linear      // W1 (d, d), without a bias, which would only add to c
	Each  *nn.Linear      // W2 (d, d) and c
	Query *autograd.Param // q (1, d)
	Join  *nn.Linear      // W3 (d, 2d + user width)
}

// NewReadout returns a readout for states of width d and user vectors of width userDim, which is 0 for models without
// users.
func NewReadout(name string, d, userDim int, init nn.Init) *Readout {
	return &Readout{
		Last:  nn.NewLinear(name+".last", d, d, false, init),
		Each:  nn.NewLinear(name+".each", d, d, true, init),
		Query: nn.NewParam(name+".query", 1, d, init),
		Join:  nn.NewLinear(name+".join", 2*d+userDim, d, true, init),
	}
}

// Forward returns one vector for each session (B, d) from node states h (N, d) and user vectors (B, user width), nil
// for models without users.
//
// A position's attention depends only on its node and its session. So it is computed once per node and multiplied by
// the number of positions that hold the node.
func (r *Readout) Forward(t *autograd.Tape, g *graph.Packed, h, user *autograd.Node) *autograd.Node {
	last := h.Gather(g.Last)                                                    // (B, d)
	key := r.Each.Forward(t, h).Add(r.Last.Forward(t, last).Gather(g.SampleOf)) // (N, d)
	alpha := key.Sigmoid().MatMulT(t.Use(r.Query))                              // (N, 1)
	alpha = alpha.Mul(t.Const(tensor.Matrix{Rows: g.Nodes(), Cols: 1, Stride: 1, Data: g.Count}))
	pooled := h.MulCol(alpha).SegmentSum(g.NodeOff) // (B, d)
	joined := pooled.ConcatCols(last)               // (B, 2d)
	if user != nil {
		joined = pooled.ConcatCols(last, user) // (B, 2d + user width)
	}
	return r.Join.Forward(t, joined)
}

// Params returns the readout's parameters in a fixed order.
func (r *Readout) Params() []*autograd.Param {
	params := append(nn.Params(r.Last, r.Each), r.Query)
	return append(params, r.Join.Params()...)
}

// Cell is one gated propagation step. It moves the state h of a node by x, the aggregates over its incoming and
// outgoing edges (SR-GNN eq. 2 to 5):
//
//	z = sigmoid(Wz x + Uz h + bz)              eq. 2
//	r = sigmoid(Wr x + Ur h + br)              eq. 3
//	c = tanh(Wc x + bc + r ∘ (Uc h + b'))      eq. 4
//	h' = (1-z) ∘ h + z ∘ c                     eq. 5
//
// Departures: eq. 4 prints Uc (r ∘ h), and no equation has a bias. As in the released program, r acts after the product
// and there are biases.
type Cell struct {
	GRU *nn.GRUCell // input 2d, state d
}

// NewCell returns a cell for states of width d, which init fills by name.
func NewCell(name string, d int, init nn.Init) *Cell {
	return &Cell{GRU: nn.NewGRUCell(name, 2*d, d, nn.ResetAfter, nn.GateUpdate, init)}
}

// Forward returns the next states (N, d) of states h (N, d), given x (N, 2d): the aggregates over incoming and over
// outgoing edges, side by side.
func (c *Cell) Forward(t *autograd.Tape, x, h *autograd.Node) *autograd.Node {
	return c.GRU.Forward(t, x, h)
}

// Params returns the cell's parameters in a fixed order.
func (c *Cell) Params() []*autograd.Param { return c.GRU.Params() }
