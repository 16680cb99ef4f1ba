// Package static runs a model whose scores of items depend on the user alone, and not on the latest items, under
// protocol top-n or next-item. Such a model is wired once, for both.
package static

import (
	"context"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/protocol/computed"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
)

// Rows holds the input of a model of users' rows.
type Rows struct {
	*dataset.Interactions
	Graph *graph.Bipartite // of the training rows
}

// Experiment is a model under one of the two protocols. Load makes it; the method calls Compute or Train.
type Experiment struct {
	*experiment.Core
	Work run.Work
	Data *dataset.Interactions // under next-item without rows, which Compute gives

	train topn.TrainConfig
	top   *topn.Experiment
	next  *nextitem.Experiment
}

// Load loads the data of a method under a protocol: nextitem.Name, or top-n. Under next-item it takes from next the
// printed table, what is ranked, the floor, the share held out and whether to refit; m has everything else.
func Load(ctx context.Context, env *run.Env, protocol string, m topn.Method,
	next nextitem.Setting) (*Experiment, error) {
	if protocol != nextitem.Name {
		x, err := topn.Load(ctx, env, m)
		if err != nil {
			return nil, err
		}
		return &Experiment{Core: &x.Core, Work: x, Data: x.Data, train: m.Train, top: x}, nil
	}
	next.Method, next.Standing, next.Eval = m.Name, m.Standing, nextitem.Ranking{K: m.Eval.K, Every: m.Eval.Every}
	next.From.Name, next.From.Recipe, next.From.Public = m.Data.Name, m.Data.Recipe, m.Data.Public
	f, t := &next.Fit, m.Train
	f.Select = nextitem.SelectLast
	if t.Epochs > 0 {
		f.Epochs, f.Batch, f.Rate, f.DecayBy, f.DecayEvery = t.Epochs, t.Batch, t.Rate, t.RateBy, t.RateEvery
		f.L2, f.Patience, f.Select, f.ValidationSplit = t.Decay, t.Patience, t.Select, nextitem.SplitSample
	}
	x, err := nextitem.Load(ctx, env, next)
	if err != nil {
		return nil, err
	}
	d := x.Data
	return &Experiment{Core: &x.Core, Work: x, train: m.Train, next: x,
		Data: &dataset.Interactions{Name: d.Name, Recipe: d.Recipe, Users: d.Users, Items: d.Items, UserIDs: d.UserIDs,
			ItemIDs: d.ItemIDs[1:], Source: d.Source}}, nil
}

// Kept reports whether the experiment belongs to a finished run that keeps its vectors, and needs no model.
func (x *Experiment) Kept() bool { return x.top != nil && x.top.Finished() }

// Rows returns the input of the model under top-n. Under next-item only Compute gives it.
func (x *Experiment) Rows() (r Rows, ok bool) {
	if x.top == nil {
		return r, false
	}
	return Rows{x.Data, x.top.Graph}, true
}

// Unprotect declares that the method protects nothing.
func (x *Experiment) Unprotect() error {
	if x.next != nil {
		return x.next.Unprotect()
	}
	return x.top.Unprotect()
}

// Compute sets how the model is computed, at once, from all training rows. Under next-item a user's row has each item
// once, all samples of a user are ranked alike, and ctx is that of the whole run.
func (x *Experiment) Compute(ctx context.Context, make func(ctx context.Context, r Rows) (*topn.Made, error)) {
	if x.top != nil {
		x.top.Compute = func(ctx context.Context) (*topn.Made, error) { return make(ctx, Rows{x.Data, x.top.Graph}) }
		return
	}
	x.next.New = func(q *nextitem.Part) (nextitem.Learner, error) {
		g, err := x.next.Pairs(q)
		if err != nil {
			return nil, err
		}
		of := *x.Data
		for u := range g.Users {
			of.Train = append(of.Train, g.ItemsOf(u))
		}
		made, err := make(ctx, Rows{&of, g})
		if err != nil {
			return nil, err
		}
		return &nextitem.Computed{Model: made.Scorer}, nil
	}
}

// Beside shows the scores of models with the floors, and a note on them. models returns them for users with the rows of
// a graph.
func (x *Experiment) Beside(note string, models func(g *graph.Bipartite) []computed.Model) {
	if x.top != nil {
		x.top.Beside = models
	} else {
		x.next.Beside = models
	}
	x.Remark(note)
}

// Remark adds a note on the data to the result.
func (x *Experiment) Remark(note string) {
	if x.top != nil {
		x.top.Data.Source.Notes = append(slices.Clip(x.top.Data.Source.Notes), note)
		return
	}
	x.next.Data.Source.Notes = append(slices.Clip(x.next.Data.Source.Notes), note)
}

// Train sets how the model is made from a graph of users and items, which BPR trains and nothing protects.
func (x *Experiment) Train(build func(g *graph.Bipartite) (bpr.Static, error)) (run.Work, error) {
	if x.top != nil {
		return x.top.Train(func() (topn.Model, error) {
			m, err := build(x.top.Graph)
			if err != nil {
				return nil, err
			}
			return x.top.ByBPR(topn.Plain(m)), x.Unprotect()
		})
	}
	t := x.train
	o := bpr.SamplerOptions{Positives: t.Sampler, Negatives: t.Negatives, Each: t.Each, Batch: t.Batch,
		Seed: x.Env.Seed}
	x.next.New = func(q *nextitem.Part) (nextitem.Learner, error) {
		return nextitem.NewStatic(x.next, q, o, t.L2, build)
	}
	return x.next, x.Unprotect()
}
