package rdpgcf

import (
	"context"
	"fmt"
	"time"

	"privrec/internal/dataset/registry"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// trainRepaired runs the repaired method: load, split the budget, propagate once,
// train the map, rank, account.
func trainRepaired(ctx context.Context, env *run.Env, c Config) error {
	x, err := load(ctx, env, methodRDPGCF, c)
	if err != nil {
		return err
	}
	x.standing.printed = false // the paper's tables are of another method
	ledger, err := declare(env, nil, takenByRepaired)
	if err != nil {
		return err
	}
	once, err := env.Once()
	if err != nil {
		return err
	}
	r, err := x.repaired(c, ledger, once, "rdpgcf."+env.ConfigHash+".")
	if err != nil {
		return err
	}
	defer r.rows.close()
	if err := x.trainMap(ctx, r); err != nil {
		return err
	}
	users, items := r.vectors()
	if err := x.keep(ReleaseNoisy, users, items); err != nil {
		return err
	}
	o, err := x.outcome(ctx, nil)
	if err != nil {
		return err
	}
	o.Steps = int(r.split.Steps)
	if err := x.add(ctx, o, inner(users, items), x.method+", repaired", ReleaseNoisy, c.Privacy.Epsilon); err != nil {
		return err
	}
	a, err := r.split.account(c)
	if err != nil {
		return err
	}
	if err := r.split.agree(a, ledger); err != nil {
		return err
	}
	return x.write(o, a)
}

// repaired splits the budget and releases the rows, once, for training that records in
// l; names of streams begin with prefix.
func (x *experiment) repaired(c Config, l, once *privacy.Ledger, prefix string) (*repairedRun, error) {
	stream := func(purpose string) rng.Stream { return x.env.Seed.Stream(prefix + purpose) }
	rows, labels, err := apart(x.graph, c.Privacy.Repaired.LabelShare, stream(purposeApart))
	if err != nil {
		return nil, err
	}
	split, err := c.Split(int64(labels.Edges()))
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

func (x *experiment) trainMap(ctx context.Context, r *repairedRun) error {
	defer x.env.Stage("train")()
	p := x.env.Progress
	if p == nil {
		return r.train(ctx, x.env, func(int) {})
	}
	p.Begin("step", int(r.split.Steps))
	if err := r.train(ctx, x.env, p.Add); err != nil {
		return err
	}
	// No loss is shown: it would be a statistic of the edges that nothing covers.
	p.End(fmt.Sprintf("%d steps", r.split.Steps))
	return nil
}

// forecastRepaired propagates, makes a few steps and ranks some users, and multiplies.
func forecastRepaired(ctx context.Context, seed rng.Seed, c Config) (f run.Forecast, err error) {
	start := time.Now()
	d, err := registry.LoadInteractions(ctx, c.Data.Name, c.Data.Recipe, registry.Options{Seed: seed})
	if err != nil {
		return f, err
	}
	x, err := prepare(&run.Env{Seed: seed}, "forecast", c, d)
	if err != nil {
		return f, err
	}
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return f, err
	}
	r, err := x.repaired(c, l, l, "rdpgcf.rehearsal.")
	if err != nil {
		return f, err
	}
	defer r.rows.close()
	steps, made := r.split.Steps, min(r.split.Steps, forecastSteps)
	loading := time.Since(start).Seconds()
	start = time.Now()
	r.split.Steps, r.cfg.Train.Epochs = made, 1
	if err := r.train(ctx, nil, func(int) {}); err != nil {
		return f, err
	}
	step := time.Since(start).Seconds() / float64(made)
	users, items := r.vectors()
	some := *x.test
	some.users = some.users[:min(forecastUsers, len(some.users))]
	some.find = some.find[:len(some.users)]
	start = time.Now()
	if _, err = x.rank(ctx, inner(users, items), &some, depth([]metrics.Metric{primary})); err != nil {
		return f, err
	}
	user := time.Since(start).Seconds() / float64(len(some.users))
	seconds := loading + float64(steps)*step + user*float64(len(x.test.users))
	return run.Forecast{
		Steps: int(steps), StepSeconds: step, Seconds: seconds, Fastest: seconds,
		Basis: fmt.Sprintf("one propagation, %d steps of DP-SGD on the run's own rows (mean %.1f ms) for %d, and %d users ranked (%.3f ms each) for %d",
			made, 1000*step, steps, len(some.users), 1000*user, len(x.test.users)),
	}, nil
}
