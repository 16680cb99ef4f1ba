package exposure

import (
	"context"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/run"
)

const cite = "Xin et al., On the User Behavior Leakage from Recommender System Exposure, ACM TOIS 2023, arXiv 2210.08435"

// Tasks lists what the command line offers of this paper; others are those whose finished
// runs can be attacked.
func Tasks(others []run.Task) []run.Task {
	// Runs of the attack itself are known, and make no recommendations.
	others = append(slices.Clip(others), run.Task{Verb: "attack", Name: "exposure"})
	return []run.Task{
		run.Spec[Config]{
			Verb: "attack", Name: "exposure", Cite: cite,
			Summary: "guess what users clicked from what they are shown next",
			Flags:   []run.Flag{{Name: "on", Key: "on.run", Usage: "attack the recommendations of the finished run in this directory"}},
			Default: Default, Check: Check,
			Open: func(ctx context.Context, env *run.Env, c Config) (run.Work, error) { return open(ctx, env, c, others) },
		}.Task(),
	}
}

// open loads the pairs.
func open(ctx context.Context, env *run.Env, c Config, others []run.Task) (*attackRun, error) {
	defer env.Stage("load")()
	set, err := c.loadPairs(ctx, others, env.Seed)
	if err != nil {
		return nil, err
	}
	if err := env.RecordData(set.Name, set.Hash); err != nil {
		return nil, err
	}
	return prepare(env, c, set)
}

// Run implements run.Work: it protects slates, trains the attack until the loss on
// validation rises, ranks the test pairs under every protocol beside the floors, and
// accounts.
func (x *attackRun) Run(ctx context.Context) error {
	a := x.cfg.account(sharesOf(x.Set, x.released()))
	if x.selected() {
		a.Leave("selection", "the loss on the validation pairs decides, in the clear, when training ends or which epoch is reported")
	}
	var err error
	if x.ledger, err = x.Env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return err
	}
	once, err := x.Env.Once()
	if err != nil {
		return err
	}
	if err := a.hold(once); err != nil {
		return err
	}
	if err := x.protect(ctx, once); err != nil {
		return run.Interrupted(ctx, err)
	}
	if err := once.Flush("before training"); err != nil {
		return err
	}
	m, fitted, err := x.fit(ctx)
	if err != nil {
		return err
	}
	defer giveBack(m)
	o, err := x.measure(ctx, m, fitted)
	if err != nil {
		return err
	}
	return x.write(o, a)
}
