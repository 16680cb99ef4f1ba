package nextitem

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/run"
)

// answers answers questions about a finished run by the model that it reported. Releases made
// before training are made again with the same noise keys, so their rows are the same. Noise
// on messages is new, and its events stay in memory.
type answers struct {
	*Experiment
	dir  string
	last *Part // of every user, all that the model is given
}

// Answer implements run.Answerer.
func (x *Experiment) Answer(context.Context) (run.Answers, error) {
	if err := x.build(x.learned()); err != nil {
		return nil, err
	}
	if params := x.model.Params(); len(params) > 0 {
		w, err := experiment.OpenModel(x.Env.Dir)
		if err != nil {
			return nil, err
		}
		if err := w.Into(params); err != nil {
			return nil, err
		}
	}
	return &answers{Experiment: x, dir: x.Env.Dir, last: x.whole()}, nil
}

// whole returns a part with one sample a user, whose prefix is the whole history. A sample needs a label, so it has
// some item as one; no ranking reads it.
func (x *Experiment) whole() *Part {
	sequences := make([][]int32, len(x.Data.Train))
	var all dataset.Samples
	for u := range sequences {
		if h := x.cut.history(x, u); len(h) > 0 {
			sequences[u] = append(slices.Clip(h), h[0])
			all.User, all.Length = append(all.User, int32(u)), append(all.Length, int32(len(h)))
		}
	}
	p := NewPart("last", sequences, all, x.Items)
	if x.ByPosition {
		p.byPosition()
	}
	return p
}

// Recommend implements experiment.Answers: it ranks the items that may follow a user's
// history. It uses the first of the run's evaluations, or the one that the asked release
// names. A user's own items are left out only where the setting masks them.
func (a *answers) Recommend(ctx context.Context, o experiment.Question) (*experiment.Recommendations, error) {
	r, mode, err := a.ranking(o.Release)
	if err != nil {
		return nil, err
	}
	if err := r.Check(o); err != nil {
		return nil, err
	}
	if r.Scorer, err = a.scorer(mode); err != nil {
		return nil, err
	}
	lists, err := r.Recommend(ctx, o)
	if err != nil {
		return nil, err
	}
	setting, notes := a.cut.recommended(a.Experiment)
	out := &experiment.Recommendations{Head: experiment.HeadOf("Recommendations", a.Method, a.Data.Source, setting,
		a.dir), Lists: lists, Notes: notes}
	if len(a.Modes) > 1 || mode == NoiseOn {
		out.Subtitle += "; noise " + mode
	}
	return out, nil
}

// Ranking implements experiment.Scoring: it ranks the items that may follow a user's history.
func (a *answers) Ranking(_ context.Context, release string) (experiment.Ranking, error) {
	r, mode, err := a.ranking(release)
	if err != nil {
		return r, err
	}
	r.Scorer, err = a.scorer(mode)
	return r, err
}

// ranking returns the ranking without its scorer, and the evaluation that a release names.
func (a *answers) ranking(release string) (r experiment.Ranking, mode string, err error) {
	mode = a.Modes[0]
	if release != "" {
		if a.LastItem {
			return r, mode, experiment.NoRelease(a.dir, release)
		}
		if mode = release; !slices.Contains(a.Modes, mode) {
			return r, mode, &run.UsageError{Message: fmt.Sprintf("the run in %s has no release %q", a.dir, mode),
				Fix: fmt.Sprintf("its evaluations are with noise %s", strings.Join(a.Modes, ", "))}
		}
	}
	sampleOf := make(map[string]int32, len(a.Data.UserIDs))
	for i, u := range a.last.Samples.User {
		sampleOf[a.Data.UserIDs[u]] = int32(i)
	}
	r = experiment.Ranking{
		Data: a.Data.Name, Options: eval.Options{Tape: a.tape, Exclude: a.leftOut()},
		Items: a.Data.Items, Item: func(i int32) string { return a.Data.ItemIDs[i+1] },
		Sample: func(user string) (int32, bool) { s, ok := sampleOf[user]; return s, ok },
	}
	if !a.LastItem {
		r.Without = " with training items"
	}
	return r, mode, nil
}

// scorer returns the scorer of an evaluation, in a pass after those of the run.
func (a *answers) scorer(mode string) (eval.Scorer, error) {
	return a.model.Scorer(a.last, a.Fit.Passes().Final(len(a.Modes)), mode == NoiseOn)
}

// leftOut returns, by sample of the last part, the items that are not recommended. These are
// candidates without a name, which no training row has, and the items of the history where the
// setting masks them.
func (a *answers) leftOut() func(sample int32) []int32 {
	nameless := make([]int32, 0, a.Items-a.Data.Items)
	for i := a.Data.Items; i < a.Items; i++ {
		nameless = append(nameless, int32(i))
	}
	return func(sample int32) []int32 {
		if !a.Masked {
			return nameless
		}
		out := slices.Clone(nameless)
		for _, item := range a.last.Prefix(sample) {
			out = append(out, item-1)
		}
		return out
	}
}

// Histories implements experiment.Answers: it returns the items of every user that the model is given.
func (a *answers) Histories(context.Context) ([]experiment.History, string, error) {
	var list []experiment.History
	for i, u := range a.last.Samples.User {
		h := experiment.History{User: a.Data.UserIDs[u]}
		for _, item := range a.last.Prefix(int32(i)) {
			h.Items = append(h.Items, a.Data.ItemIDs[item])
		}
		list = append(list, h)
	}
	return list, "behaviours are in the order of time", nil
}

// Evaluate implements experiment.Answers. It ranks the test samples again under every
// evaluation of the run, and compares the scores with those that the run reported.
func (a *answers) Evaluate(ctx context.Context) (*experiment.Evaluation, error) {
	was, err := experiment.ReadOutcome(a.dir)
	if err != nil {
		return nil, err
	}
	o := &Outcome{Outcome: experiment.Outcome[DataSummary]{Method: a.Method, Metrics: a.metrics(), Floors: was.Floors}}
	a.cut.describe(a.Experiment, o)
	e := &experiment.Evaluation{}
	if len(was.Evaluations) == 0 {
		e.Differs = math.NaN()
	}
	for i, mode := range a.Modes {
		ranks, err := a.rank(ctx, a.Test, mode, a.Fit.Passes().Final(i))
		if err != nil {
			return nil, err
		}
		row := a.cut.again(a.Experiment, was, mode, metrics.Summary(o.Metrics, ranks))
		o.Evaluations = append(o.Evaluations, row)
		if i < len(was.Evaluations) {
			e.Differs = max(e.Differs, experiment.Apart(row.Values, was.Evaluations[i].Values))
		}
	}
	table, err := a.comparison(o).Table()
	if err != nil {
		return nil, err
	}
	setting, _ := a.cut.recommended(a.Experiment)
	e.Head, e.Tables = experiment.HeadOf("Evaluation", a.Method, a.Data.Source, setting, a.dir), []*report.Table{table}
	e.Beneath = a.LastItem
	return e, nil
}
