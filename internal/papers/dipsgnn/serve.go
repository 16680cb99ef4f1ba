package dipsgnn

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/eval"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// served answers for a finished run by the parameters in its checkpoint. Features are
// perturbed once more by the same keys, which gives the same rows; noise on aggregations
// is new, and recorded in a ledger that nobody keeps.
type served struct {
	x    *experiment
	f    run.Finished
	last *part // every user's whole training sequence
}

// serve opens a finished run.
func serve[C setting](method string) func(context.Context, run.Finished, C) (run.Server, error) {
	return func(ctx context.Context, f run.Finished, c C) (run.Server, error) {
		cfg := c.shared()
		d, err := registry.Load(ctx, cfg.data.Name, cfg.data.Recipe, registry.Options{Seed: f.Seed})
		if err != nil {
			return nil, err
		}
		if f.Data(d.Source.Title) != d.Source.Hash {
			return nil, &run.UsageError{Message: fmt.Sprintf("data %s are not those of the run in %s", d.Source.Title, f.Dir), Fix: "restore the data"}
		}
		x, err := cut(&run.Env{Seed: f.Seed, Dir: f.Dir, ConfigHash: f.Manifest.ConfigHash}, method, c, d)
		if err != nil {
			return nil, err
		}
		if err := x.rehearse(any(c)); err != nil {
			return nil, err
		}
		if private, ok := any(c).(Config); ok {
			if err := x.protect(private); err != nil {
				return nil, err
			}
		}
		s := &served{x: x, f: f}
		if s.last, err = x.whole(); err != nil {
			return nil, err
		}
		return s, x.restore(f.Dir)
	}
}

// protect puts the run's own noise in the place of the rehearsed one.
func (x *experiment) protect(c Config) error {
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return err
	}
	p := &protection{env: x.env, x: x, cfg: c, ledger: l, once: l, noises: map[string]*aggregationNoise{}}
	if c.Model.UserInput == UserFeatures {
		if x.user.features, err = p.perturbUsers(x.data.Features); err != nil {
			return err
		}
	}
	x.noise = nil
	if !math.IsInf(c.Privacy.Transitions.Epsilon, 1) {
		x.noise = func(q *part) (noise, error) { return p.on(q) }
	}
	return nil
}

// whole is a sample a user whose prefix is the whole training sequence. What follows it
// is not asked for; an item stands in its place, since a sample has one.
func (x *experiment) whole() (*part, error) {
	sequences := make([][]int32, len(x.data.Train))
	var all dataset.Samples
	for u, seq := range x.data.Train {
		if sequences[u] = seq; len(seq) == 0 {
			continue
		}
		sequences[u] = append(slices.Clone(seq), seq[0])
		all.User, all.Length = append(all.User, int32(u)), append(all.Length, int32(len(seq)))
	}
	return newPart("last", sequences, all, x.items)
}

// restore fills the network with the parameters that the run reported: those of the best
// epoch where one was chosen, of the last one otherwise.
func (x *experiment) restore(dir string) error {
	path := filepath.Join(dir, "checkpoint", "checkpoint.safetensors")
	tensors, _, err := run.ReadSafetensors(path)
	if err != nil {
		return run.WithHint(fmt.Errorf("read parameters: %w", err), "train again with another --out")
	}
	prefix := "param/"
	if slices.ContainsFunc(tensors, func(t run.NamedTensor) bool { return strings.HasPrefix(t.Name, "best/") }) {
		prefix = "best/"
	}
	for _, p := range x.on(x.train).Params() {
		at := slices.IndexFunc(tensors, func(t run.NamedTensor) bool { return t.Name == prefix+p.Name })
		if at < 0 {
			return fmt.Errorf("read parameters: %s has no %q", path, prefix+p.Name)
		}
		if err := tensors[at].CopyTo(p.Value); err != nil {
			return fmt.Errorf("read parameters: %s: %w", path, err)
		}
	}
	return nil
}

