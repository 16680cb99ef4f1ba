package forgetting

import (
	"context"
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/optim"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// Build returns a model of a configuration over the rows of a graph. Its initial parameters are drawn from the seed.
// The parameter named "user" has a row for every user.
type Build func(m ModelConfig, g *graph.Bipartite, seed rng.Seed) (bpr.Static, error)

// userTable is the name of the parameter with a row for every user.
const userTable = "user"

// network is a model over the rows of a graph.
type network struct {
	bpr.Static
	graph *graph.Bipartite
	seed  rng.Seed // of the initial parameters and of the training
}

// network returns a model with its initial parameters.
func (s *study) network(g *graph.Bipartite, seed rng.Seed) (*network, error) {
	m, err := s.build(s.Model, g, seed)
	if err != nil {
		return nil, err
	}
	return &network{m, g, seed}, nil
}

// close frees the memory of the model.
func (m *network) close() { experiment.Free(m.Static) }

// learner trains a model on the triples of its graph. It implements train.Model.
type learner struct {
	*network
	objective bpr.Objective
	up        bool // climbs the loss, without its penalty
}

// Loss implements train.Model.
func (l learner) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	loss, err := l.objective.Loss(t, b.Step, b.Samples)
	if err != nil || !l.up {
		return loss, err
	}
	return loss.Scale(-1), nil
}

// lessons says how a model is trained, on the edges of which graph.
type lessons struct {
	on     *graph.Bipartite
	epochs int
	rate   float64
	seed   rng.Seed
	up     bool // gradient ascent
}

// train trains a model, and counts the pairs that it read in s.pairs.
func (s *study) train(ctx context.Context, m *network, l lessons) error {
	o := bpr.SamplerOptions{Positives: bpr.Pass, Negatives: bpr.Unseen, Batch: s.Train.Batch, Seed: l.seed}
	sampler, err := bpr.NewSampler(l.on, o)
	if err != nil {
		return bpr.Named(err, s.data.Name, s.data.UserIDs)
	}
	objective := bpr.Objective{Encoder: m, Sampler: sampler, Scale: 1, L2: s.Train.L2}
	if l.up {
		objective.L2 = 0
	}
	_, err = train.Run(ctx, learner{m, objective, l.up}, train.Options{Samples: l.on.Edges(), BatchSize: s.Train.Batch,
		Shuffle: true, Seed: l.seed, Epochs: l.epochs, Optimizer: optim.NewAdam(0), Rate: l.rate,
		Hooks: s.env.TrainHooks()})
	s.pairs += int64(l.epochs) * int64(l.on.Edges())
	return run.Interrupted(ctx, err)
}

// fitted returns a model that is trained from the start on the rows of some users.
func (s *study) fitted(ctx context.Context, seed rng.Seed, users ...[]int32) (*network, error) {
	g, err := graphOf(s.data, users...)
	if err != nil {
		return nil, err
	}
	m, err := s.network(g, seed)
	if err != nil {
		return nil, err
	}
	return m, s.train(ctx, m, lessons{on: g, epochs: s.Train.Epochs, rate: s.Train.Rate, seed: seed})
}

// over returns a model over another graph with the parameters of m. The rows of users without an edge there are the
// initial ones.
func (s *study) over(m *network, g *graph.Bipartite) (*network, error) {
	n, err := s.network(g, m.seed)
	if err != nil {
		return nil, err
	}
	from := m.Params()
	for k, p := range n.Params() {
		if p.Name != from[k].Name {
			return nil, fmt.Errorf("forgetting: parameter %d is %q in one model and %q in the other", k, from[k].Name,
				p.Name)
		}
		for r := range p.Value.Rows {
			if p.Name != userTable || g.UserDegree(r) > 0 {
				copy(tensor.Row(p.Value, r), tensor.Row(from[k].Value, r))
			}
		}
	}
	return n, nil
}
