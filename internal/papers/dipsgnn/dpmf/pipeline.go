package dpmf

import (
	"context"
	"fmt"

	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/privacy"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
)

const cite = "Hua, Xia, Zhong, Differentially private matrix factorization, IJCAI 2015, as Table 2 of Hu & Fang, " +
	"arXiv 2309.11515, has it"

// Tasks returns the tasks of the two methods.
func Tasks() []run.Task {
	return []run.Task{
		explicit.task("dpmf-exp", "factors of ratings with noise in the objective, next item (DIPSGNN's Table 2)"),
		implicit.task("dpmf-imp",
			"factors of interactions and drawn negatives with noise in the objective, next item (DIPSGNN's Table 2)"),
	}
}

// task returns the task of a method.
func (m form) task(name, summary string) run.Task {
	return run.Spec[Config]{
		Verb: "train", Name: name, Noisy: true, Summary: summary, Cite: cite, Default: Default, Check: check,
		Answers: true,
		Suit: func(c *Config, doc *config.Document) error {
			return c.Data.Suit(doc, registry.Need{Ratings: m.method == explicit.method})
		},
		Open: func(ctx context.Context, env *run.Env, c Config) (run.Work, error) { return m.open(ctx, env, c) },
	}.Task()
}

// open loads the data and declares what the run leaves unprotected.
func (m form) open(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
	if env.Rehearsing() {
		return nil, run.ErrNoForecast
	}
	standing, err := experiment.Stand(c, c.Profile, map[string]Config{"paper": Default()}, nil, "data.")
	if err != nil {
		return nil, err
	}
	x, err := nextitem.Load(ctx, env, nextitem.Setting{
		Method: m.method, Standing: standing, Table: dipsgnn.Tables(), From: c.Data,
		Fit: nextitem.Training{Select: nextitem.SelectLast}, Eval: nextitem.Ranking{K: c.Eval.K},
	})
	if err != nil {
		return nil, err
	}
	all, err := m.cells(x.Data, x.Items, env.Seed.Stream("dpmf.negatives"))
	if err != nil {
		return nil, err
	}
	a := m.account(c)
	ledger, err := env.Ledger(privacy.Research, a.Declaration())
	if err != nil {
		return nil, err
	}
	x.New = func(*nextitem.Part) (nextitem.Learner, error) { return m.fit(ctx, x, c, all, ledger) }
	x.Account = func(*experiment.Fitted) (experiment.Privacy, error) { return c.compose(a, ledger, all.held()) }
	return x, nil
}

// fit trains, with the noise, and returns the vectors.
func (m form) fit(ctx context.Context, x *nextitem.Experiment, c Config, all *cells,
	l *privacy.Ledger) (nextitem.Learner, error) {
	if err := l.Hold(all.held()); err != nil {
		return nil, err
	}
	f := newFactors(c, all, x.Env.Seed)
	noise, err := x.Env.Noise(m.method, purpose)
	if err != nil {
		return nil, err
	}
	if err := f.open(m.distance, l, noise); err != nil {
		return nil, err
	}
	p := x.Env.Progress
	p.Begin("epoch", c.Train.Epochs)
	if err := f.train(ctx, func() { p.Add(1) }); err != nil {
		return nil, err
	}
	p.End(fmt.Sprintf("%d epochs over %d cells", c.Train.Epochs, len(all.users.other)))
	users, items := table(f.users, c.Model.Dim), table(f.items, c.Model.Dim)
	return &nextitem.Computed{Model: &bpr.Ranking{Users: users, Goods: items}}, nil
}
