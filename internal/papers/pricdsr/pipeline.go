package pricdsr

import (
	"context"
	"fmt"

	baseline "privrec/internal/baseline/dasl"
	"privrec/internal/experiment"
	"privrec/internal/model/dasl"
	"privrec/internal/privacy"
	"privrec/internal/protocol/crossdomain"
	"privrec/internal/run"
)

const cite = "Lin, Pan, Ming, Privacy-Preserving Cross-Domain Sequential Recommendation, ICDM 2023"

// Tasks returns the tasks that train the models of this paper.
func Tasks() []run.Task {
	with := []string{AuxiliaryReal, AuxiliaryPerturbed, AuxiliaryUniform, AuxiliaryPermuted, AuxiliaryPlacebo}
	return []run.Task{
		task("pricdsr", "DASL on perturbed rows of the auxiliary domain", cite, Default,
			append(with, AuxiliaryNone)...),
		task("dasl", "sequences of two domains with dual attention (PriCDSR's base model)", dasl.Cite, DefaultDASL,
			with...),
		task("dasl-single", "DASL without the auxiliary domain", dasl.Cite, DefaultSingle, AuxiliaryNone),
	}
}

// task returns a task that trains on these kinds of auxiliary rows.
func task(name, summary, cite string, def func() Config, kinds ...string) run.Task {
	return run.Spec[Config]{Verb: "train", Name: name, Summary: summary, Cite: cite, Default: def,
		Check: check(kinds...), Open: open, Answers: true, Noisy: name != "dasl-single"}.Task()
}

// open loads the data, declares what is open and releases the auxiliary rows. A finished run gets the same rows from
// the same keys, which is no second release.
func open(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
	x, err := crossdomain.Load(ctx, env, c.Data, c.Eval)
	if err != nil {
		return nil, err
	}
	items := [2]int{x.Data.Domains[0].Items, x.Data.Domains[1].Items}
	if stated := c.Auxiliary.Items; stated > 0 {
		if stated < items[1] {
			return nil, &run.UsageError{Message: fmt.Sprintf(
				"auxiliary.items: a catalogue of %d items, and an item of the auxiliary domain has the id %d", stated,
				items[1]), Fix: "state the size of the whole catalogue"}
		}
		items[1] = stated
	}
	a := c.account(items[1])
	if len(a.Public) > 0 {
		if err := a.Decide(env, x.Data.Source, experiment.Taken{}); err != nil {
			return nil, err
		}
	}
	if _, err := env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return nil, err
	}
	once, err := env.Once()
	if err != nil {
		return nil, err
	}
	if x.Standing, err = c.standing(); err != nil {
		return nil, err
	}
	var auxiliary []int32
	if !c.Single() {
		if auxiliary, err = c.auxiliaryRows(&x.Data.Domains[1], items[1], once, env); err != nil {
			return nil, err
		}
	}
	if err := x.Cut(auxiliary); err != nil {
		return nil, err
	}
	if err := once.Flush("before training"); err != nil {
		return nil, err
	}
	x.Method, x.Single, x.Training = c.Method(), c.Single(), c.Train.Training()
	// All releases are made before training, so the account is final.
	x.Account = func(*experiment.Fitted) (experiment.Privacy, error) { return a, nil }
	x.Planned = func() (experiment.Privacy, error) { return a, nil }
	x.Paper, x.Printed, x.Notes = printedFor(c), "tables II and III, means of three runs", c.cautions(items[1])
	x.New = func(rows *crossdomain.Rows) (crossdomain.Model, error) {
		t, err := baseline.New(rows, x.Data.Users, items, c.Model, c.Single(), c.Train, env.Seed)
		if err != nil {
			return nil, err
		}
		return t, nil
	}
	return x, nil
}
