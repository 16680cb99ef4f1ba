package rdpgcf

import (
	"context"
	"fmt"
	"time"

	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// repairedWork is the repaired method on its data. The budget is split and the rows are
// released; the map is still to be trained.
type repairedWork struct {
	*topn.Experiment
	r *repairedRun
}

// openRepaired loads the data, splits the budget, and propagates once.
func openRepaired(ctx context.Context, env *run.Env, m topn.Method, c Config) (run.Work, error) {
	m.Standing.Printed = false // the paper's tables are of another method
	x, err := topn.Load(ctx, env, m)
	if err != nil {
		return nil, err
	}
	if x.Finished() {
		return x, nil
	}
	r, err := newRepaired(x, c)
	if err != nil {
		return nil, err
	}
	ledger := r.ledger
	x.Make = func(ctx context.Context) (*topn.Made, error) {
		if err := trainMap(ctx, env, r); err != nil {
			return nil, err
		}
		users, items := r.vectors()
		return &topn.Made{
			Name: methodRDPGCF + ", repaired", Scorer: &bpr.Ranking{Users: users, Goods: items}, Steps: int(r.split.Steps),
			Vectors: &experiment.Vectors{Release: ReleaseNoisy, Users: users, Items: items},
		}, nil
	}
	x.Account = func(*experiment.Fitted) (topn.Account, error) {
		a, err := r.split.account(c)
		if err != nil {
			return nil, err
		}
		return a, r.split.agree(a, ledger)
	}
	x.Planned = func() (topn.Account, error) {
		a, err := r.split.account(c)
		if err != nil {
			return nil, err
		}
		return a, nil
	}
	return &repairedWork{x, r}, nil
}

// Close gives the memory of the rows back.
func (w *repairedWork) Close() { w.r.rows.close() }

// newRepaired splits the budget, declares what a run releases at most, and releases the rows, once.
func newRepaired(x *topn.Experiment, c Config) (*repairedRun, error) {
	stream := func(purpose string) rng.Stream { return x.Env.Noise("rdpgcf", purpose) }
	rows, labels, err := apart(x.Graph, c.Privacy.Repaired.LabelShare, stream(purposeApart))
	if err != nil {
		return nil, err
	}
	split, err := c.Split(c.labelEdges(labels))
	if err != nil {
		return nil, err
	}
	a := experiment.Account{Public: c.taken()}
	d := a.Declaration()
	d.Plan = split.plan(c)
	l, err := x.Env.Ledger(privacy.Research, d)
	if err != nil {
		return nil, err
	}
	once, err := x.Env.Once()
	if err != nil {
		return nil, err
	}
	r, err := newRepairedRun(c, split, rows, labels, once, stream)
	if err != nil {
		return nil, err
	}
	r.ledger = l
	return r, nil
}

func trainMap(ctx context.Context, env *run.Env, r *repairedRun) error {
	defer env.Stage("train")()
	p := env.Progress
	p.Begin("step", int(r.split.Steps))
	if err := r.train(ctx, env, p.Add); err != nil {
		return err
	}
	// No loss is shown: it would be a statistic of the edges that nothing covers.
	p.End(fmt.Sprintf("%d steps", r.split.Steps))
	return nil
}

// Forecast implements run.Forecaster. It makes a few steps and ranks some users, and
// multiplies.
func (w *repairedWork) Forecast(ctx context.Context) (f run.Forecast, err error) {
	opening, r := w.Env.Opening(), w.r
	steps, made := r.split.Steps, min(r.split.Steps, topn.ForecastSteps)
	start := time.Now()
	r.split.Steps, r.cfg.Train.Epochs = made, 1
	if err := r.train(ctx, nil, func(int) {}); err != nil {
		return f, err
	}
	step := time.Since(start).Seconds() / float64(made)
	users, items := r.vectors()
	user, timed, err := w.TimeUser(ctx, &bpr.Ranking{Users: users, Goods: items})
	return experiment.Rehearsed{
		Opening: opening, Steps: []float64{step}, Of: int(steps), Ranking: user * float64(w.TestUsers()),
		Text: fmt.Sprintf("%d epochs of DP-SGD, and %d users ranked (%.3f ms each) for %d", w.Method.Train.Epochs, timed, 1000*user, w.TestUsers()),
	}.Estimate(), err
}
