package auditing

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/privacy/audit"
	"privrec/internal/run"
)

// finding holds the result of an audit.
type finding struct {
	*subject
	accounted Accounted
	delta     float64
	rows      []Row        // the audited one, the positive control, the negative control
	seen      []audit.Seen // of the releases, where these are seen
	models    int
}

// number returns the number of canaries.
func (s *subject) number() int { return max(len(s.canaries), len(s.lines)) }

// Names of the rows of a result.
const (
	Audited  = "audited"
	Positive = "positive control"
	Negative = "negative control"
)

// find trains the models and computes the bounds.
func (w *work) find(ctx context.Context) (*finding, error) {
	if w.Audit.Sees == SeesRelease {
		return w.redrawn(ctx)
	}
	switch w.Audit.Method {
	case Canary:
		return w.canary(ctx)
	case Membership:
		return w.membership(ctx)
	}
	return w.oneRun(ctx)
}

// begin opens the first trained model and reads the guarantee of its account.
func (w *work) begin(ctx context.Context, dir string) (*finding, error) {
	s, err := w.open(ctx, w.dir(dir))
	if err != nil {
		return nil, err
	}
	return w.holds(&finding{subject: s}, dir)
}

// holds records the audited subject in the finding, and reads the guarantee of its account.
func (w *work) holds(f *finding, dir string) (*finding, error) {
	s := f.subject
	if err := w.env.RecordData(s.of.Data.Source.Title, s.of.Data.Source.Hash); err != nil {
		return nil, err
	}
	if err := w.env.RecordData("the audited run's configuration", s.manifest.ConfigHash); err != nil {
		return nil, err
	}
	a, err := experiment.ReadAccount(w.dir(dir))
	if err != nil {
		return nil, err
	}
	f.accounted, f.delta = accounted(a, w.Audit.neighbours()), w.Audit.Delta
	f.accounted.shown(s.joint || s.sequences() && w.Audit.Sees == SeesVectors)
	if f.accounted.finite() {
		f.delta = f.accounted.Delta
	}
	return f, nil
}

// shown trains the models of a list, one after the other, and returns each one's scores of the canaries.
func (w *work) shown(ctx context.Context, f *finding, stage string, models []model) ([][]float64, error) {
	defer w.env.Stage(stage)()
	w.env.Progress.Begin(stage, len(models))
	defer w.env.Progress.End("")
	out := make([][]float64, len(models))
	for k, m := range models {
		if err := w.train(ctx, m); err != nil {
			return nil, err
		}
		var err error
		if out[k], err = w.see(ctx, f.subject, w.dir(m.dir)); err != nil {
			return nil, run.Interrupted(ctx, err)
		}
		f.models++
		w.env.Progress.Add(1)
	}
	return out, nil
}

// reference returns the mean score of each canary over models trained without canaries.
func (w *work) reference(ctx context.Context, f *finding, off bool) ([]float64, error) {
	var models []model
	for k := range w.Audit.References {
		models = append(models, model{dir: folder("reference", off, k+1), seed: uint64(w.env.Seed) + 1000 + uint64(k),
			coins: run.CoinsOut, off: off})
	}
	all, err := w.shown(ctx, f, "reference models", models)
	if err != nil {
		return nil, err
	}
	mean := make([]float64, f.number())
	for _, one := range all {
		for i, v := range one {
			mean[i] += v / float64(len(all))
		}
	}
	return mean, nil
}

// folder names the folder of a model.
func folder(kind string, off bool, k int) string {
	if off {
		kind += "-without-noise"
	}
	return filepath.Join(kind, fmt.Sprint(k))
}

