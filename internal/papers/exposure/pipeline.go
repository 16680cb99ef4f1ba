package exposure

import (
	"context"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
)

const cite = "Xin et al., On the User Behavior Leakage from Recommender System Exposure, ACM TOIS 2023, arXiv 2210.08435"

// Tasks are what the command line offers of this paper; others are those whose finished
// runs can be attacked.
func Tasks(others []run.Task) []run.Task {
	// Runs of the attack itself are known, and make no recommendations.
	others = append(slices.Clip(others), sasrecTask(), run.Task{Verb: "attack", Name: "exposure"})
	return []run.Task{
		{
			Verb: "attack", Name: "exposure", Cite: cite,
			Summary: "guess what users clicked from what they are shown next",
			Flags:   []run.Flag{{Name: "on", Key: "on.run", Usage: "attack the recommendations of the finished run in this directory"}},
			Action: run.BindForecast(Default, Validate, func(ctx context.Context, env *run.Env, c Config) error {
				return Attack(ctx, env, c, others)
			}, func(ctx context.Context, seed rng.Seed, c Config) (run.Forecast, error) {
				return forecast(ctx, seed, c, others)
			}),
		},
		sasrecTask(),
	}
}

// Attack runs a setting: load the pairs, protect slates, train the attack until the loss
// on validation rises, rank the test pairs under every protocol beside the floors,
// account.
func Attack(ctx context.Context, env *run.Env, c Config, others []run.Task) error {
	done := env.Stage("load")
	set, err := c.loadPairs(ctx, others, env.Seed)
	if err == nil {
		err = env.RecordData(set.Name, set.Hash)
	}
	done()
	if err != nil {
		return err
	}
	x, err := prepare(env, c, set)
	if err != nil {
		return err
	}
	a := c.account(sharesOf(set, x.released()))
	if x.selected() {
		a.Unbounded = append(a.Unbounded, Open{"selection", "the loss on the validation pairs decides, in the clear, when training ends or which epoch is reported"})
	}
	if x.ledger, err = env.Ledger(privacy.Research, a.declaration()); err != nil {
		return err
	}
	once, err := env.Once()
	if err != nil {
		return err
	}
	if err := a.hold(once); err != nil {
		return err
	}
	if err := x.protect(ctx, once); err != nil {
		return x.interrupted(ctx, err)
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
