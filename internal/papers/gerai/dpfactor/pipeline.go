package dpfactor

import (
	"context"
	"fmt"
	"time"

	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/papers/gerai"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Names of the methods in tables.
const (
	DPMF = "DPMF"
	DPNE = "DPNE"
)

const (
	citeDPMF = "Hua, Xia, Zhong, Differentially private matrix factorization, IJCAI 2015, as GERAI's tables (WWW " +
		"2021) have it"
	citeDPNE = "Xu, Yuan, Wu, Phan, DPNE: differentially private network embedding, PAKDD 2018, as GERAI's tables " +
		"(WWW 2021) have it"
)

// Tasks returns the tasks of the methods.
func Tasks() []run.Task {
	return []run.Task{
		task(DPMF, "dpmf", "factors of ratings, with noise in the objective", citeDPMF, DefaultDPMF, MatrixScaled,
			MatrixRatings, MatrixAdjacency),
		task(DPNE, "dpne", "factors of the adjacency, with noise in the objective", citeDPNE, DefaultDPNE,
			MatrixAdjacency),
	}
}

// task returns the task of a method, which factors one of some matrices: the first one if users' vectors are public.
func task(method, name, summary, cite string, profile func() Config, matrices ...string) run.Task {
	profiles := map[string]Config{profile().Profile: profile(), "repaired": Repaired(matrices[0])}
	return run.Spec[Config]{
		Verb: "train", Name: name, Noisy: true, Summary: summary, Cite: cite, Default: profile, Answers: true,
		Check: func(v *config.Checker, c Config) { check(v, c, matrices...) },
		Open: func(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
			return open(ctx, env, method, c, profiles)
		},
	}.Task()
}

// work holds a factorisation and its data.
type work struct {
	*topn.Experiment
	cfg    Config
	ledger *privacy.Ledger
}

// open loads the data and declares what the run leaves unprotected.
func open(ctx context.Context, env *run.Env, method string, c Config, profiles map[string]Config) (run.Work, error) {
	standing, err := experiment.Stand(c, c.Profile, profiles, nil, topn.Free()...)
	if err != nil {
		return nil, err
	}
	if c.Privacy.Users == UsersPublic {
		method, standing.Printed = method+", repaired", false // what is printed is of another method
	}
	x, err := topn.Load(ctx, env, topn.Method{Name: method, Standing: standing, Data: c.Data, Eval: c.Eval,
		Tables: gerai.Tables(),
		Shape:  topn.Shape{Dim: c.Model.Dim, Epsilon: c.Privacy.Epsilon}})
	if err != nil || x.Finished() {
		return x, err
	}
	f, err := newFactors(c, x.Graph, x.Data)
	if err != nil {
		return nil, err
	}
	a := c.account()
	if c.Privacy.Users == UsersPublic {
		if err := a.Decide(env, x.Data.Source, experiment.Taken{Items: true, Users: true}); err != nil {
			return nil, err
		}
	}
	w := &work{Experiment: x, cfg: c}
	if w.ledger, err = env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return nil, err
	}
	x.Compute = func(ctx context.Context) (*topn.Made, error) { return w.make(ctx, f) }
	x.Account = func(*experiment.Fitted) (experiment.Privacy, error) { return w.compose(a) }
	return w, nil
}

// begin draws users' first vectors and the noise.
func (w *work) begin(f *factors) error {
	f.draw(w.Env.Seed.Stream("dpfactor.users"))
	if err := w.ledger.Hold(w.held()); err != nil {
		return err
	}
	noise, err := w.Env.Noise("dpfactor", purposeObjective)
	if err != nil {
		return err
	}
	if err := f.release(w.ledger, noise); err != nil {
		return err
	}
	return w.ledger.Flush("before training")
}

// make factors the matrix and returns the vectors.
func (w *work) make(ctx context.Context, f *factors) (*topn.Made, error) {
	defer w.Env.Stage("train")()
	if err := w.begin(f); err != nil {
		return nil, err
	}
	p := w.Env.Progress
	p.Begin("round", w.cfg.Model.Rounds)
	if err := f.train(ctx, func() { p.Add(1) }); err != nil {
		return nil, err
	}
	p.End(fmt.Sprintf("%d rounds", w.cfg.Model.Rounds))
	users, items := f.table(&f.users), f.table(&f.items)
	return &topn.Made{Scorer: &bpr.Ranking{Users: users, Goods: items},
		Vectors: &experiment.Vectors{Users: users, Items: items}}, nil
}

// Forecast implements run.Forecaster. It makes one round, ranks some users, and extrapolates.
func (w *work) Forecast(ctx context.Context) (e run.Forecast, err error) {
	opening := w.Env.Opening()
	f, err := newFactors(w.cfg, w.Graph, w.Data)
	if err != nil {
		return e, err
	}
	if err := w.begin(f); err != nil {
		return e, err
	}
	start := time.Now()
	rounds := f.cfg.Model.Rounds
	f.cfg.Model.Rounds = 1
	if err := f.train(ctx, func() {}); err != nil {
		return e, err
	}
	round := time.Since(start).Seconds()
	users, items := f.table(&f.users), f.table(&f.items)
	defer tensor.Free(users)
	defer tensor.Free(items)
	return w.Estimate(ctx, experiment.Rehearsed{Opening: opening, Steps: []float64{round}, Of: rounds,
		Text: fmt.Sprintf("%d rounds", rounds)}, users, items)
}