func less(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// oneRun audits with many canaries in one training.
func (w *work) oneRun(ctx context.Context) (*finding, error) {
	first := model{dir: folder("audited", false, 1), seed: uint64(w.env.Seed)}
	if err := w.train(ctx, first); err != nil {
		return nil, err
	}
	f, err := w.begin(ctx, first.dir)
	if err != nil {
		return nil, err
	}
	coins, err := w.plant.Flips(w.env.Seed)
	if err != nil {
		return nil, err
	}
	base, err := w.reference(ctx, f, false)
	if err != nil {
		return nil, err
	}
	all, err := w.shown(ctx, f, "audited model",
		[]model{first, {dir: folder("negative-control", false, 1), seed: uint64(w.env.Seed) + 1, coins: run.CoinsOut}})
	if err != nil {
		return nil, err
	}
	add := func(name, what string, scores []float64) error {
		r, err := w.Audit.oneRun(Row{Name: name, What: what}, coins, [][]float64{scores}, f.delta)
		f.rows = append(f.rows, r)
		return err
	}
	if err := add(Audited, fmt.Sprintf("one training with each of %d canaries in or out by a coin", f.number()),
		less(all[0], base)); err != nil {
		return nil, err
	}
	if err := w.positive(ctx, f, func() (Row, error) {
		clear, err := w.reference(ctx, f, true)
		if err != nil {
			return Row{}, err
		}
		loud, err := w.shown(ctx, f, "positive control",
			[]model{{dir: folder("audited", true, 1), seed: uint64(w.env.Seed), off: true}})
		if err != nil {
			return Row{}, err
		}
		return w.Audit.oneRun(Row{}, coins, [][]float64{less(loud[0], clear)}, f.delta)
	}); err != nil {
		return nil, err
	}
	return f, add(Negative, "one training with no canary, held against coins that were never used", less(all[1], base))
}

// positive adds the positive control: the audit of the same setting without noise. For a model that has no noise the
// audit itself is the control.
func (w *work) positive(_ context.Context, f *finding, without func() (Row, error)) error {
	r := f.rows[0]
	what := "the audited model: it has no noise"
	if len(w.off) > 0 {
		var err error
		if r, err = without(); err != nil {
			return err
		}
		what = fmt.Sprintf("the same, with the noise off: %v", w.off)
		if r.Bound.Epsilon == 0 && len(w.Target.Off) == 0 &&
			slices.ContainsFunc(w.off, func(set string) bool { return !strings.HasSuffix(set, "="+large[0]) }) {
			what += "; the finite epsilon leaves some noise, and target.off can name keys that leave none"
		}
	}
	r.Name, r.What = Positive, what
	f.rows = append(f.rows, r)
	return nil
}

// canary audits one canary with many trainings, with it and without it.
func (w *work) canary(ctx context.Context) (*finding, error) {
	half := w.Audit.Runs / 2
	models := func(kind, coins string, off bool, seed uint64) (out []model) {
		for k := range half {
			out = append(out, model{dir: folder(kind, off, k+1), seed: uint64(w.env.Seed) + seed + uint64(k),
				coins: coins, off: off})
		}
		return out
	}
	with, without := models("with", run.CoinsIn, false, 10_000), models("without", run.CoinsOut, false, 200_000)
	if err := w.train(ctx, with[0]); err != nil {
		return nil, err
	}
	f, err := w.begin(ctx, with[0].dir)
	if err != nil {
		return nil, err
	}
	pair := func(stage string, with, without []model) (a, b []float64, err error) {
		all, err := w.shown(ctx, f, stage, append(append([]model{}, with...), without...))
		for k, s := range all {
			if k < len(with) {
				a = append(a, s[0])
			} else {
				b = append(b, s[0])
			}
		}
		return a, b, err
	}
	in, out, err := pair("audited models", with, without)
	if err != nil {
		return nil, err
	}
	r, err := w.Audit.twoRun(Row{Name: Audited, What: fmt.Sprintf("%d trainings with the canary and %d without it",
		half, half)}, in, out, f.delta)
	if err != nil {
		return nil, err
	}
	f.rows = append(f.rows, r)
	if err := w.positive(ctx, f, func() (Row, error) {
		in, out, err := pair("positive control", models("with", run.CoinsIn, true, 10_000),
			models("without", run.CoinsOut, true, 200_000))
		if err != nil {
			return Row{}, err
		}
		return w.Audit.twoRun(Row{}, in, out, f.delta)
	}); err != nil {
		return nil, err
	}
	r, err = w.Audit.twoRun(Row{Name: Negative,
		What: "the trainings without the canary, every other one taken for one with it"}, every(out, 0), every(out, 1),
		f.delta)
	f.rows = append(f.rows, r)
	return f, err
}

// every returns every other value, beginning with index from.
func every(x []float64, from int) (out []float64) {
	for i := from; i < len(x); i += 2 {
		out = append(out, x[i])
	}
	return out
}

// contradiction returns an error if the bound is above the account.
func (f *finding) contradiction(w *work) error {
	r := f.rows[0]
	c := &audit.Contradiction{Audited: r.Bound, Accounted: float64(f.accounted.Epsilon), Unit: f.accounted.Unit,
		Of: w.task.String(), Faults: f.faults()}
	switch {
	case !f.accounted.finite():
		return nil
	case r.Bound.Contradicts(float64(f.accounted.Epsilon)):
		return c
	case r.Found != nil && r.Found.Contradicts():
		c.Found = r.Found
		return c
	}
	return nil
}
