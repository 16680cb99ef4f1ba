package dipsgnn

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/ggnn"
	"privrec/internal/model/userinput"
	"privrec/internal/nn"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/tensor"
)

// Network is DIPSGNN's graph network. Shapes: N nodes and B samples in a batch, d item width,
// d' user width, D = d + d'. Source: section 4, Algorithm 4.
type Network struct {
	Item      *autograd.Param // E (|V|+1, d), row 0 unused
	In, Out   *nn.Linear      // W_in, W_out (d, D)
	Cell      *ggnn.Cell
	Read      *ggnn.Readout
	Norm      float64 // C, the norm of every row that is aggregated
	Clip      bool    // shorten rows longer than C instead of scaling every row to C
	Unbounded bool    // leave rows as they are
	Steps     int     // T
	Adjacency bool    // false: nothing but noise comes through the graph (ablation)
	Stopped   bool    // the backward pass does not go through the graph

	whole *wholeMessages // sums are exact, for noise from cryptographic bits; nil: in floating point
}

// Direction distinguishes the two noisy aggregations of a step.
type Direction int

// The two directions of eq. 5: messages along edges and against them.
const (
	Incoming Direction = iota // A_in Hb: node j receives from i for every transition i -> j
	Outgoing                  // A_out Hb: node i receives from j
)

// Perturb adds noise to the aggregated rows (N, D) of one direction of one step.
type Perturb func(y *autograd.Node, step int, dir Direction) *autograd.Node

// NewNetwork returns the network for items 1..items. init fills the parameters by name.
func NewNetwork(items int, c ModelConfig, init nn.Init) *Network {
	width := c.Dim + c.UserDim
	return &Network{
		Item:      nn.NewTableParam("item", items+1, c.Dim, init),
		In:        nn.NewLinear("in", width, c.Dim, true, init),
		Out:       nn.NewLinear("out", width, c.Dim, true, init),
		Cell:      ggnn.NewCell("cell", c.Dim, init),
		Read:      ggnn.NewReadout("read", c.Dim, c.UserDim, init),
		Norm:      c.Norm,
		Clip:      c.Normalise == NormaliseClip,
		Unbounded: c.Normalise == NormaliseNone,
		Steps:     c.Steps,
		Adjacency: c.Adjacency == AdjacencyCounts,
	}
}

// Forward returns one vector a sample (B, d), whose inner products with the rows of Item are
// the scores. user holds e_u (B, d').
//
// As in the published program the raw e_u joins the states anew in every step, and once more
// in the readout. The paper's "updated implicitly" would rescale it differently on every row.
// Candidates are the raw item rows.
func (n *Network) Forward(t *autograd.Tape, g *graph.Packed, user *autograd.Node, perturb Perturb) *autograd.Node {
	return n.forward(t, t.Rows(n.Item, g.Node), g, user,
		func(hb *autograd.Node, step int, dir Direction) *autograd.Node {
			return perturb(n.sum(t, hb, g, dir), step, dir) // (N, D), eq. 7
		})
}

// aggregate computes the aggregated rows (N, D) of one direction of one step from bounded rows (N, D).
type aggregate func(hb *autograd.Node, step int, dir Direction) *autograd.Node

// forward is Forward from initial states h (N, d).
func (n *Network) forward(t *autograd.Tape, h *autograd.Node, g *graph.Packed, user *autograd.Node,
	sum aggregate) *autograd.Node {
	each := user.Gather(g.SampleOf) // (N, d')
	for step := range n.Steps {
		hb := n.bound(h.ConcatCols(each)) // (N, D), eq. 6
		in, out := sum(hb, step, Incoming), sum(hb, step, Outgoing)
		state := hb.SliceCols(0, n.Item.Value.Cols)           // (N, d): the bounded state moves on, not h
		x := t.ConcatLinear(n.In.On(t, in), n.Out.On(t, out)) // (N, 2d), eq. 8
		h = n.Cell.Forward(t, x, state)                       // eq. 9
	}
	return n.Read.Forward(t, g, h, user) // eq. 10-11
}

// minNorm keeps a zero row at zero instead of dividing by its norm.
const minNorm = 1e-12

// bound gives every row of x norm Norm, or at most Norm under Clip. Either way one transition
// moves an aggregated row by at most C.
func (n *Network) bound(x *autograd.Node) *autograd.Node {
	switch {
	case n.Unbounded:
		return x
	case n.Clip:
		return x.ClipRows(n.Norm)
	}
	return x.NormalizeRows(n.Norm, minNorm)
}

// sum returns for each node the sum of the bounded rows of its neighbours along dir, weighted by raw transition counts;
// zero without an adjacency. Source: equations (4) and (5).
func (n *Network) sum(t *autograd.Tape, hb *autograd.Node, g *graph.Packed, dir Direction) *autograd.Node {
	src, dst := g.Src, g.Dst
	if dir == Outgoing {
		src, dst = dst, src
	}
	if !n.Adjacency {
		src, dst = nil, nil
	}
	if n.whole != nil {
		hb = n.whole.messages(t, hb)
	} else if n.Stopped {
		hb = t.Const(hb.V)
	}
	return t.EdgeSum(hb, src, dst, nil, g.Nodes())
}

// Params returns the parameters in a fixed order, the item table first.
func (n *Network) Params() []*autograd.Param {
	return append([]*autograd.Param{n.Item}, nn.Params(n.In, n.Out, n.Cell, n.Read)...)
}

