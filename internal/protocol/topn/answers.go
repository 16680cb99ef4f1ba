package topn

import (
	"context"
	"fmt"

	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/privacy/audit"
	"privrec/internal/run"
)

// answers answers questions about a finished run from its written vectors, or from a model that is rebuilt.
type answers struct {
	x       *Experiment
	release string      // of scorer
	scorer  eval.Scorer // the last one asked for; nil: none yet
}

// Answer implements run.Answerer.
func (x *Experiment) Answer(context.Context) (run.Answers, error) { return &answers{x: x}, nil }

// open returns the scorer of a release.
func (a *answers) open(ctx context.Context, release string) (eval.Scorer, error) {
	if a.scorer != nil && a.release == release {
		return a.scorer, nil
	}
	x := a.x
	if x.Compute != nil {
		m, err := x.Compute(ctx)
		if err != nil {
			return nil, run.Interrupted(ctx, err)
		}
		a.scorer = m.Scorer
	} else {
		v, err := experiment.OpenVectors(x.Env.Dir, release, x.Data.Users, x.Data.Items)
		if err != nil {
			return nil, err
		}
		if a.scorer, err = x.scorer(v); err != nil {
			return nil, err
		}
	}
	a.release = release
	return a.scorer, nil
}

// kind returns the release with a name; "" means the first.
func (a *answers) kind(name string) (string, error) {
	kinds := a.x.Method.Releases
	return experiment.Release(a.x.Env.Dir, name, kinds, fmt.Sprintf("it has %v", kinds))
}

// Ranking implements experiment.Scoring. It leaves out the items that a user has in train or validation.
func (a *answers) Ranking(_ context.Context, release string) (r experiment.Ranking, err error) {
	kind, err := a.kind(release)
	if err != nil {
		return r, err
	}
	x := a.x
	r = experiment.Ranking{
		Head: a.head("Recommendations"), Notes: []string{experiment.HiddenNote},
		Data: x.Data.Name, Options: eval.Options{Exclude: func(user int32) []int32 { return x.test.seen[user] }},
		Open:   func(ctx context.Context) (eval.Scorer, error) { return a.open(ctx, kind) },
		Items:  x.Data.Items,
		Item:   func(i int32) string { return x.Data.ItemIDs[i] },
		Sample: experiment.Numbered(x.Data.UserIDs),
	}
	if kind != "" {
		r.Title += ", release " + kind
	}
	return r, nil
}

// Releases implements experiment.Redrawing.
func (a *answers) Releases(ctx context.Context, items int) ([]audit.Release, error) {
	return a.x.Releases(ctx, items)
}

// Recommend implements experiment.Answers.
func (a *answers) Recommend(ctx context.Context, o experiment.Question) (*experiment.Recommendations, error) {
	return o.By(ctx, a.Ranking)
}

// Evaluate implements experiment.Answers. It ranks the test rows again by every release, and
// compares the scores with those that the run reported.
func (a *answers) Evaluate(ctx context.Context) (*experiment.Evaluation, error) {
	x, o := a.x, a.x.blank()
	if err := x.addFloors(ctx, o); err != nil {
		return nil, err
	}
	for _, kind := range x.Method.releases() {
		scorer, err := a.open(ctx, kind)
		if err != nil {
			return nil, err
		}
		ranks, err := x.rankTest(ctx, scorer)
		if err != nil {
			return nil, err
		}
		o.Evaluations = append(o.Evaluations, experiment.NewScores(ofRelease(x.Method.Name, kind), kind,
			x.values(ranks)))
	}
	tables, err := o.tables(x.Data.Source.Level)
	if err != nil {
		return nil, err
	}
	was, err := experiment.ReadOutcome(x.Env.Dir)
	if err != nil {
		return nil, err
	}
	return &experiment.Evaluation{Head: a.head("Evaluation"), Facts: o.facts()[:1],
		Tables: append(tables, o.published()...), Differs: experiment.Differ(o.Evaluations, was.Evaluations)}, nil
}

// head returns the head of an answer.
func (a *answers) head(what string) experiment.Head {
	x := a.x
	return experiment.HeadOf(what, x.Method.Name, x.Data.Source, x.Method.Standing.Text, x.Env.Dir)
}

// Close implements experiment.Answers.
func (a *answers) Close() {
	experiment.Free(a.scorer)
	a.scorer = nil
}
