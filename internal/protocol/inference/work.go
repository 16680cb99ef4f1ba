package inference

import (
	"context"
	"fmt"
	"strings"
	"time"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// attackRun is one attack. It implements run.Work and run.Forecaster.
type attackRun struct {
	*plan
	standing experiment.Standing
	printed  Printed
}

// Open loads the targets of an attack. others are the tasks whose finished runs can be attacked. printed gives a
// paper's values for them; nil: none.
func Open(ctx context.Context, env *run.Env, c Config, others []run.Task, printed Printed) (run.Work, error) {
	defer env.Stage("load")()
	v, err := c.load(ctx, env, others)
	if err != nil {
		return nil, err
	}
	setting := c // what is attacked is no change of how; the release of a run is
	setting.On.Runs, setting.On.Beside, setting.Files, setting.Data = Default().On.Runs, false, FilesConfig{},
		DataConfig{}
	standing, err := experiment.Stand(setting, c.Profile, map[string]Config{"paper": Default()}, nil, "on.release",
		"attack.sees", "attack.k", "attack.attackers")
	if err != nil {
		return nil, err
	}
	if !standing.Printed {
		printed = nil
	}
	p, err := newPlan(env, c, v)
	if err != nil {
		return nil, err
	}
	return &attackRun{plan: p, standing: standing, printed: printed}, nil
}

// Run implements run.Work: it trains and tests every attacker on every input and split, and computes the gains over the
// floors.
func (x *attackRun) Run(ctx context.Context) error {
	a := x.account()
	if _, err := x.env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return err
	}
	cells, err := x.attack(ctx)
	if err != nil {
		return err
	}
	r := &result{x.plan, cells}
	o, err := r.outcome(x.standing, x.printed)
	if err != nil {
		return err
	}
	if err := x.env.WriteMetrics(o); err != nil {
		return err
	}
	if err := experiment.WriteCells(x.env, o.Data.Level, o.cells()); err != nil {
		return err
	}
	if err := x.env.WritePrivacy(&a); err != nil {
		return err
	}
	if err := r.perUser(); err != nil {
		return err
	}
	d := o.document(x.cfg, uint64(x.env.Seed), x.standing.Text)
	a.ShowOpen(d)
	return x.env.Print(d)
}

// attack computes the cells.
func (x *attackRun) attack(ctx context.Context) ([]cell, error) {
	defer x.env.Stage("attack")()
	return x.sweep(ctx)
}

// account returns the account of an attack: nothing is protected, and the data it reads are named.
func (x *attackRun) account() experiment.Account {
	a := experiment.Unprotected("attributes",
		"the attack trains on the attributes of some users in the clear and is measured on those of the others")
	for _, what := range []struct {
		sees []string
		name string
		why  string
	}{
		{[]string{SeesInteractions, SeesBoth}, "interactions",
			"the attacker is given the rows of the users as they are, and no budget of a recommender covers them"},
		{[]string{SeesLists, SeesBoth}, "recommendations",
			"they are attacked as they were made: what protects them is in the account of the run that made them"},
		{[]string{SeesVectors}, "user vectors", "they are attacked as the run keeps them"},
	} {
		for _, in := range x.inputs {
			if strings.Contains(" "+strings.Join(what.sees, " ")+" ", " "+in.sees+" ") && in.sees != "" {
				a.Leave(what.name, what.why)
				break
			}
		}
	}
	return a
}

// Forecast implements run.Forecaster. It computes as many evenly chosen cells as there are workers, all at once, and
// extrapolates.
func (x *attackRun) Forecast(ctx context.Context) (f run.Forecast, err error) {
	opening := x.env.Opening()
	var full []cellOf
	for _, at := range x.cells() {
		if x.inputs[at.input].sees != "" {
			full = append(full, at)
		}
	}
	if len(full) == 0 {
		full = x.cells()
	}
	n := min(tensor.Workers(), len(full))
	errs := make([]error, n)
	begin := time.Now()
	tensor.Parallel(n, 1, func(k, _, _ int) { _, errs[k] = x.fit(ctx, full[k*len(full)/n]) })
	took := time.Since(begin).Seconds()
	for _, err := range errs {
		if err != nil {
			return f, run.Interrupted(ctx, err)
		}
	}
	per := took / float64(n)
	seconds := opening + per*float64(len(full))
	return run.Forecast{Steps: x.fits(), StepSeconds: per * float64(len(full)) / float64(x.fits()), Seconds: seconds,
		Fastest: seconds,
		Basis: fmt.Sprintf("%d of %d cells, a training and a test of every attacker on one split each, in %.2f s; %d "+
			"fits in all", n, len(full), took, x.fits())}, nil
}