// noisy is the network with its user vectors and the noise of a run. It implements nextitem.Network.
type noisy struct {
	*Network
	user  *userinput.Input
	noise func(q *nextitem.Part) (noise, error) // of a part's aggregations; nil: never any
	// graphs returns the released graphs of a part, which replace noisy aggregations; nil: none are released.
	graphs func(q *nextitem.Part) (*graphNoise, error)
	inputs Inputs // nil: the rows of the items
}

// Inputs returns the initial states (N, d) of the nodes of a step.
type Inputs func(t *autograd.Tape, s *nextitem.Step) *autograd.Node

// WithoutNoise returns the network with its user vectors and without noise on messages, also in training.
func WithoutNoise(n *Network, user *userinput.Input) nextitem.Network {
	return &noisy{Network: n, user: user}
}

// OnInputs returns the network with its user vectors and without noise on messages. Nodes begin with the given states,
// and item vectors serve only for ranking.
func OnInputs(n *Network, user *userinput.Input, inputs Inputs) nextitem.Network {
	return &noisy{Network: n, user: user, inputs: inputs}
}

// noise adds the noise of a mechanism to aggregated messages.
type noise interface {
	// begin sets the pass and the samples of the following calls.
	begin(pass nextitem.Pass, samples []int32, g *graph.Packed) Perturb
	// end returns the first error since begin.
	end() error
}

// silent adds no noise.
func silent(y *autograd.Node, _ int, _ Direction) *autograd.Node { return y }

// Items implements nextitem.Network.
func (n *noisy) Items() *autograd.Param { return n.Item }

// Params implements nextitem.Network.
func (n *noisy) Params() []*autograd.Param { return append(n.Network.Params(), n.user.Table) }

// Forward implements nextitem.Network.
func (n *noisy) Forward(t *autograd.Tape, s *nextitem.Step) (*autograd.Node, error) {
	user := n.user.Vectors(t, s.Users)
	if n.inputs != nil {
		return n.forward(t, n.inputs(t, s), s.Graph, user,
			func(hb *autograd.Node, _ int, dir Direction) *autograd.Node { return n.sum(t, hb, s.Graph, dir) }), nil
	}
	if n.graphs != nil && s.Noisy {
		return n.onReleased(t, s, user)
	}
	if n.noise == nil || !s.Noisy {
		return n.Network.Forward(t, s.Graph, user, silent), nil
	}
	a, err := n.noise(s.Part)
	if err != nil {
		return nil, err
	}
	g := s.Graph
	if n.whole != nil {
		if g, err = sorted(g); err != nil {
			return nil, err
		}
	}
	z := n.Network.Forward(t, g, user, a.begin(s.Pass, s.Samples, g))
	return z, a.end()
}

// onReleased computes the session vectors of a step on the released graphs.
func (n *noisy) onReleased(t *autograd.Tape, s *nextitem.Step, user *autograd.Node) (*autograd.Node, error) {
	g, err := n.graphs(s.Part)
	if err != nil {
		return nil, err
	}
	m, err := g.matrices(t, s.Graph, s.Part.Samples, s.Samples, n.Adjacency)
	if err != nil {
		return nil, err
	}
	return n.forward(t, t.Rows(n.Item, s.Graph.Node), s.Graph, user,
		func(hb *autograd.Node, _ int, dir Direction) *autograd.Node { return m.sum(t, hb, dir) }), nil
}

// aggregationNoise adds independent normal noise to every coordinate of every aggregated row, in both directions. It is
// fresh for every sample, step and pass, in training and, if asked for, in evaluation. Source: equation (7).
//
// Noise is keyed by pass, step, sample and node within the sample, so it does not depend on the composition of batches.
type aggregationNoise struct {
	to     [2]*channel.Channel[tensor.Float] // by Direction
	period func(pass nextitem.Pass) error    // told before the releases of a pass
	show   func() error                      // told of a release before its noise is drawn; may be nil

	pass    uint64
	samples []int32
	graph   *graph.Packed
	err     error
}

// rowsAtOnce is the number of rows of noise that one parallel unit draws.
const rowsAtOnce = 32

func (a *aggregationNoise) begin(pass nextitem.Pass, samples []int32, g *graph.Packed) Perturb {
	a.pass, a.samples, a.graph, a.err = uint64(pass), samples, g, a.period(pass)
	return a.perturb
}

func (a *aggregationNoise) end() error { return a.err }

// perturb releases one direction of one step.
func (a *aggregationNoise) perturb(y *autograd.Node, step int, dir Direction) *autograd.Node {
	return y.AddNoise("gaussian", func(data []tensor.Float, rows, cols int) {
		if a.err == nil {
			a.err = a.release(a.to[dir], data, rows, cols, uint64(step))
		}
	})
}

func (a *aggregationNoise) release(c *channel.Channel[tensor.Float], data []tensor.Float, rows, cols int,
	step uint64) error {
	r, err := c.Start(a.samples, rows, cols, a.pass, step)
	if err == nil && a.show != nil {
		err = a.show()
	}
	if err != nil {
		return fmt.Errorf("noise of step %d: %w", step+1, err)
	}
	g := a.graph
	tensor.Parallel(rows, rowsAtOnce, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			sample := g.SampleOf[i]
			r.RowAt(i, data[i*cols:(i+1)*cols], int(sample), uint64(int32(i)-g.NodeOff[sample]))
		}
	})
	if err := r.Finish(); err != nil {
		return fmt.Errorf("noise of step %d: %w", step+1, err)
	}
	return nil
}
