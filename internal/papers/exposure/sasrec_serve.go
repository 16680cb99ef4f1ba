package exposure

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/eval"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// servedSASRec answers for a finished run by the parameters that it kept.
type servedSASRec struct {
	f     *sasrecFit
	run   run.Finished
	users map[string]int // by their ids
}

func serveSASRec(ctx context.Context, r run.Finished, c SASRecConfig) (run.Server, error) {
	s, _, err := c.Data.load(ctx, r.Seed)
	if err != nil {
		return nil, err
	}
	f, err := newSASRecFit(c, s, r.Seed)
	if err != nil {
		return nil, err
	}
	v := &servedSASRec{f: f, run: r, users: make(map[string]int, s.Users)}
	for u, id := range s.UserIDs {
		v.users[id] = u
	}
	if err := readSASRec(r.Dir, s.Source.Hash, f.Params()); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// Close implements run.Server: it gives the table back.
func (v *servedSASRec) Close() { tensor.Free(v.f.model.Item.Value) }

// history is all that the data know of a user, held-out items included.
func (v *servedSASRec) history(u int) []int32 {
	s := v.f.data
	h := s.Train[u]
	for _, side := range [][][]int32{s.Valid, s.Test} {
		if side != nil {
			h = slices.Concat(h, side[u])
		}
	}
	return h
}

// Recommend implements run.Server: what comes after the whole history of a user.
func (v *servedSASRec) Recommend(ctx context.Context, o run.Recommend) (run.Result, error) {
	s := v.f.data
	switch {
	case o.Release != "":
		return nil, run.NoRelease(v.run.Dir, o.Release)
	case o.K < 1 || o.K > s.Items:
		return nil, &run.UsageError{Message: fmt.Sprintf("%d items a user asked for, want 1 to %d", o.K, s.Items)}
	}
	var contexts [][]int32
	var samples []int32
	for i, id := range o.Users {
		u, ok := v.users[id]
		if !ok {
			return nil, &run.UsageError{Message: fmt.Sprintf("%s has no user %q", s.Name, id), Fix: "users go by the names in the data files"}
		}
		contexts, samples = append(contexts, v.history(u)), append(samples, int32(i))
	}
	options := eval.Options{}
	if v.f.config.Eval.MaskSeen {
		options.Exclude = func(sample int32) []int32 {
			var seen []int32
			for _, item := range contexts[sample] {
				seen = append(seen, item-1)
			}
			return seen
		}
	}
	lists, err := eval.Top(ctx, &sasrecScorer{model: v.f.model, contexts: contexts}, samples, o.K, options)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", run.ErrInterrupted, err)
		}
		return nil, err
	}
	t := &report.Table{Name: "recommendations", Columns: []report.Column{{Name: "user"}, {Name: "rank"}, {Name: "item"}, {Name: "score", Format: "%.6g"}}}
	for i, list := range lists {
		for r, x := range list {
			t.Add(o.Users[i], r+1, s.ItemIDs[x.Index+1], x.Score)
		}
	}
	if v.f.config.Eval.MaskSeen {
		t.Notes = append(t.Notes, "items of the user's history are left out; that they are missing tells them to whoever sees the list")
	}
	return v.document("Recommendations", t), nil
}

// Evaluate implements run.Server: the test items are ranked again and compared with what
// the run reported.
func (v *servedSASRec) Evaluate(ctx context.Context) (run.Result, error) {
	var was SASRecOutcome
	if err := run.ReadMetrics(v.run.Dir, &was); err != nil {
		return nil, err
	}
	ranks, err := v.f.ranking(sasrecHeldOut(v.f.data, true)).ranks(ctx)
	if err != nil {
		return nil, err
	}
	if len(was.Evaluations) == 0 {
		return nil, fmt.Errorf("%s: metrics.json reports no evaluation", v.run.Dir)
	}
	now := newSASRecScores(was.Evaluations[0].Name, metrics.Summary(was.Metrics, ranks))
	now.Paper = was.Evaluations[0].Paper
	worst := 0.0
	for _, m := range was.Metrics {
		worst = max(worst, math.Abs(now.Values[m.String()]-was.Evaluations[0].Values[m.String()]))
	}
	was.Evaluations = []SASRecScores{now}
	table, err := was.comparison().Table()
	if err != nil {
		return nil, err
	}
	note := "equal to what the run reported"
	if worst != 0 {
		note = fmt.Sprintf("differs from what the run reported by up to %.2g", worst)
	}
	table.Notes = append(table.Notes, note)
	return v.document("Evaluation", table), nil
}

// document is an answer.
func (v *servedSASRec) document(what string, t *report.Table) *report.Document {
	return &report.Document{
		Title:    fmt.Sprintf("%s of %s on %s", what, v.f.config.method(), v.f.data.Source.Title),
		Subtitle: "run " + v.run.Dir, Level: v.f.data.Source.Level, Tables: []*report.Table{t},
	}
}
