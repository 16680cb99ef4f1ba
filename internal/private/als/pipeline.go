package als

import (
	"context"
	"fmt"

	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Name of the method in tables.
const Name = "DP-ALS"

// Cite is the publications.
const Cite = "Chien et al., Private Alternating Least Squares, ICML 2021; Krichene et al., Multi-Task Differential Privacy Under Distribution Skew, ICML 2023"

// Task returns what the command line offers.
func Task() run.Task {
	return run.Spec[Config]{
		Verb: "train", Name: "dp-als", Summary: "alternating least squares with noise on items' sums, private for a whole user", Cite: Cite,
		Default: Default, Check: check, Answers: true, Open: open,
	}.Task()
}

// work is a run on its data.
type work struct {
	*topn.Experiment
	cfg      Config
	releaser *release.Releaser
}

// open loads the data and declares what a finite epsilon takes as public.
func open(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
	if env.Rehearsing() {
		return nil, run.ErrNoForecast
	}
	standing, err := experiment.Stand(c, c.Profile, map[string]Config{Default().Profile: Default()}, nil, topn.Free()...)
	if err != nil {
		return nil, err
	}
	x, err := topn.Load(ctx, env, topn.Method{Name: Name, Standing: standing, Data: c.Data, Eval: c.Eval, Shape: topn.Shape{Dim: c.Model.Dim, Epsilon: c.Privacy.Epsilon}})
	if err != nil || x.Finished() {
		return x, err
	}
	if err := checkUsers(x.Data.Users); err != nil {
		return nil, err
	}
	if c.Model.Values == ValuesRatings {
		if err := checkRatings(x.Data); err != nil {
			return nil, err
		}
	}
	a := release.NewAccount(c.Privacy, "Gaussian mechanism, on counts and in every round", nil)
	sums, err := c.sums()
	if err != nil {
		return nil, err
	}
	d, err := a.Declares(sums)
	if err != nil {
		return nil, err
	}
	ledger, err := env.Ledger(c.Privacy.Marks(), d)
	if err != nil {
		return nil, err
	}
	w := &work{Experiment: x, cfg: c, releaser: &release.Releaser{Ledger: ledger, Releases: c.Model.releases(),
		Noise: func(purpose string) rng.Stream { return env.Noise("private.als", purpose) }}}
	x.Make = w.make
	x.Account = func(*experiment.Fitted) (topn.Account, error) { return a, a.Compose(ledger) }
	x.Planned = func() (topn.Account, error) { return a.Planned(), nil }
	return w, nil
}

// draw returns the draw of what users contribute to one kind of release.
func (w *work) draw(to string, most int, weights []float64) release.Draw {
	return release.Draw{Items: most, Weights: weights, Stream: w.Env.Seed.Stream("private.contributions." + to)}
}

// begin releases the counts and prepares the rounds.
func (w *work) begin() (*trainer, []round, error) {
	counts, rounds, err := w.cfg.plan()
	if err != nil {
		return nil, nil, err
	}
	p, d := w.cfg.Privacy, w.Data
	released, err := w.releaser.Counts(counts, w.draw("counts", p.PerCount(), nil).All(d.UserIDs, d.Train), d.Items)
	if err != nil {
		return nil, nil, err
	}
	t := &trainer{cfg: w.cfg, releaser: w.releaser}
	t.prior = newPrior(released, w.cfg.Model.Items, w.cfg.Model.ItemWeight, counts.Deviation())
	if m := len(t.prior.items); m <= w.cfg.Model.Dim {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("model.dim: %d, but the data has %d items", w.cfg.Model.Dim, m), Fix: "take fewer"}
	}
	weights := release.Weights(released, t.prior.items, counts.Deviation(), p.Prefer)
	if t.rows, err = newRows(d, t.prior, w.cfg.Model, w.draw("rounds", p.Items, weights)); err != nil {
		return nil, nil, err
	}
	return t, rounds, t.begin(w.Env.Seed.Stream("private.als.first"))
}

// make makes the rounds and returns the vectors.
func (w *work) make(ctx context.Context) (*topn.Made, error) {
	defer w.Env.Stage("train")()
	t, rounds, err := w.begin()
	if err != nil {
		return nil, err
	}
	p := w.Env.Progress
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
	return &topn.Made{Scorer: &bpr.Ranking{Users: users, Goods: items}, Vectors: &experiment.Vectors{Users: users, Items: items},
		Close: func() { tensor.Free(users); tensor.Free(items) }}, nil
}
