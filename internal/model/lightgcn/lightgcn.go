// Package lightgcn is LightGCN: He, Deng, Wang, Li, Zhang, Wang, "LightGCN:
// Simplifying and Powering Graph Convolution Network for Recommendation", SIGIR
// 2020, arXiv 2002.02126. A layer adds up the neighbours of every node (eq. 3), the vector
// of a node is the weighted sum of its layers (eq. 4), and a score is an inner product
// (eq. 5):
//
//	e_u^(k+1) = sum over i in N(u) of e_i^(k) / (sqrt|N(u)| sqrt|N(i)|)    eq. 3
//	e_i^(k+1) = sum over u in N(i) of e_u^(k) / (sqrt|N(i)| sqrt|N(u)|)
//	e_u = sum over k of alpha_k e_u^(k),  e_i = sum of alpha_k e_i^(k)     eq. 4
//	y_ui = e_u · e_i                                                       eq. 5
//
// with alpha_k = 1/(layers+1). The rows e^(0) are the only parameters. The loss is that of
// package bpr (eq. 15), whose penalty is on these rows.
//
// Departures: none with the zero [graph.Normalizer], which is the factor that eq. 3 prints;
// the caller may choose another. The propagation is [nn.Propagation]; with its noise and
// its row norms the model becomes RDP-GCF.
package lightgcn

import (
	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// Cite names the publication.
const Cite = "He et al., LightGCN: Simplifying and Powering Graph Convolution Network for Recommendation, SIGIR " +
	"2020, arXiv 2002.02126"

// Model holds the tables and their propagation over the graph.
type Model struct {
	User *autograd.Param // rows e_u^(0) (users, d)
	Item *autograd.Param // rows e_i^(0) (items, d)
	Over *nn.Propagation

	z [2]tensor.Matrix // results of All
}

// New returns a model over a graph with tables of width dim, which init fills by name, and a number of layers, each of
// weight 1/(layers+1), without noise.
func New(g *graph.Bipartite, norm graph.Normalizer, layers, dim int, init nn.Init) *Model {
	return &Model{
		User: nn.NewTableParam("user", g.Users, dim, init),
		Item: nn.NewTableParam("item", g.Items, dim, init),
		Over: &nn.Propagation{Graph: g, Norm: norm, Layers: layers, Weights: nn.EvenWeights(layers), Frontier: true},
	}
}

// Params returns the tables, users first.
func (m *Model) Params() []*autograd.Param { return []*autograd.Param{m.User, m.Item} }

// Encode implements bpr.Encoder: it returns the vectors of eq. 4 and penalises the rows
// e^(0), as the released program does. It fails on a user or an item outside the graph.
func (m *Model) Encode(t *autograd.Tape, _ int, users, items []int32) (bpr.Encoded, error) {
	zu, zi, err := m.Over.Rows(t, m.User, m.Item, users, items) // (B, d), (2B, d)
	if err != nil {
		return bpr.Encoded{}, err
	}
	return bpr.Encoded{
		Users: zu, Items: zi,
		Penalised: []*autograd.Node{t.Rows(m.User, users), t.Rows(m.Item, items)},
	}, nil
}

// All returns the vectors of eq. 4 of all users (users, d) and items (items, d), valid
// until the next call.
func (m *Model) All() (users, items tensor.Matrix, err error) {
	if m.z[0].Data == nil {
		m.z = [2]tensor.Matrix{
			tensor.NewTable(m.User.Value.Rows, m.User.Value.Cols),
			tensor.NewTable(m.Item.Value.Rows, m.Item.Value.Cols),
		}
	}
	return m.z[0], m.z[1], m.Over.All(m.User.Value, m.Item.Value, m.z[0], m.z[1])
}

// Close frees the tables. The model must not be used afterwards.
func (m *Model) Close() {
	m.Over.Close()
	for _, x := range []tensor.Matrix{m.z[0], m.z[1], m.User.Value, m.Item.Value} {
		tensor.Free(x)
	}
}
