package release

import (
	"context"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
)

// CheckProtocol reports an unknown protocol. An empty word means that of package topn, nextitem.Name that of DIPSGNN.
func CheckProtocol(v *config.Checker, protocol string, e topn.EvalConfig) {
	v.OneOf("protocol", protocol, "", nextitem.Name)
	v.Check(protocol == "" || e.Candidates == 0, "eval.candidates", "has no effect under protocol %s, must be 0",
		nextitem.Name)
}

// Suit sets the recipe to one that suits the data under a protocol, if the user named none. Published recipes of
// sequences count rows of many users; the account says so.
func Suit(doc *config.Document, protocol string, d *topn.DataConfig, n registry.Need) error {
	if protocol != nextitem.Name {
		n.Draws = true
		return d.Suit(doc, n)
	}
	next := nextitem.Data{Name: d.Name, Recipe: d.Recipe}
	err := next.Suit(doc, n)
	d.Recipe = next.Recipe
	return err
}

// Rows holds the input of a model of users' rows.
type Rows struct {
	*dataset.Interactions
	Graph *graph.Bipartite
}

// NextItem loads data under package nextitem's protocol, for a model that is computed at once from all training rows.
// It also returns what the model needs to know of the data. The model ranks all test samples of a user alike.
func NextItem(ctx context.Context, env *run.Env, m topn.Method) (*nextitem.Experiment, *dataset.Interactions, error) {
	x, err := nextitem.Load(ctx, env, nextitem.Setting{
		Method: m.Name, Standing: m.Standing, From: nextitem.Data{Name: m.Data.Name, Recipe: m.Data.Recipe,
			Public: m.Data.Public, Candidates: nextitem.CandidatesTrain},
		Fit: nextitem.Training{Select: nextitem.SelectLast}, Eval: nextitem.Ranking{K: m.Eval.K},
	})
	if err != nil {
		return nil, nil, err
	}
	d := x.Data
	return x, &dataset.Interactions{Name: d.Name, Recipe: d.Recipe, Users: d.Users, Items: d.Items, UserIDs: d.UserIDs,
		ItemIDs: d.ItemIDs[1:], Source: d.Source}, nil
}

// Computes sets the function that computes the model of x. A user's row has each item once.
func Computes(ctx context.Context, x *nextitem.Experiment, d *dataset.Interactions,
	make func(ctx context.Context, r Rows) (*topn.Made, error)) {
	x.New = func(q *nextitem.Part) (nextitem.Learner, error) {
		return nextitem.NewComputed(x, q, func(g *graph.Bipartite) (eval.Scorer, func(), error) {
			of := *d
			of.Train = nil
			for u := range g.Users {
				of.Train = append(of.Train, g.ItemsOf(u))
			}
			made, err := make(ctx, Rows{&of, g})
			if err != nil {
				return nil, nil, err
			}
			done := made.Close
			if done == nil {
				done = func() {}
			}
			return made.Scorer, done, nil
		})
	}
}

// Accounts sets the account of x.
func (a *Account) Accounts(x *nextitem.Experiment, finish func(*experiment.Fitted) error) {
	x.Account = func(f *experiment.Fitted) (experiment.Privacy, error) { return a, finish(f) }
	x.Planned = func() (experiment.Privacy, error) { return a.Planned(), nil }
}
