package topn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/run"
)

// answers answers questions about a finished run from its written vectors, or from a model that is rebuilt.
type answers struct {
	x       *Experiment
	release string      // of scorer
	scorer  eval.Scorer // the last one asked for; nil: none yet
	made    *Made
}

// Answer implements run.Answerer.
func (x *Experiment) Answer(context.Context) (run.Answers, error) { return &answers{x: x}, nil }

// open returns the scorer of a release.
func (a *answers) open(ctx context.Context, release string) (eval.Scorer, error) {
	if a.scorer != nil && a.release == release {
		return a.scorer, nil
	}
	x := a.x
	if x.Make != nil {
		m, err := x.Make(ctx)
		if err != nil {
			return nil, run.Interrupted(ctx, err)
		}
		a.made, a.scorer = m, m.Scorer
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
	kinds := a.x.Method.releases()
	if name == "" {
		return kinds[0], nil
	}
	if !slices.Contains(kinds, name) {
		if kinds[0] == "" {
			return "", experiment.NoRelease(a.x.Env.Dir, name)
		}
		return "", &run.UsageError{Message: fmt.Sprintf("the run in %s has no release %q", a.x.Env.Dir, name),
			Fix: fmt.Sprintf("it has %v", kinds)}
	}
	return name, nil
}

// ranking returns the ranking of a release without its scorer. It leaves out the items that a user has in train or
// validation.
func (a *answers) ranking() experiment.Ranking {
	x := a.x
	users := make(map[string]int32, len(x.Data.UserIDs))
	for u, id := range x.Data.UserIDs {
		users[id] = int32(u)
	}
	return experiment.Ranking{
		Data: x.Data.Name, Options: eval.Options{Exclude: func(user int32) []int32 { return x.test.seen[user] }},
		Items:  x.Data.Items,
		Item:   func(i int32) string { return x.Data.ItemIDs[i] },
		Sample: func(user string) (int32, bool) { u, ok := users[user]; return u, ok },
	}
}

// Ranking implements experiment.Scoring.
func (a *answers) Ranking(ctx context.Context, release string) (experiment.Ranking, error) {
	kind, err := a.kind(release)
	if err != nil {
		return experiment.Ranking{}, err
	}
	r := a.ranking()
	r.Scorer, err = a.open(ctx, kind)
	return r, err
}

// Recommend implements experiment.Answers.
func (a *answers) Recommend(ctx context.Context, o experiment.Question) (*experiment.Recommendations, error) {
	kind, err := a.kind(o.Release)
	if err != nil {
		return nil, err
	}
	r := a.ranking()
	if err := r.Check(o); err != nil { // before a model is made for it
		return nil, err
	}
	if r.Scorer, err = a.open(ctx, kind); err != nil {
		return nil, err
	}
	lists, err := r.Recommend(ctx, o)
	if err != nil {
		return nil, err
	}
	h := a.head("Recommendations")
	if kind != "" {
		h.Title += ", release " + kind
	}
	return &experiment.Recommendations{Head: h, Lists: lists, Notes: []string{experiment.HiddenNote}}, nil
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
	differs, err := a.differs(o)
	if err != nil {
		return nil, err
	}
	return &experiment.Evaluation{Head: a.head("Evaluation"), Facts: o.facts()[:1],
		Tables: append(tables, o.published()...), Differs: differs}, nil
}

// differs returns the largest difference between a score and the reported one, as a share. It is NaN if the run
// reported no scores of a release.
func (a *answers) differs(o *Outcome) (float64, error) {
	was, err := experiment.ReadOutcome(a.x.Env.Dir)
	if err != nil {
		return 0, err
	}
	worst := 0.0
	for _, e := range o.Evaluations {
		at := slices.IndexFunc(was.Evaluations, func(w experiment.Scores) bool { return w.Release == e.Release })
		if at < 0 {
			return math.NaN(), nil
		}
		worst = max(worst, experiment.Apart(e.Values, was.Evaluations[at].Values))
	}
	return worst, nil
}

// head returns the head of an answer.
func (a *answers) head(what string) experiment.Head {
	x := a.x
	return experiment.HeadOf(what, x.Method.Name, x.Data.Source, x.Method.Standing.Text, x.Env.Dir)
}

// Close implements experiment.Answers.
func (a *answers) Close() {
	a.made.close()
	a.made, a.scorer = nil, nil
}
