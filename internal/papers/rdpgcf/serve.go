package rdpgcf

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"privrec/internal/dataset/registry"
	"privrec/internal/eval"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// served answers for a finished run, by the vectors that it kept, or by a model that
// is computed again.
type served struct {
	x      *experiment
	f      run.Finished
	scorer func(ctx context.Context, release string) (eval.Scorer, error)
	done   func() // gives the model's memory back; nil: nothing to give
}

// serveVectors opens a run that kept the vectors of its releases.
func serveVectors[S setting](method string) func(context.Context, run.Finished, S) (run.Server, error) {
	return func(ctx context.Context, f run.Finished, s S) (run.Server, error) {
		x, err := reload(ctx, f, method, s)
		if err != nil {
			return nil, err
		}
		return &served{x: x, f: f, scorer: func(_ context.Context, release string) (eval.Scorer, error) {
			return x.kept(f.Dir, release)
		}}, nil
	}
}

// reload is the experiment of a finished run, without its model.
func reload(ctx context.Context, f run.Finished, method string, s setting) (*experiment, error) {
	cfg := s.common()
	d, err := registry.LoadInteractions(ctx, cfg.data.Name, cfg.data.Recipe, registry.Options{Seed: f.Seed})
	if err != nil {
		return nil, err
	}
	if f.Data(d.Source.Title) != d.Source.Hash {
		return nil, &run.UsageError{Message: fmt.Sprintf("data %s are not those of the run in %s", d.Source.Title, f.Dir), Fix: "restore the data"}
	}
	return prepare(&run.Env{Seed: f.Seed, Dir: f.Dir}, method, s, d)
}

// kept ranks by the vectors of a release on file.
func (x *experiment) kept(dir, release string) (eval.Scorer, error) {
	path := filepath.Join(dir, vectorFile(release))
	tensors, _, err := run.ReadSafetensors(path)
	if err != nil {
		return nil, run.WithHint(fmt.Errorf("read vectors: %w", err), "train again with another --out")
	}
	var found [2]tensor.Matrix
	for i, want := range []struct {
		name string
		rows int
	}{{"user", x.data.Users}, {"item", x.data.Items}} {
		at := slices.IndexFunc(tensors, func(t run.NamedTensor) bool { return t.Name == want.name })
		if at < 0 {
			return nil, fmt.Errorf("read vectors: %s has no %q", path, want.name)
		}
		if found[i], err = tensors[at].Matrix(); err != nil {
			return nil, fmt.Errorf("read vectors: %s: %w", path, err)
		}
		if found[i].Rows != want.rows {
			return nil, fmt.Errorf("read vectors: %s has %d rows of %q, the data %d", path, found[i].Rows, want.name, want.rows)
		}
	}
	if found[0].Cols != found[1].Cols {
		return nil, fmt.Errorf("read vectors: %s has users of %d and items of %d numbers", path, found[0].Cols, found[1].Cols)
	}
	return x.scorer(found[0], found[1]), nil
}

// release is the one asked for, "" for the first.
func (s *served) release(kind string) (string, error) {
	kinds := s.x.cfg.releases
	if kind == "" {
		return kinds[0], nil
	}
	if !slices.Contains(kinds, kind) {
		if kinds[0] == "" {
			return "", run.NoRelease(s.f.Dir, kind)
		}
		return "", &run.UsageError{Message: fmt.Sprintf("the run in %s has no release %q", s.f.Dir, kind), Fix: fmt.Sprintf("it has %v", kinds)}
	}
	return kind, nil
}

