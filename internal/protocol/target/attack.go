package target

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// Attack describes an attack on finished runs: its name, its questions, and how it scores candidates. C is its
// configuration. Task makes a command from it, which trains or opens the attacked run, compares the scores with floors
// over resamples of whole users, and writes metrics, cells, an account and pages.
type Attack[C any] struct {
	Name    string // of the command, and of the protocol in results
	Method  string // in results, as in "link stealing"
	Summary string
	Cite    string
	Flags   []run.Flag // nil: those for the attacked run
	Default func() C
	Parts   func(*C) Parts               // of a configuration
	Check   func(v *config.Checker, c C) // of what is not in Parts; nil: there is nothing else
	// Drop removes from a setting whatever else names the attacked model, since the setting's text describes the attack
	// alone. nil: there is nothing else.
	Drop  func(c *C)
	Clear string // what the attacker is told in the clear, as in "histories"
	Why   string // that is not protected, in a sentence
	// HoldOut names what a target that is trained for the attack holds out as non-members: rows or users. nil: rows.
	HoldOut func(c C) string
	Suits   func(c C, t *Run) error // refuses what cannot be attacked, before any data are loaded; nil: nothing
	// Brings reports whether a setting names files of an imported model, and Brought opens them. nil: no setting does.
	Brings  func(c C) bool
	Brought func(ctx context.Context, env *run.Env, c C) (*Run, *experiment.Outcome[experiment.Data], error)
	// Find returns the scores of the candidates, by attacks and by floors that see no model.
	Find func(ctx context.Context, c C, x *Attacked) (*Found, error)
}

// Parts points to the parts of a configuration that all attacks share.
type Parts struct {
	Profile *string
	On      *On
	Target  *Training
	Eval    *Intervals
}

// Attacked holds the run under attack and what an attack may use.
type Attacked struct {
	*Run
	Env   *run.Env
	Tasks []run.Task                           // that can be attacked
	Of    *experiment.Outcome[experiment.Data] // of the run
}

// Flags that name the attacked run.
var (
	FlagOn    = run.Flag{Name: "on", Key: "on.run", Usage: "attack the finished run in this directory"}
	FlagTrain = run.Flag{Name: "train", Key: "target.task",
		Usage: "train this task, such as \"train lightgcn\", and attack it"}
)

// Task returns the command of an attack on runs of others, which it may also train.
func (a Attack[C]) Task(others []run.Task) run.Task {
	if a.Flags == nil {
		a.Flags = []run.Flag{FlagOn, FlagTrain}
	}
	return run.Spec[C]{Verb: "attack", Name: a.Name, Summary: a.Summary, Cite: a.Cite, Flags: a.Flags,
		Default: a.Default, Check: a.check,
		Open: func(_ context.Context, env *run.Env, c C) (run.Work, error) { return a.open(env, c, others) }}.Task()
}

// check reports every setting that cannot be run.
func (a Attack[C]) check(v *config.Checker, c C) {
	p := a.Parts(&c)
	checkTarget(v, *p.On, *p.Target)
	if a.Check != nil {
		a.Check(v, c)
	}
}

// work is one attack. It implements run.Work.
type work[C any] struct {
	Attack[C]
	Parts
	c        C
	env      *run.Env
	tasks    []run.Task // that can be attacked
	task     run.Task   // to be trained; none where a run is attacked
	standing experiment.Standing
}

// open checks everything that can be checked before a model is trained. It fails if no target is named.
func (a Attack[C]) open(env *run.Env, c C, tasks []run.Task) (run.Work, error) {
	if env.Rehearsing() {
		return nil, run.ErrNoForecast
	}
	w := &work[C]{Attack: a, c: c, env: env, tasks: tasks}
	w.Parts = a.Parts(&w.c)
	var err error
	switch {
	case w.Target.Task != "":
		if w.task, err = experiment.Find(tasks, w.Target.Task, "attacked"); err != nil {
			return nil, err
		}
	case w.On.Run == "" && (a.Brings == nil || !a.Brings(c)):
		return nil, &run.UsageError{Message: "nothing to attack is named",
			Fix: "name a finished run with --on, or a task to train with --train"}
	}
	setting, def := c, a.Default() // what is attacked is no change of how
	own, stated := a.Parts(&setting), a.Parts(&def)
	*own.On, *own.Target = *stated.On, *stated.Target
	if a.Drop != nil {
		a.Drop(&setting)
	}
	w.standing, err = experiment.Stand(setting, *w.Profile, map[string]C{*stated.Profile: def}, nil)
	return w, err
}

