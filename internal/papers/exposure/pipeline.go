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
	ledger, err := env.Ledger(privacy.Research)
	if err != nil {
		return err
	}
	to := ledger
	if len(ledger.Entries()) > 0 {
		// The slates were released before the checkpoint; the same keys give the same
		// slates again, which is not another release.
		if to, err = privacy.NewLedger(privacy.Research); err != nil {
			return err
		}
	}
	x, err := prepare(env, c, set)
	if err != nil {
		return err
	}
	if err := x.protect(ctx, to); err != nil {
		return x.interrupted(ctx, err)
	}
	a := c.account(sharesOf(set, x.released()))
	if err := a.record(to); err != nil {
		return err
	}
	if err := to.Flush("before training"); err != nil {
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
