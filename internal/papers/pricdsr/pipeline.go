package pricdsr

import (
	"context"

	"privrec/internal/model/dasl"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

const cite = "Lin, Pan, Ming, Privacy-Preserving Cross-Domain Sequential Recommendation, ICDM 2023"

// Tasks are what the command line trains of this paper.
func Tasks() []run.Task {
	with := []string{AuxiliaryReal, AuxiliaryPerturbed, AuxiliaryUniform, AuxiliaryPermuted, AuxiliaryPlacebo}
	return []run.Task{
		{
			Verb: "train", Name: "pricdsr", Cite: cite, Summary: "DASL on perturbed rows of the auxiliary domain",
			Action: action(Default, append(with, AuxiliaryNone)...),
		},
		{
			Verb: "train", Name: "dasl", Cite: dasl.Cite, Summary: "sequences of two domains with dual attention (PriCDSR's base model)",
			Action: action(DefaultDASL, with...),
		},
		{
			Verb: "train", Name: "dasl-single", Cite: dasl.Cite, Summary: "DASL without the auxiliary domain",
			Action: action(DefaultSingle, AuxiliaryNone),
		},
	}
}

// action is the work of a task that takes these kinds of auxiliary rows.
func action(def func() Config, kinds ...string) run.Action {
	return run.Serving(run.BindForecast(def, validate(kinds...), Train, forecast), serve)
}

// Train runs a setting: load, release the auxiliary rows, train, choose the epoch on
// validation and train on all rows, rank, account.
func Train(ctx context.Context, env *run.Env, c Config) error {
	done := env.Stage("load " + c.Data.Name)
	d, err := c.loadCross(ctx, env.Seed)
	if err == nil {
		err = env.RecordData(d.Source.Title, d.Source.Hash)
	}
	done()
	if err != nil {
		return err
	}
	a := c.account(d.Domains[1].Items)
	if _, err := env.Ledger(privacy.Research, a.declaration()); err != nil {
		return err
	}
	once, err := env.Once()
	if err != nil {
		return err
	}
	x, err := prepare(env, c, d, once)
	if err != nil {
		return err
	}
	if err := once.Flush("before training"); err != nil {
		return err
	}
	f, err := x.fit(ctx)
	if err != nil {
		return err
	}
	defer giveBack(f.trainer)
	if err := x.keep(f); err != nil {
		return err
	}
	o, err := x.measure(ctx, f)
	if err != nil {
		return err
	}
	return x.write(o, a)
}
