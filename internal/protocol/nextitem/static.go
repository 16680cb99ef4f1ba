package nextitem

import (
	"context"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/protocol/computed"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// Static is a Learner of a model whose vectors of users do not depend on their latest items, trained by Bayesian
// personalised ranking. Its samples are pairs of a user and an item of a part's sequences, each once. Labels of other
// samples of the same sequences are held out, and left out here.
type Static struct {
	bpr.Static
	x       *Experiment
	graph   *graph.Bipartite
	inOrder bool
	loss    bpr.Objective
}

// NewStatic returns a model to train on the pairs of a part. o says how they are drawn, and l2 is the penalty. build
// makes the model from the graph of the pairs.
func NewStatic(x *Experiment, p *Part, o bpr.SamplerOptions, l2 float64,
	build func(g *graph.Bipartite) (bpr.Static, error)) (*Static, error) {
	g, err := x.Pairs(p)
	if err != nil {
		return nil, err
	}
	s := &Static{x: x, graph: g, inOrder: o.Positives != bpr.Pass}
	s.loss = bpr.Objective{Scale: 1, L2: l2}
	if s.loss.Sampler, err = bpr.NewSampler(g, o); err != nil {
		return nil, bpr.Named(err, x.Data.Name, x.Data.UserIDs)
	}
	if s.Static, err = build(g); err != nil {
		return nil, err
	}
	s.loss.Encoder = s.Static
	return s, nil
}

// Pairs returns the graph of users and the items of their sequences that are in a part: the first item, and the labels
// of the part's samples.
func (x *Experiment) Pairs(p *Part) (*graph.Bipartite, error) {
	last := make([]int, x.Items) // the user, from 1, for whom an item is counted
	var edges []graph.Edge
	add := func(u int, item int32) {
		if last[item] != u+1 {
			last[item] = u + 1
			edges = append(edges, graph.Edge{User: int32(u), Item: item})
		}
	}
	next := 0 // samples come by user
	for u, seq := range p.Sequences {
		if len(seq) > 0 {
			add(u, seq[0]-1)
		}
		for ; next < p.Samples.Len() && int(p.Samples.User[next]) == u; next++ {
			add(u, p.Labels[next])
		}
	}
	return graph.NewBipartite(x.Data.Users, x.Items, edges)
}

// Count implements Learner.
func (s *Static) Count(p *Part) int {
	g, err := s.x.Pairs(p)
	if err != nil {
		return 0 // a part that was learned has a graph
	}
	return g.Edges()
}

// Lessons implements Learner. They are the pairs.
func (s *Static) Lessons(Pass) (Lessons, error) {
	return Lessons{Model: byPairs{s.loss}, Samples: s.graph.Edges(), InOrder: s.inOrder}, nil
}

// byPairs is the BPR objective for the training loop.
type byPairs struct{ bpr.Objective }

// Params implements train.Model.
func (o byPairs) Params() []*autograd.Param { return o.Encoder.Params() }

// Loss implements train.Model.
func (o byPairs) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	return o.Objective.Loss(t, b.Step, b.Samples)
}

// Scorer implements Learner. It ranks every sample by its user's vector.
func (s *Static) Scorer(p *Part, _ Pass, _ bool) (eval.Scorer, error) {
	users, items, err := s.All()
	if err != nil {
		return nil, err
	}
	return &byUser{Scorer: &bpr.Ranking{Users: users, Goods: items}, part: p}, nil
}

// byUser gives all samples of one user the same scores.
type byUser struct {
	eval.Scorer // of users
	part        *Part
	users       []int32
}

// Score implements eval.Scorer.
func (r *byUser) Score(t *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	r.users = r.users[:0]
	for _, i := range samples {
		r.users = append(r.users, r.part.Samples.User[i])
	}
	return r.Scorer.Score(t, r.users, scores)
}

// Close frees the memory of the model.
func (s *Static) Close() { experiment.Free(s.Static) }

// Computed is a Learner without training by epochs. It computes item scores for users from the pairs of a part at once.
// Its setting has no epochs.
type Computed struct {
	Model eval.Scorer // samples are users
}

// Params implements Learner. There are none, and no model is written.
func (c *Computed) Params() []*autograd.Param { return nil }

// Count implements Learner.
func (c *Computed) Count(*Part) int { return 0 }

// Lessons implements Learner.
func (c *Computed) Lessons(Pass) (Lessons, error) { return Lessons{}, train.ErrNoSamples }

// Scorer implements Learner. It ranks every sample by its user's scores.
func (c *Computed) Scorer(p *Part, _ Pass, _ bool) (eval.Scorer, error) {
	return &byUser{Scorer: c.Model, part: p}, nil
}

// Close frees the memory of the model.
func (c *Computed) Close() { experiment.Free(c.Model) }

// computed ranks the test samples by the models that are floors: those of Beside, and where they are wanted those that
// are computed at once from all training items. Such a model scores by user, whatever comes before an item.
func (x *Experiment) computed(ctx context.Context, ms []metrics.Metric) ([]experiment.Scores, error) {
	wanted := computed.Wanted(x.From.Floor, x.Data.Name)
	if x.Beside == nil && !wanted {
		return nil, nil
	}
	g, err := x.Pairs(NewPart("train", x.Data.Train, dataset.Prefixes(x.Data.Train), x.Items))
	if err != nil {
		return nil, err
	}
	var models []computed.Model
	if x.Beside != nil {
		models = x.Beside(g)
	}
	if wanted {
		models = append(models, computed.Models(g, x.Method)...)
	}
	return computed.Scores(ctx, models, func(s eval.Scorer) ([]metrics.Value, error) {
		ranks, err := x.rankBy(ctx, &byUser{Scorer: s, part: x.Test}, x.Test)
		return metrics.Summary(ms, ranks), err
	})
}
