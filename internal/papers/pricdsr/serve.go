package pricdsr

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// modelFile holds the parameters of the reported model.
const modelFile = "model.safetensors"

// keep writes the parameters of the reported model.
func (x *experiment) keep(f *fitted) error {
	return x.env.WriteArtefact(modelFile, func(w io.Writer) error {
		var tensors []run.NamedTensor
		for _, p := range f.trainer.model.Params() {
			tensors = append(tensors, run.MatrixTensor(p.Name, p.Value))
		}
		return run.WriteSafetensors(w, tensors, nil)
	})
}

// served answers for a finished run by the parameters that it kept.
type served struct {
	x *experiment
	f run.Finished
	t *trainer
}

// serve opens a finished run. The auxiliary rows are released once more by the same
// keys, which gives the same rows and is no other release.
func serve(ctx context.Context, f run.Finished, c Config) (run.Server, error) {
	d, err := c.loadCross(ctx, f.Seed)
	if err != nil {
		return nil, err
	}
	if f.Data(d.Source.Title) != d.Source.Hash {
		return nil, &run.UsageError{Message: fmt.Sprintf("data %s are not those of the run in %s", d.Source.Title, f.Dir), Fix: "restore the data"}
	}
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return nil, err
	}
	x, err := prepare(&run.Env{Seed: f.Seed, Dir: f.Dir, ConfigHash: f.Manifest.ConfigHash}, c, d, l)
	if err != nil {
		return nil, err
	}
	t, err := newTrainer(x.newModel(), x.final, c, f.Seed)
	if err != nil {
		return nil, err
	}
	if err := t.read(filepath.Join(f.Dir, modelFile)); err != nil {
		giveBack(t)
		return nil, err
	}
	return &served{x: x, f: f, t: x.rankingOf(t)}, nil
}

// read fills the model with the parameters of a file.
func (t *trainer) read(path string) error {
	tensors, _, err := run.ReadSafetensors(path)
	if err != nil {
		return run.WithHint(fmt.Errorf("read parameters: %w", err), "train again with another --out")
	}
	for _, p := range t.model.Params() {
		at := slices.IndexFunc(tensors, func(t run.NamedTensor) bool { return t.Name == p.Name })
		if at < 0 {
			return fmt.Errorf("read parameters: %s has no %q", path, p.Name)
		}
		if err := tensors[at].CopyTo(p.Value); err != nil {
			return fmt.Errorf("read parameters: %s: %w", path, err)
		}
	}
	return nil
}

// Recommend implements run.Server: items of the target domain that a user has in train
// or validation are left out.
func (s *served) Recommend(ctx context.Context, o run.Recommend) (run.Result, error) {
	target := &s.x.data.Domains[0]
	if o.Release != "" {
		return nil, run.NoRelease(s.f.Dir, o.Release)
	}
	if o.K < 1 || o.K > target.Items {
		return nil, &run.UsageError{Message: fmt.Sprintf("%d items a user asked for, want 1 to %d", o.K, target.Items)}
	}
	t := &report.Table{Name: "recommendations", Columns: []report.Column{{Name: "user"}, {Name: "rank"}, {Name: "item"}, {Name: "score", Format: "%.6g"}}}
	scores := tensor.New(1, target.Items)
	for _, id := range o.Users {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", run.ErrInterrupted, context.Cause(ctx))
		}
		u := slices.Index(s.x.data.UserIDs, id)
		if u < 0 {
			return nil, &run.UsageError{Message: fmt.Sprintf("%s has no user %q", s.x.data.Name, id), Fix: "users go by the names in the data files"}
		}
		_, err := s.t.score(s.x.tape, func() []tensor.Float {
			s.t.model.All(s.x.tape, 0, s.t.last([]int32{int32(u)}), scores)
			return scores.Data
		})
		if err != nil {
			return nil, err
		}
		for r, i := range topItems(scores.Data, s.x.test.seen[u], o.K) {
			t.Add(id, r+1, target.ItemIDs[i], float64(scores.Data[i-1]))
		}
	}
	t.Notes = append(t.Notes, "items that the user has in training or validation are left out; that they are missing tells them to whoever sees the list")
	d := s.document("Recommendations")
	d.Tables = append(d.Tables, t)
	return d, nil
}

// topItems lists the k items with the highest scores that are not seen, fewer where fewer
// are left; equal scores by lower item.
func topItems(scores []tensor.Float, seen []int32, k int) []int32 {
	order := make([]int32, 0, len(scores))
	for i := range scores {
		if !slices.Contains(seen, int32(i+1)) {
			order = append(order, int32(i+1))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		switch x, y := scores[a-1], scores[b-1]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return order[:min(k, len(order))]
}

// Evaluate implements run.Server: the test rows are ranked again and compared with what
// the run reported.
func (s *served) Evaluate(ctx context.Context) (run.Result, error) {
	var was Outcome
	if err := run.ReadMetrics(s.f.Dir, &was); err != nil {
		return nil, err
	}
	r, _, err := s.t.sampled(ctx, s.x.tape, s.x.test)
	if err != nil {
		return nil, err
	}
	ms := s.x.metrics()
	floors, _ := s.x.floors(s.t.part)
	c := report.Comparison{Name: "sampled", Title: fmt.Sprintf("Test rows among %d items drawn by popularity", s.x.cfg.Eval.Negatives), Level: s.x.data.Source.Level, Metrics: ms}
	for _, f := range floors {
		c.Floors = append(c.Floors, f.row(ms))
	}
	now := newScores(was.Method, ms, r)
	c.Ours = append(c.Ours, now.row(ms))
	table, err := c.Table()
	if err != nil {
		return nil, err
	}
	d := s.document("Evaluation")
	d.Tables = append(d.Tables, table)
	d.Facts = append(d.Facts, notRanked(s.x.data.Domains[0].Name, s.x.data.Domains[0].Left))
	d.Notes = append(d.Notes, differs(ms, now, was))
	return d, nil
}

// differs says whether scores are those that the run reported.
func differs(ms []metrics.Metric, now Scores, was Outcome) string {
	if len(was.Evaluations) == 0 {
		return "the run reported nothing"
	}
	worst := 0.0
	for _, m := range ms {
		worst = max(worst, math.Abs(now.Values[m.String()]-was.Evaluations[0].Values[m.String()]))
	}
	if worst == 0 {
		return "equal to what the run reported"
	}
	return fmt.Sprintf("differs from what the run reported by up to %.2g", worst)
}

// document is an answer without its tables.
func (s *served) document(what string) *report.Document {
	return &report.Document{
		Title:    fmt.Sprintf("%s of %s on %s", what, s.x.cfg.Method(), s.x.data.Source.Title),
		Subtitle: fmt.Sprintf("%s; run %s", s.x.text, s.f.Dir), Level: s.x.data.Source.Level,
	}
}

// Close implements run.Server: it gives the tables back.
func (s *served) Close() { giveBack(s.t) }

// giveBack returns the memory of a model's tables, which the garbage collector does not.
func giveBack(t *trainer) {
	for _, p := range t.model.Params() {
		tensor.Free(p.Value)
	}
}
