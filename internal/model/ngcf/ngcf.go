// Package ngcf is NGCF: Wang, He, Wang, Feng, Chua, "Neural Graph Collaborative
// Filtering", SIGIR 2019, arXiv 1905.08108. A layer adds up messages of the
// neighbours and of the node itself (eq. 3-7), in matrix form
//
//	S = Lap E;  E' = LeakyReLU(S W1 + b1 + (E ∘ S) W2 + b2)
//
// and the vector of a node is its row and the rows of all layers, each of length 1,
// side by side.
//
// As in the released program, Lap is the row-stochastic (A + I), not the symmetric
// one that eq. 8 prints; the layers hand on rows that are not normalised; node
// dropout drops entries of Lap, once a step for all layers; and the penalty is on
// the final vectors. Unlike it, which takes LeakyReLU of each of the two terms of a
// layer, LeakyReLU is that of their sum, as eq. 3 and 7 print.
package ngcf

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Cite is the publication.
const Cite = "Wang et al., Neural Graph Collaborative Filtering, SIGIR 2019, arXiv 1905.08108"

// slope is that of LeakyReLU below 0.
const slope = 0.2

// shortest is the length under which a row is not normalised further.
const shortest = 1e-12

// Config is the model's shape.
type Config struct {
	Dim            int     // of the tables and of every layer
	Layers         int     // at least 1
	MessageDropout float64 // of the outputs of a layer, in [0,1)
	NodeDropout    float64 // of the entries of Lap, in [0,1)
}

// Model is NGCF over a graph.
type Model struct {
	User *autograd.Param // E_U (users, d)
	Item *autograd.Param // E_P (items, d)
	Sum  []*nn.Linear    // W1, b1 of every layer (d, d)
	Bi   []*nn.Linear    // W2, b2 of every layer (d, d)

	c    Config
	seed rng.Seed
	lap  *laplacian
	tape *autograd.Tape // of All
}

// New makes a model whose parameters init fills by name; seed is that of the
// dropouts.
func New(g *graph.Bipartite, c Config, seed rng.Seed, init nn.Init) (*Model, error) {
	for _, p := range []float64{c.MessageDropout, c.NodeDropout} {
		if !(p >= 0 && p < 1) {
			return nil, fmt.Errorf("ngcf: dropout of %v, want one in [0,1)", p)
		}
	}
	if c.Dim < 1 || c.Layers < 1 {
		return nil, fmt.Errorf("ngcf: %d layers of width %d, want at least 1 of each", c.Layers, c.Dim)
	}
	m := &Model{
		User: nn.NewTableParam("user", g.Users, c.Dim, init),
		Item: nn.NewTableParam("item", g.Items, c.Dim, init),
		c:    c, seed: seed, lap: newLaplacian(g),
	}
	for l := range c.Layers {
		m.Sum = append(m.Sum, nn.NewLinear(fmt.Sprintf("sum%d", l+1), c.Dim, c.Dim, true, init))
		m.Bi = append(m.Bi, nn.NewLinear(fmt.Sprintf("bi%d", l+1), c.Dim, c.Dim, true, init))
	}
	return m, nil
}

// Params lists the parameters in a fixed order, the tables first.
func (m *Model) Params() []*autograd.Param {
	p := []*autograd.Param{m.User, m.Item}
	for l := range m.Sum {
		p = append(p, nn.Params(m.Sum[l], m.Bi[l])...)
	}
	return p
}

// Encode implements bpr.Encoder: the final vectors, (layers+1) d wide, penalised.
func (m *Model) Encode(t *autograd.Tape, step int, users, items []int32) (bpr.Encoded, error) {
	layers := m.forward(t, step) // of all nodes, (users, d) and (items, d)
	u, p := m.vectors(t, layers, 0, users), m.vectors(t, layers, 1, items)
	return bpr.Encoded{Users: u, Items: p, Penalised: []*autograd.Node{u, p}}, nil
}

// forward returns the rows of every layer, the tables included, not normalised.
func (m *Model) forward(t *autograd.Tape, step int) [][2]*autograd.Node {
	m.lap.drop(t.Training(), m.c.NodeDropout, m.seed.Stream("ngcf.node", uint64(step)))
	e := [2]*autograd.Node{t.Use(m.User), t.Use(m.Item)}
	out := [][2]*autograd.Node{e}
	for l := range m.Sum {
		var next [2]*autograd.Node
		for side := range next {
			to, from := e[side], e[1-side]
			s := t.SpMM(m.lap.to[side], m.lap.back[side], from).Add(to.MulCol(t.Const(m.lap.own[side])))
			x := leaky(m.Sum[l].Forward(t, s).Add(m.Bi[l].Forward(t, to.Mul(s)))) // (nodes, d)
			next[side] = x.Dropout(m.c.MessageDropout, m.seed.Stream("ngcf.message", uint64(step), uint64(l), uint64(side)))
		}
		e = next
		out = append(out, e)
	}
	return out
}

// vectors gathers the final vectors of some nodes of a side: the row of the table,
// then those of the layers, each of length 1.
func (m *Model) vectors(t *autograd.Tape, layers [][2]*autograd.Node, side int, nodes []int32) *autograd.Node {
	first := layers[0][side].Gather(nodes) // (len(nodes), d)
	var rest []*autograd.Node
	for _, l := range layers[1:] {
		rest = append(rest, l[side].Gather(nodes).NormalizeRows(1, shortest))
	}
	return first.ConcatCols(rest...)
}

// leaky is LeakyReLU.
func leaky(x *autograd.Node) *autograd.Node {
	t := x.Tape()
	y := t.Fused("leakyReLU", x.Rows(), x.Cols(), x)
	const grain = 1 << 14
	tensor.Parallel(len(y.V.Data), grain, func(_, lo, hi int) {
		for i, v := range x.V.Data[lo:hi] {
			y.V.Data[lo+i] = max(v, slope*v)
		}
	})
	return t.Custom("leakyReLU", y, func() {
		dx, dy := x.AddGrad(), y.G
		tensor.Parallel(len(y.V.Data), grain, func(_, lo, hi int) {
			for i, v := range x.V.Data[lo:hi] {
				if v > 0 {
					dx.Data[lo+i] += dy.Data[lo+i]
				} else {
					dx.Data[lo+i] += slope * dy.Data[lo+i]
				}
			}
		})
	})
}

// All returns the final vectors of all users and items, without dropout, valid
// until the next call.
func (m *Model) All() (users, items tensor.Matrix) {
	if m.tape == nil {
		m.tape = autograd.NewTape()
	}
	t := m.tape
	t.Reset()
	t.NoGrad = true
	t.SetTraining(false)
	layers := m.forward(t, 0)
	return m.vectors(t, layers, 0, ids(m.User.Value.Rows)).V, m.vectors(t, layers, 1, ids(m.Item.Value.Rows)).V
}

func ids(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}