// Run implements run.Work: it trains the target if needed, queries it, and measures every attack beside the floors.
func (w *work[C]) Run(ctx context.Context) error {
	a := experiment.Unprotected(w.Clear, w.Why)
	if _, err := w.env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return err
	}
	if w.Target.Task != "" {
		if err := w.train(ctx); err != nil {
			return err
		}
	}
	x, err := w.load(ctx)
	if err != nil {
		return err
	}
	found, err := w.Find(ctx, w.c, x)
	if err != nil {
		return err
	}
	o, err := w.outcome(ctx, x, found)
	if err != nil {
		return err
	}
	if err := w.env.WriteMetrics(o); err != nil {
		return err
	}
	if err := experiment.WriteCells(w.env, x.Of.Data.Level, cells(o, found)); err != nil {
		return err
	}
	if err := w.env.WritePrivacy(&a); err != nil {
		return err
	}
	if err := w.perUser(x, found); err != nil {
		return err
	}
	d := w.document(o, x, found)
	a.ShowOpen(d)
	return w.env.Print(d)
}

// train trains the target that the configuration describes.
func (w *work[C]) train(ctx context.Context) error {
	defer w.env.Stage("train the target")()
	if err := experiment.HoldsRuns(w.env); err != nil {
		return err
	}
	kept := "rows"
	if w.HoldOut != nil {
		kept = w.HoldOut(w.c)
	}
	seed := uint64(w.env.Seed)
	sets := append(slices.Clone(w.Target.Set),
		fmt.Sprintf("run.seed=%d", seed), fmt.Sprintf("run.hold_out.%s=%v", kept, w.Target.Share))
	return experiment.Within(ctx, w.task, w.Target.Config, w.where(), seed, sets)
}

// where returns the directory of the attacked run.
func (w *work[C]) where() string { return Where(*w.On, *w.Target, w.env.Dir) }

// load opens the target and records its identity.
func (w *work[C]) load(ctx context.Context) (x *Attacked, err error) {
	defer w.env.Stage("load")()
	x = &Attacked{Env: w.env, Tasks: w.tasks}
	if w.Brings != nil && w.Brings(w.c) {
		x.Run, x.Of, err = w.Brought(ctx, w.env, w.c)
	} else {
		suits := func(t *Run) error {
			if w.Suits == nil {
				return nil
			}
			return w.Suits(w.c, t)
		}
		if x.Run, x.Of, err = Open(ctx, w.where(), w.On.Release, w.tasks, suits); err == nil {
			err = w.env.RecordData("the attacked run's configuration", x.Config)
		}
	}
	if err != nil {
		return nil, err
	}
	return x, w.env.RecordData(x.Of.Data.Source.Title, x.Whole.Source.Hash)
}

// perUser writes how well each attack orders the candidates of every user who has both kinds, as a table for privrec
// compare. Without a heading it writes none.
func (w *work[C]) perUser(x *Attacked, f *Found) error {
	if f.PerUser == "" {
		return nil
	}
	q := &f.Questions[0]
	var columns []run.Column
	for k, y := range f.Ways {
		values, clusters, err := q.Within(q.pick(y.Score))
		if err != nil {
			return err
		}
		if k == 0 {
			ids, rows, count := make([]string, len(clusters)), make([]int64, len(clusters)), make([]int64, q.Count)
			for _, c := range q.Cluster {
				count[c]++
			}
			for i, c := range clusters {
				ids[i], rows[i] = x.Whole.UserIDs[q.Users[c]], count[c]
			}
			columns = []run.Column{{Name: "user_id", Values: ids}, {Name: "samples", Values: rows}}
		}
		name := y.Name
		if y.Floor {
			name = "floor: " + name
		}
		columns = append(columns, run.Column{Name: f.PerUser + ", " + name, Values: values})
	}
	return w.env.WriteScores("scores", columns...)
}
