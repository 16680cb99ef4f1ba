// Package lightgcn is LightGCN: He, Deng, Wang, Li, Zhang, Wang, "LightGCN:
// Simplifying and Powering Graph Convolution Network for Recommendation", SIGIR
// 2020, arXiv 2002.02126. A vector is the weighted sum of a row and of what its
// neighbourhoods add up to (eq. 3-4); nothing but the rows is trained.
//
// The propagation is [nn.Propagation], whose noise and row norms make RDP-GCF of it.
package lightgcn

import (
	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// Cite is the publication.
const Cite = "He et al., LightGCN: Simplifying and Powering Graph Convolution Network for Recommendation, SIGIR 2020, arXiv 2002.02126"

// Model is the tables and their propagation.
type Model struct {
	User *autograd.Param // E_U (users, d)
	Item *autograd.Param // E_P (items, d)
	Over *nn.Propagation

	z [2]tensor.Matrix // of All
}

// New makes a model over a graph with weights 1/(1+layers), without noise; init
// fills the tables by name.
func New(g *graph.Bipartite, norm graph.Normalizer, layers, dim int, init nn.Init) *Model {
	return &Model{
		User: nn.NewTableParam("user", g.Users, dim, init),
		Item: nn.NewTableParam("item", g.Items, dim, init),
		Over: &nn.Propagation{Graph: g, Norm: norm, Layers: layers, Weights: nn.EvenWeights(layers), Frontier: true},
	}
}

// Params lists the tables, users first.
func (m *Model) Params() []*autograd.Param { return []*autograd.Param{m.User, m.Item} }

// Encode implements bpr.Encoder: rows of Z; the raw rows are penalised, as the
// released program does.
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

// All returns Z of all users (users, d) and items (items, d), valid until the next
// call.
func (m *Model) All() (users, items tensor.Matrix, err error) {
	if m.z[0].Data == nil {
		m.z = [2]tensor.Matrix{
			tensor.NewTable(m.User.Value.Rows, m.User.Value.Cols),
			tensor.NewTable(m.Item.Value.Rows, m.Item.Value.Cols),
		}
	}
	return m.z[0], m.z[1], m.Over.All(m.User.Value, m.Item.Value, m.z[0], m.z[1])
}

// Close gives the tables back; the model is unusable afterwards.
func (m *Model) Close() {
	m.Over.Close()
	for _, x := range []tensor.Matrix{m.z[0], m.z[1], m.User.Value, m.Item.Value} {
		tensor.Free(x)
	}
}
