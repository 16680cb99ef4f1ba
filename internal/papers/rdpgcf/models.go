package rdpgcf

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/model/lightgcn"
	"privrec/internal/nn"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// noise adds a mechanism's noise to the propagations of a run. At names the propagation that follows.
type noise interface {
	nn.LayerNoise
	At(phase string, p propagation) error
}

// The phases of a run, for the noise.
const (
	phaseTrain   = "train"   // propagations of training steps
	phaseRelease = "release" // propagations of all nodes, outside training
)

// maxAverage bounds the number of propagations of a release.
const maxAverage = 10_000

// propagation numbers a noisy propagation among those of its phase. It keys the noise.
type propagation int

// ofStep returns the propagation of a training step. step counts from 0 through the run.
func ofStep(step int) propagation { return propagation(step) }

// ofRelease returns propagation r of a release.
func ofRelease(call topn.Call, r int) propagation { return propagation(int(call)*maxAverage + r) }

// release returns the call that a propagation outside training belongs to.
func (p propagation) release() topn.Call { return topn.Call(p / maxAverage) }

// perturbed is the model of RDP-GCF: LightGCN with rows of length 1 and noisy layers. Source: Algorithm 1.
type perturbed struct {
	*lightgcn.Model
	noise   noise // nil: none
	average int   // propagations of ReleaseAvg

	sum [2]tensor.Matrix
}

// newPerturbed returns the model of a setting on a graph; noise may be nil.
func newPerturbed(g *graph.Bipartite, seed rng.Seed, c Config, n noise) (*perturbed, error) {
	norm, err := graph.ParseNormalizer(c.Model.Norm)
	if err != nil {
		return nil, err
	}
	m := &perturbed{
		Model: lightgcn.New(g, norm, c.Model.Layers, c.Model.Dim, c.Model.Init.Values(seed)),
		noise: n, average: c.Release.Average,
	}
	m.Over.NormalizeRows = c.Model.NormaliseRows
	return m, nil
}

// build returns the model of a setting; noise may be nil.
func (c Config) build(g *graph.Bipartite, seed rng.Seed, n noise) (topn.Encoder, error) {
	m, err := newPerturbed(g, seed, c, n)
	if err != nil {
		return nil, err
	}
	if c.Privacy.Propagation == PropagationSampled {
		return newSampledGraph(m), nil
	}
	return m, nil
}

// at prepares the next propagation.
func (m *perturbed) at(phase string, p propagation) error {
	m.Over.Noise = nil
	if m.noise == nil {
		return nil
	}
	m.Over.Noise = m.noise
	return m.noise.At(phase, p)
}

// Encode implements bpr.Encoder, with the noise of the step. A step with an empty Poisson batch still makes its
// release, of all rows, so that every step counts alike in the account.
func (m *perturbed) Encode(t *autograd.Tape, step int, users, items []int32) (bpr.Encoded, error) {
	m.Over.Frontier = len(users) > 0
	if err := m.at(phaseTrain, ofStep(step)); err != nil {
		return bpr.Encoded{}, err
	}
	return m.Model.Encode(t, step, users, items)
}

// Release implements topn.Encoder.
func (m *perturbed) Release(kind string, call topn.Call) (users, items tensor.Matrix, err error) {
	switch kind {
	case ReleaseClean:
		m.Over.Noise = nil
		return m.All()
	case ReleaseNoisy:
		return m.once(call, 0)
	case ReleaseAvg:
		return m.mean(call)
	}
	return users, items, fmt.Errorf("release %q is not known", kind)
}

// once returns propagation r of a release.
func (m *perturbed) once(call topn.Call, r int) (users, items tensor.Matrix, err error) {
	if err := m.at(phaseRelease, ofRelease(call, r)); err != nil {
		return users, items, err
	}
	return m.All()
}

// mean returns the mean of average noisy propagations.
func (m *perturbed) mean(call topn.Call) (users, items tensor.Matrix, err error) {
	if m.sum[0].Data == nil {
		for side, p := range m.Params() {
			m.sum[side] = tensor.NewTable(p.Value.Rows, p.Value.Cols)
		}
	}
	clear(m.sum[0].Data)
	clear(m.sum[1].Data)
	for r := range m.average {
		u, i, err := m.once(call, r)
		if err != nil {
			return users, items, err
		}
		for side, z := range []tensor.Matrix{u, i} {
			sum := m.sum[side]
			tensor.Parallel(len(sum.Data), 1<<14, func(_, lo, hi int) {
				tensor.Axpy(tensor.Float(1/float64(m.average)), z.Data[lo:hi], sum.Data[lo:hi])
			})
		}
	}
	return m.sum[0], m.sum[1], nil
}

// sampledGraph is RDP-GCF whose training steps propagate only over the positive pairs of their own Poisson batch, with
// degrees counted there. An edge is in a noisy release with the probability that amplification needs. Outside training
// it propagates over the whole graph.
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

// Release implements topn.Encoder, over the whole graph.
func (m *sampledGraph) Release(kind string, call topn.Call) (users, items tensor.Matrix, err error) {
	m.Over.Graph = m.whole
	return m.perturbed.Release(kind, call)
}

// batchGraph returns the graph of the pairs (users[k], items[k]) on the nodes of whole.
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
