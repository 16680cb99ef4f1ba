package rdpgcf

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/protocol/topn"
	"privrec/internal/tensor"
)

// sampledGraph is RDP-GCF whose training steps propagate over the positive pairs of their own
// Poisson batch alone, with degrees counted there. An edge is in a noisy release with the
// probability that amplification wants. Outside training all propagation is over the whole
// graph.
type sampledGraph struct {
	*perturbed
	whole *graph.Bipartite
}

func newSampledGraph(m *perturbed) *sampledGraph {
	return &sampledGraph{perturbed: m, whole: m.Over.Graph}
}

// Encode implements bpr.Encoder. items are the positives, then the negatives.
func (m *sampledGraph) Encode(t *autograd.Tape, step int, users, items []int32) (bpr.Encoded, error) {
	g, err := batchGraph(m.whole, users, items)
	if err != nil {
		return bpr.Encoded{}, err
	}
	m.Over.Graph = g
	return m.perturbed.Encode(t, step, users, items)
}

// Release implements topn.Model, over the whole graph.
func (m *sampledGraph) Release(kind string, call topn.Call) (users, items tensor.Matrix, err error) {
	m.Over.Graph = m.whole
	return m.perturbed.Release(kind, call)
}

// batchGraph makes the graph of the pairs (users[k], items[k]) on the nodes of whole.
func batchGraph(whole *graph.Bipartite, users, items []int32) (*graph.Bipartite, error) {
	if len(items) < len(users) {
		return nil, fmt.Errorf("propagate over a batch: %d users and %d items", len(users), len(items))
	}
	edges := make([]graph.Edge, len(users))
	for k, u := range users {
		edges[k] = graph.Edge{User: u, Item: items[k]}
	}
	g, err := graph.NewBipartite(whole.Users, whole.Items, edges)
	if err != nil {
		return nil, fmt.Errorf("propagate over a batch: %w", err)
	}
	return g, nil
}
