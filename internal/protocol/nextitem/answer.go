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

// answers are those of a finished run, by the model that it reported. What the method
// released before training it releases once more by the same keys, which gives the same
// rows; noise on messages is new, and recorded in memory alone.
type answers struct {
	*Experiment
	dir  string
	last *Part // every user's whole training sequence
}

// Answer implements run.Answerer.
func (x *Experiment) Answer(context.Context) (run.Server, error) {
	if err := x.build(x.learned()); err != nil {
		return nil, err
	}
	w, err := experiment.OpenModel(x.Env.Dir)
	if err != nil {
		return nil, err
	}
	if err := w.Into(x.model.Params()); err != nil {
		return nil, err
	}
	a := &answers{Experiment: x, dir: x.Env.Dir}
	a.last, err = x.whole()
	return a, err
}

// whole is a sample a user whose prefix is the whole training sequence. What follows it
// is not asked for; an item stands in its place, since a sample has one.
func (x *Experiment) whole() (*Part, error) {
	sequences := make([][]int32, len(x.Data.Train))
	var all dataset.Samples
	for u, seq := range x.Data.Train {
		if sequences[u] = seq; len(seq) == 0 {
			continue
		}
		sequences[u] = append(slices.Clone(seq), seq[0])
		all.User, all.Length = append(all.User, int32(u)), append(all.Length, int32(len(seq)))
	}
	return NewPart("last", sequences, all, x.Items)
}

// Recommend implements run.Server: what may follow a user's training sequence, by the
// first of the run's evaluations, or by the one that a release names. As in the protocol
// nothing is left out that the user has.
func (a *answers) Recommend(ctx context.Context, o run.Recommend) (run.Result, error) {
	mode := a.Modes[0]
	if o.Release != "" {
		if mode = o.Release; !slices.Contains(a.Modes, mode) {
			return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s has no release %q", a.dir, mode), Fix: fmt.Sprintf("its evaluations are with noise %s", strings.Join(a.Modes, ", "))}
		}
	}
	s, err := a.model.Scorer(a.last, a.Fit.Passes().Final(len(a.Modes)), mode == NoiseOn) // a pass after those of the run
	if err != nil {
		return nil, err
	}
	sampleOf := make(map[string]int32, len(a.Data.UserIDs))
	for i, u := range a.last.Samples.User {
		sampleOf[a.Data.UserIDs[u]] = int32(i)
	}
	nameless := make([]int32, 0, a.Items-a.Data.Items) // candidates without a training row have no id
	for i := a.Data.Items; i < a.Items; i++ {
		nameless = append(nameless, int32(i))
	}
	lists, err := experiment.Ranking{
		Data: a.Data.Name, Scorer: s, Options: eval.Options{Tape: a.tape, Exclude: func(int32) []int32 { return nameless }},
		Items: a.Data.Items, Item: func(i int32) string { return a.Data.ItemIDs[i+1] },
		Sample:  func(user string) (int32, bool) { s, ok := sampleOf[user]; return s, ok },
		Without: " with training items",
	}.Recommend(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &experiment.Recommendations{Head: a.head("Recommendations"), Lists: lists,
		Notes: []string{"items that the user has are not left out, as in the paper's protocol"}}
	if len(a.Modes) > 1 || mode == NoiseOn {
		r.Subtitle += "; noise " + mode
	}
	return r, nil
}

// Histories implements run.Historian: the training sequences.
func (a *answers) Histories(context.Context) ([]run.History, string, error) {
	var list []run.History
	for u, seq := range a.Data.Train {
		h := run.History{User: a.Data.UserIDs[u]}
		for _, item := range seq {
			h.Items = append(h.Items, a.Data.ItemIDs[item])
		}
		if len(seq) > 0 {
			list = append(list, h)
		}
	}
	return list, "behaviours are in the order of time", nil
}

// Evaluate implements run.Server: the test samples are ranked again under every
// evaluation of the run and compared with what it reported.
func (a *answers) Evaluate(ctx context.Context) (run.Result, error) {
	var was Outcome
	if err := run.ReadMetrics(a.dir, &was); err != nil {
		return nil, err
	}
	o := &Outcome{Method: a.Method, Metrics: a.metrics(), Floors: was.Floors}
	worst := 0.0
	if len(was.Evaluations) == 0 {
		worst = math.NaN()
	}
	for i, mode := range a.Modes {
		ranks, err := a.rank(ctx, a.Test, mode, a.Fit.Passes().Final(i))
		if err != nil {
			return nil, err
		}
		e := scores(fmt.Sprintf("%s, noise %s", a.Method, mode), mode, metrics.Summary(o.Metrics, ranks))
		o.Evaluations = append(o.Evaluations, e)
		if i < len(was.Evaluations) {
			worst = max(worst, experiment.Apart(e.Values, was.Evaluations[i].Values))
		}
	}
	table, err := o.comparison(a.Data.Source.Level).Table()
	if err != nil {
		return nil, err
	}
	return &experiment.Evaluation{Head: a.head("Evaluation"), Tables: []*report.Table{table}, Differs: worst}, nil
}

func (a *answers) head(what string) experiment.Head {
	return experiment.HeadOf(what, a.Method, a.Data.Source, a.Standing.Text, a.dir)
}
