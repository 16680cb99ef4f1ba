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
	net  *network
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
	m.net = newNetwork(m)
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

// Encode implements bpr.Encoder: the final vectors, (layers+1) d wide, penalised. The
// way back must run before the next call of a method.
func (m *Model) Encode(t *autograd.Tape, step int, users, items []int32) (bpr.Encoded, error) {
	for side, batch := range [2][]int32{users, items} {
		for _, v := range batch {
			if v < 0 || int(v) >= m.params(side).Rows {
				return bpr.Encoded{}, fmt.Errorf("ngcf: %s %d is outside 0..%d", [2]string{"user", "item"}[side], v, m.params(side).Rows-1)
			}
		}
	}
	raw := m.net.rows(t, step, users, items) // (len(users)+len(items), (layers+1) d)
	u, p := m.vectors(raw.SliceRows(0, len(users))), m.vectors(raw.SliceRows(len(users), raw.Rows()))
	return bpr.Encoded{Users: u, Items: p, Penalised: []*autograd.Node{u, p}}, nil
}

// vectors are the final ones of raw rows: the row of the table, then those of the layers,
// each of length 1.
func (m *Model) vectors(raw *autograd.Node) *autograd.Node {
	d := m.c.Dim
	var rest []*autograd.Node
	for l := 1; l <= m.c.Layers; l++ {
		rest = append(rest, raw.SliceCols(l*d, (l+1)*d).NormalizeRows(1, shortest))
	}
	return raw.SliceCols(0, d).ConcatCols(rest...)
}

// All returns the final vectors of all users and items, without dropout, valid
// until the next call of a method.
func (m *Model) All() (users, items tensor.Matrix) {
	z := m.net.all()
	return z[0], z[1]
}
