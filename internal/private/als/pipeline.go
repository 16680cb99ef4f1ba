package als

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/privacy"
	"privrec/internal/privacy/audit"
	"privrec/internal/private/release"
	"privrec/internal/protocol/static"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Name of the method in tables.
const Name = "DP-ALS"

// Cite names the publications.
const Cite = "Chien et al., Private Alternating Least Squares, ICML 2021; Krichene et al., Multi-Task Differential " +
	"Privacy Under Distribution Skew, ICML 2023"

// Task returns the task train dp-als.
func Task() run.Task {
	return run.Spec[Config]{
		Verb: "train", Name: "dp-als", Noisy: true,
		Summary: "alternating least squares with noise on items' sums, private for a whole user", Cite: Cite,
		Default: Default, Check: check, Answers: true, Open: open,
	}.Task()
}

// work holds a run and its data.
type work struct {
	env      *run.Env
	data     *dataset.Interactions
	cfg      Config
	releaser *release.Releaser
}

// open loads the data and declares the assumptions of a finite epsilon.
func open(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
	if env.Rehearsing() {
		return nil, run.ErrNoForecast
	}
	standing, err := experiment.Stand(c, c.Profile, map[string]Config{Default().Profile: Default()}, nil,
		topn.Free()...)
	if err != nil {
		return nil, err
	}
	m := topn.Method{Name: Name, Standing: standing, Data: c.Data, Eval: c.Eval,
		Shape: topn.Shape{Dim: c.Model.Dim, Epsilon: c.Privacy.Epsilon}}
	a := release.NewAccount(c.Privacy, "Gaussian mechanism, on counts and in every round", nil)
	w := &work{env: env, cfg: c}
	x, err := release.Load(ctx, env, c.Protocol, m)
	if err != nil {
		return nil, err
	}
	x.Redraw = func(ctx context.Context, items int) ([]audit.Release, error) { return w.redraw(ctx, x, items) }
	if x.Kept() {
		return x.Work, nil
	}
	x.Compute(ctx, func(ctx context.Context, r static.Rows) (*topn.Made, error) {
		w.data = r.Interactions
		return w.make(ctx)
	})
	a.Of(x.Core, func() error { return a.Compose(w.releaser.Ledger) })
	return x.Work, w.declare(a, x.Data)
}

// declare opens the ledger, for data that can be trained on.
func (w *work) declare(a *release.Account, d *dataset.Interactions) error {
	if err := checkUsers(d.Users); err != nil {
		return err
	}
	if err := a.Decide(w.env, d.Source, experiment.Taken{Items: true}); err != nil {
		return err
	}
	if w.cfg.Model.Values == ValuesRatings {
		if err := checkRatings(d); err != nil {
			return err
		}
	}
	sums, err := w.cfg.sums()
	if err != nil {
		return err
	}
	declared, err := a.Declares(sums)
	if err != nil {
		return err
	}
	ledger, err := w.env.Ledger(w.cfg.Privacy.Marks(), declared)
	w.into(ledger)
	return err
}

// into sets the ledger of the releases.
func (w *work) into(l *privacy.Ledger) {
	w.releaser = &release.Releaser{Ledger: l, Releases: w.cfg.Model.releases(),
		Noise: func(purpose string) (rng.Stream, error) { return w.env.Noise("private.als", purpose) }}
}

// draw returns the random choice of the items that users contribute to one kind of release.
func (w *work) draw(to string, most int, weights []float64) release.Draw {
	return release.Draw{Items: most, Weights: weights, Stream: w.env.Seed.Stream("private.contributions." + to)}
}

// begin releases the counts and prepares the rounds.
func (w *work) begin() (*trainer, []round, error) {
	counts, rounds, err := w.cfg.plan()
	if err != nil {
		return nil, nil, err
	}
	p, d := w.cfg.Privacy, w.data
	released, err := w.releaser.Counts(counts, w.draw("counts", p.PerCount(), nil).All(d.UserIDs, d.Train), d.Items)
	if err != nil {
		return nil, nil, err
	}
	t := &trainer{cfg: w.cfg, releaser: w.releaser}
	t.prior = newPrior(released, w.cfg.Model.Items, w.cfg.Model.ItemWeight, counts.Deviation())
	if m := len(t.prior.items); m <= w.cfg.Model.Dim {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("model.dim: %d, but the data has %d items",
			w.cfg.Model.Dim, m), Fix: "take fewer"}
	}
	weights := release.Weights(released, t.prior.items, counts.Deviation(), p.Prefer)
	if t.rows, err = newRows(d, t.prior, w.cfg.Model, w.draw("rounds", p.Items, weights)); err != nil {
		return nil, nil, err
	}
	return t, rounds, t.begin(w.env.Seed.Stream("private.als.first"))
}

// make runs the rounds and returns the vectors.
func (w *work) make(ctx context.Context) (*topn.Made, error) {
	defer w.env.Stage("train")()
	t, rounds, err := w.begin()
	if err != nil {
		return nil, err
	}
	p := w.env.Progress
	p.Begin("round", len(rounds))
	if err := t.train(ctx, rounds, func() { p.Add(1) }); err != nil {
		return nil, err
	}
	p.End(fmt.Sprintf("%d rounds", len(rounds)))
	if err := w.releaser.Ledger.Flush("before the ranking"); err != nil {
		return nil, err
	}
	users, items, err := t.vectors()
	if err != nil {
		return nil, err
	}
	return &topn.Made{Scorer: &bpr.Ranking{Users: users, Goods: items},
		Vectors: &experiment.Vectors{Users: users, Items: items}}, nil
}
