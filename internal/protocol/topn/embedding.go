package topn

import (
	"context"
	"fmt"

	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/run"
)

// People implements experiment.Peopled. It returns all users of the data, including those without training rows.
func (a *answers) People() []string { return a.x.Data.UserIDs }

// Embedding implements experiment.Embedded.
func (a *answers) Embedding(ctx context.Context, release string) (*experiment.Embedding, error) {
	kind, err := a.kind(release)
	if err != nil {
		return nil, err
	}
	x := a.x
	e := &experiment.Embedding{UserIDs: x.Data.UserIDs, ItemIDs: x.Data.ItemIDs, Scores: experiment.InnerProduct}
	switch {
	case x.Method.Scorer != nil:
		e.Scores = "a score of the model's own, which is no inner product"
	case x.Method.Eval.Sigmoid:
		e.Scores = "sigmoid of the inner product"
	}
	if x.Compute == nil || experiment.HasVectors(x.Env.Dir) {
		e.Vectors, err = experiment.OpenVectors(x.Env.Dir, kind, x.Data.Users, x.Data.Items)
		return e, err
	}
	s, err := a.open(ctx, kind)
	if err != nil {
		return nil, err
	}
	r, ok := s.(*bpr.Ranking)
	if !ok {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"the run in %s ranks by something else than vectors of users and items: %s has none", x.Env.Dir,
			x.Method.Name), Fix: "take its lists with recommend --all --out, or its scores with scores --all --out"}
	}
	e.Vectors = experiment.Vectors{Release: kind, Users: r.Users, Items: r.Goods}
	return e, nil
}