// Recommend implements run.Server: what may follow a user's training sequence, by the
// first of the run's evaluations, or by the one that a release names. As in the paper's
// protocol nothing is left out that the user has.
func (s *served) Recommend(ctx context.Context, o run.Recommend) (run.Result, error) {
	x, mode := s.x, s.x.modes[0]
	if o.Release != "" {
		if mode = o.Release; !slices.Contains(x.modes, mode) {
			return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s has no release %q", s.f.Dir, mode), Fix: fmt.Sprintf("its evaluations are with noise %s", strings.Join(x.modes, ", "))}
		}
	}
	if o.K < 1 || o.K > x.data.Items {
		return nil, &run.UsageError{Message: fmt.Sprintf("%d items a user asked for, want 1 to %d", o.K, x.data.Items)}
	}
	sampleOf := make(map[string]int32, len(x.data.UserIDs))
	for i, u := range s.last.samples.User {
		sampleOf[x.data.UserIDs[u]] = int32(i)
	}
	var samples []int32
	for _, id := range o.Users {
		i, ok := sampleOf[id]
		if !ok {
			return nil, &run.UsageError{Message: fmt.Sprintf("%s has no user %q with training items", x.data.Name, id), Fix: "users go by the names in the data files"}
		}
		samples = append(samples, i)
	}
	r := x.on(s.last)
	r.pass = 2*x.cfg.train.Epochs + len(x.modes) // after those of the run's evaluations
	if mode == NoiseOn && x.noise != nil {
		var err error
		if r.noise, err = x.noise(s.last); err != nil {
			return nil, err
		}
	}
	nameless := make([]int32, 0, x.items-x.data.Items) // candidates without a training row have no id
	for i := x.data.Items; i < x.items; i++ {
		nameless = append(nameless, int32(i))
	}
	lists, err := eval.Top(ctx, r, samples, o.K, eval.Options{Tape: x.tape, Exclude: func(int32) []int32 { return nameless }})
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", run.ErrInterrupted, err)
	}
	if err != nil {
		return nil, err
	}
	t := &report.Table{Name: "recommendations", Columns: []report.Column{{Name: "user"}, {Name: "rank"}, {Name: "item"}, {Name: "score", Format: "%.6g"}}}
	for k, list := range lists {
		for at, item := range list {
			t.Add(o.Users[k], at+1, x.data.ItemIDs[item.Index+1], item.Score)
		}
	}
	t.Notes = append(t.Notes, "items that the user has are not left out, as in the paper's protocol")
	d := s.document("Recommendations")
	if len(x.modes) > 1 || mode == NoiseOn {
		d.Subtitle += "; noise " + mode
	}
	d.Tables = append(d.Tables, t)
	return d, nil
}

// Histories implements run.Historian: the training sequences.
func (s *served) Histories(context.Context) ([]run.History, string, error) {
	var list []run.History
	for u, seq := range s.x.data.Train {
		h := run.History{User: s.x.data.UserIDs[u]}
		for _, item := range seq {
			h.Items = append(h.Items, s.x.data.ItemIDs[item])
		}
		if len(seq) > 0 {
			list = append(list, h)
		}
	}
	return list, "behaviours are in the order of time", nil
}

// Evaluate implements run.Server: the test samples are ranked again under every
// evaluation of the run and compared with what it reported.
func (s *served) Evaluate(ctx context.Context) (run.Result, error) {
	var was Outcome
	if err := run.ReadMetrics(s.f.Dir, &was); err != nil {
		return nil, err
	}
	x := s.x
	o := &Outcome{Method: x.method, Metrics: x.metrics(), Floors: was.Floors}
	worst := 0.0
	for i, mode := range x.modes {
		ranks, err := x.rank(ctx, x.test, mode, 2*x.cfg.train.Epochs+i)
		if err != nil {
			return nil, err
		}
		e := scores(fmt.Sprintf("%s, noise %s", x.method, mode), mode, metrics.Summary(o.Metrics, ranks))
		o.Evaluations = append(o.Evaluations, e)
		for name, v := range e.Values {
			if i < len(was.Evaluations) {
				worst = max(worst, math.Abs(v-was.Evaluations[i].Values[name]))
			}
		}
	}
	table, err := o.comparison(x.data.Source.Level).Table()
	if err != nil {
		return nil, err
	}
	d := s.document("Evaluation")
	d.Tables = append(d.Tables, table)
	d.Notes = append(d.Notes, "equal to what the run reported")
	if worst > 0 {
		d.Notes[0] = fmt.Sprintf("differs from what the run reported by up to %.2g", worst)
	}
	return d, nil
}

// document is an answer without its tables.
func (s *served) document(what string) *report.Document {
	return &report.Document{Title: fmt.Sprintf("%s of %s on %s", what, s.x.method, s.x.data.Source.Title),
		Subtitle: fmt.Sprintf("%s; run %s", s.x.standing, s.f.Dir), Level: s.x.data.Source.Level}
}

// Close implements run.Server: it gives the tables back.
func (s *served) Close() {
	for _, p := range s.x.on(s.x.train).Params() {
		tensor.Free(p.Value)
	}
}