// Recommend implements run.Server: items that a user has in train or validation are
// left out.
func (s *served) Recommend(ctx context.Context, o run.Recommend) (run.Result, error) {
	kind, err := s.release(o.Release)
	if err != nil {
		return nil, err
	}
	if o.K < 1 || o.K > s.x.data.Items {
		return nil, &run.UsageError{Message: fmt.Sprintf("%d items a user asked for, want 1 to %d", o.K, s.x.data.Items)}
	}
	var users []int32
	for _, id := range o.Users {
		u := slices.Index(s.x.data.UserIDs, id)
		if u < 0 {
			return nil, &run.UsageError{Message: fmt.Sprintf("%s has no user %q", s.x.data.Name, id), Fix: "users go by the names in the data files"}
		}
		users = append(users, int32(u))
	}
	scorer, err := s.scorer(ctx, kind)
	if err != nil {
		return nil, err
	}
	lists, err := eval.Top(ctx, scorer, users, o.K, eval.Options{Exclude: func(user int32) []int32 { return s.x.test.seen[user] }})
	if err := s.x.interrupted(ctx, err); err != nil {
		return nil, err
	}
	t := &report.Table{Name: "recommendations", Columns: []report.Column{{Name: "user"}, {Name: "rank"}, {Name: "item"}, {Name: "score", Format: "%.6g"}}}
	for k, list := range lists {
		for r, item := range list {
			t.Add(o.Users[k], r+1, s.x.data.ItemIDs[item.Index], item.Score)
		}
	}
	t.Notes = append(t.Notes, "items that the user has in training or validation are left out; that they are missing tells them to whoever sees the list")
	d := s.document("Recommendations", kind)
	d.Tables = append(d.Tables, t)
	return d, nil
}

// Evaluate implements run.Server: the test rows are ranked again by every release, and
// compared with what the run reported.
func (s *served) Evaluate(ctx context.Context) (run.Result, error) {
	x, ms := s.x, s.x.metrics()
	random, popular, err := x.floors(ctx, ms)
	if err != nil {
		return nil, err
	}
	o := &Outcome{Method: x.method, Data: x.summary(), Metrics: ms, Published: References(x.data.Name, x.data.Source.Level),
		Floors: []Scores{scores("random", "", random), scores("popularity", "", popular)}}
	for _, kind := range x.cfg.releases {
		scorer, err := s.scorer(ctx, kind)
		if err != nil {
			return nil, err
		}
		ranks, err := x.rank(ctx, scorer, x.test, depth(ms))
		if err != nil {
			return nil, err
		}
		name := x.method
		if kind != "" {
			name += ", release " + kind
		}
		o.Evaluations = append(o.Evaluations, scores(name, kind, metrics.SummarySet(ms, ranks)))
	}
	table, err := o.comparison(x.data.Source.Level).Table()
	if err != nil {
		return nil, err
	}
	d := s.document("Evaluation", "")
	d.Facts = append(d.Facts, o.facts()[0])
	d.Tables = append(d.Tables, table)
	if t := o.published(); t != nil {
		d.Tables = append(d.Tables, t)
	}
	note, err := s.compare(o)
	if err != nil {
		return nil, err
	}
	d.Notes = append(d.Notes, note)
	return d, nil
}

// compare says whether the scores are those that the run reported.
func (s *served) compare(o *Outcome) (string, error) {
	var was Outcome
	if err := run.ReadMetrics(s.f.Dir, &was); err != nil {
		return "", err
	}
	worst := 0.0
	for _, e := range o.Evaluations {
		at := slices.IndexFunc(was.Evaluations, func(w Scores) bool { return w.Release == e.Release })
		if at < 0 {
			return fmt.Sprintf("the run reported nothing for release %q", e.Release), nil
		}
		for name, v := range e.Values {
			worst = max(worst, math.Abs(v-was.Evaluations[at].Values[name]))
		}
	}
	if worst == 0 {
		return "equal to what the run reported", nil
	}
	return fmt.Sprintf("differs from what the run reported by up to %.2g", worst), nil
}

// document is an answer without its tables.
func (s *served) document(what, release string) *report.Document {
	title := fmt.Sprintf("%s of %s on %s", what, s.x.method, s.x.data.Source.Title)
	if release != "" {
		title += ", release " + release
	}
	return &report.Document{Title: title, Subtitle: fmt.Sprintf("%s; run %s", s.x.standing.text, s.f.Dir), Level: s.x.data.Source.Level}
}

// Close implements run.Server.
func (s *served) Close() {
	if s.done != nil {
		s.done()
	}
}
