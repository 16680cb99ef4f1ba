package auditing

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// Task returns the audit of models that other tasks train.
func Task(others []run.Task) run.Task {
	return run.Spec[Config]{
		Verb: "audit", Name: "run",
		Summary: "lower bounds on epsilon, by what models show of canaries planted into their data",
		Cite: "Steinke, Nasr, Jagielski, Privacy auditing with one (1) training run, NeurIPS 2023, arXiv " +
			"2305.08846; Jagielski, Ullman, Oprea, NeurIPS 2020, arXiv 2006.07709",
		Flags: []run.Flag{
			{Name: "train", Key: "target.task", Usage: "audit this task, such as \"train dp-ease\""},
			{Name: "train-config", Key: "target.config", Usage: "its configuration file"},
			{Name: "method", Key: "audit.method",
				Usage: "canary: many runs with a canary and without; one-run: many canaries in one; membership: half " +
					"of the rows or users held out of one"},
			{Name: "unit", Key: "audit.unit",
				Usage: "what a canary is: edge, rating, user, sequence, interaction or order"},
			{Name: "sees", Key: "audit.sees",
				Usage: "what the auditor sees: scores, lists or vectors, or the release with its noise drawn again"},
			{Name: "canaries", Key: "audit.canaries", Number: true, Usage: "canaries of one-run"},
			{Name: "runs", Key: "audit.runs", Number: true, Usage: "models of canary"},
			{Name: "level", Key: "audit.level", Number: true, Usage: "chance that a bound is above the truth"},
		},
		Default: Default, Check: Check,
		Open: func(_ context.Context, env *run.Env, c Config) (run.Work, error) { return open(env, c, others) },
	}.Task()
}

// work is one audit. It implements run.Work.
type work struct {
	Config
	env      *run.Env
	tasks    []run.Task
	task     run.Task // that is audited
	off      []string // settings that switch its noise off; empty: it has none
	plant    run.Plant
	standing experiment.Standing
}

// open checks everything that can be checked before a model is trained.
func open(env *run.Env, c Config, tasks []run.Task) (run.Work, error) {
	if env.Rehearsing() {
		return nil, run.ErrNoForecast
	}
	if c.Target.Task == "" {
		return nil, &run.UsageError{Message: "nothing to audit is named",
			Fix: "name a task to train with --train, such as \"train dp-ease\""}
	}
	w := &work{Config: c, env: env, tasks: tasks}
	var err error
	if w.task, err = experiment.Find(tasks, c.Target.Task, "audited"); err != nil {
		return nil, err
	}
	if err := w.task.Check(c.Target.Config, c.Target.Set); err != nil {
		return nil, fmt.Errorf("%s: %w", w.task, err)
	}
	if w.off, err = w.noiseOff(); err != nil {
		return nil, err
	}
	w.plant = run.Plant{Unit: c.Audit.Unit, Canaries: c.Audit.Canaries, Seed: uint64(env.Seed)}
	if w.plant.Seed == 0 { // which would be every model's own seed
		w.plant.Seed = 1 << 40
	}
	if dataset.LeastRows(c.Audit.Unit) > 0 {
		w.plant.Rows = c.Audit.Rows
	}
	if c.Audit.Method == Canary {
		w.plant.Canaries = 1
	}
	setting := c // what is audited is no change of how
	setting.Target = Default().Target
	w.standing, err = experiment.Stand(setting, c.Profile, map[string]Config{Default().Profile: Default()}, nil)
	return w, err
}

// Run implements run.Work: it trains models with and without canaries, queries them, and compares the evidence about
// the canaries with the account. It returns an error for a bound above the account, after the result was written.
func (w *work) Run(ctx context.Context) error {
	a := experiment.Unprotected("coins",
		"the auditor plants the canaries and is told the coins afterwards; what protects the audited model is in the "+
			"account of its own run, in the folder "+modelsFolder)
	if _, err := w.env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return err
	}
	if err := experiment.HoldsRuns(w.env); err != nil {
		return err
	}
	f, err := w.find(ctx)
	if err != nil {
		return err
	}
	o := f.outcome(w)
	if err := w.env.WriteMetrics(o); err != nil {
		return err
	}
	if err := experiment.WriteCells(w.env, o.Data.Level, o.cells()); err != nil {
		return err
	}
	if err := w.env.WritePrivacy(&a); err != nil {
		return err
	}
	d := o.document(w.Config.Audit.Level, uint64(w.env.Seed))
	if w.task.Noisy {
		d.Notes = append(d.Notes, run.Remade)
	}
	if err := w.env.Print(d); err != nil {
		return err
	}
	return f.contradiction(w)
}
