package nextitem

import (
	"context"
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
	if err := x.Load(x.Env.Dir, x.learned()); err != nil {
		return nil, err
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

// Recommend implements experiment.Answers.
func (a *answers) Recommend(ctx context.Context, o experiment.Question) (*experiment.Recommendations, error) {
	return o.By(ctx, a.Ranking)
}

// Ranking implements experiment.Scoring: it ranks the items that may follow a user's
// history. It uses the first of the run's evaluations, or the one that the release names. A
// user's own items are left out only where the setting masks them. The scorer is of a pass
// after those of the run.
func (a *answers) Ranking(_ context.Context, release string) (r experiment.Ranking, err error) {
	modes := a.Modes
	if a.LastItem {
		modes = nil
	}
	mode, err := experiment.Release(a.dir, release, modes, "its evaluations are with noise "+strings.Join(modes, ", "))
	if err != nil {
		return r, err
	}
	var s eval.Scorer
	r = experiment.Ranking{
		Data: a.Data.Name, Options: eval.Options{Tape: a.tape, Exclude: a.leftOut()},
		Open: func(context.Context) (_ eval.Scorer, err error) {
			if s == nil {
				s, err = a.Model.Scorer(a.last, a.Fit.Passes().Final(len(a.Modes)), mode == NoiseOn)
			}
			return s, err
		},
		Items: a.Data.Items, Item: func(i int32) string { return a.Data.ItemIDs[i+1] },
		Sample: experiment.Numbered(a.users(a.last)),
	}
	if !a.LastItem {
		r.Without = " with training items"
	}
	var setting string
	setting, r.Notes = a.cut.recommended(a.Experiment)
	r.Head = experiment.HeadOf("Recommendations", a.Method, a.Data.Source, setting, a.dir)
	if len(a.Modes) > 1 || mode == NoiseOn {
		r.Subtitle += "; noise " + mode
	}
	return r, nil
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
	items := func(i int) []int32 { return a.last.Prefix(int32(i)) }
	return experiment.HistoriesOf(a.users(a.last), items, a.Data.ItemIDs), "behaviours are in the order of time", nil
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
	for i, mode := range a.Modes {
		ranks, err := a.rank(ctx, a.Test, mode, a.Fit.Passes().Final(i))
		if err != nil {
			return nil, err
		}
		o.Evaluations = append(o.Evaluations, a.cut.again(a.Experiment, was, mode, metrics.Summary(o.Metrics, ranks)))
	}
	table, err := a.comparison(o).Table()
	if err != nil {
		return nil, err
	}
	setting, _ := a.cut.recommended(a.Experiment)
	return &experiment.Evaluation{Head: experiment.HeadOf("Evaluation", a.Method, a.Data.Source, setting, a.dir),
		Tables: []*report.Table{table}, Differs: experiment.Differ(o.Evaluations, was.Evaluations),
		Beneath: a.LastItem}, nil
}
