package membership

import (
	"context"
	"fmt"

	"privrec/internal/attack/detect"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/imported"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
)

// Task is the attack on the runs of others, the tasks that it may train too.
func Task(others []run.Task) run.Task {
	return run.Spec[Config]{
		Verb: "attack", Name: "membership",
		Summary: "tell users or interactions that a model was trained on from others",
		Cite:    "Zhang et al., Membership Inference Attacks Against Recommender Systems, CCS 2021, arXiv 2109.08045; Carlini et al., S&P 2022, arXiv 2112.03570",
		Flags: []run.Flag{
			{Name: "on", Key: "on.run", Usage: "attack the finished run in this directory, which was trained with run.hold_out"},
			{Name: "level", Key: "attack.level", Usage: "what is asked about: interaction or user"},
			{Name: "train", Key: "target.task", With: "recs", WithKey: "files.train", Usage: "train this task, such as \"train ease\", and attack it"},
			{Name: "recs", Key: "files.recs", Usage: "attack the lists in this file, of a model that another program trained; --train is then the file of its training rows"},
			{Name: "truth", Key: "files.truth", Usage: "with --recs, the file of what users took later"},
			{Name: "non-members", Key: "files.non_members", Usage: "with --recs, the file of rows that the model was not trained on"},
		},
		Default: Default, Check: Check,
		Open: func(ctx context.Context, env *run.Env, c Config) (run.Work, error) { return open(env, c, others) },
	}.Task()
}

// work is one attack. It implements run.Work.
type work struct {
	Config
	target.Begun
}

// open checks what can be checked before anything is trained.
func open(env *run.Env, c Config, tasks []run.Task) (run.Work, error) {
	on := c.On
	if c.Files.Given() { // they take the place of a run
		on.Run = c.Files.Recs
	}
	b, err := target.Begin(env, tasks, on, c.Target)
	if err != nil {
		return nil, err
	}
	w := &work{c, b}
	setting := c // what is attacked is no change of how
	setting.On, setting.Target, setting.Files = Default().On, Default().Target, imported.Source{}
	w.Standing, err = experiment.Stand(setting, c.Profile, map[string]Config{Default().Profile: Default()}, nil)
	return w, err
}

// Run implements run.Work: it trains what is to be trained, asks the target, and measures every
// attack beside the floors.
func (w *work) Run(ctx context.Context) error {
	a := experiment.Unprotected("histories", "the attacker is given the histories of the users in the clear, and is told whom the model was trained on to be measured; what protects the model is in the account of its own run")
	if _, err := w.Env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return err
	}
	if w.Target.Task != "" {
		if err := experiment.HoldsRuns(w.Env); err != nil {
			return err
		}
		if err := w.makeTarget(ctx, w.Env, w.Task); err != nil {
			return err
		}
	}
	p, of, err := w.plan(ctx)
	if err != nil {
		return err
	}
	if w.Attack.References > 0 {
		if err := experiment.HoldsRuns(w.Env); err != nil {
			return err
		}
	}
	ways, err := p.ways(ctx)
	if err != nil {
		return err
	}
	o, err := p.outcome(ctx, of, ways, w.Standing)
	if err != nil {
		return err
	}
	if err := w.Env.WriteMetrics(o); err != nil {
		return err
	}
	if err := w.Env.WritePrivacy(&a); err != nil {
		return err
	}
	if err := p.perUser(ways); err != nil {
		return err
	}
	d := o.document(w.Config, uint64(w.Env.Seed))
	if p.Imported != nil {
		if p.on.unlisted > 0 {
			d.Notes = append(d.Notes, fmt.Sprintf("%d users have rows and no list: they are not attacked", p.on.unlisted))
		}
		d.Notes = append(d.Notes, experiment.RemarksOn(p.Imported)...)
	}
	a.ShowOpen(d)
	return w.Env.Print(d)
}

// plan opens the target and lists the candidates.
func (w *work) plan(ctx context.Context) (*plan, *experiment.Outcome[experiment.Data], error) {
	defer w.Env.Stage("load")()
	t, o, err := w.openTarget(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := w.Env.RecordData(o.Data.Source.Title, t.Whole.Source.Hash); err != nil {
		return nil, nil, err
	}
	p := &plan{Config: w.Config, env: w.Env, tasks: w.Tasks, Run: t}
	p.on, err = w.candidates(t, w.attacked(t))
	return p, o, err
}

// openTarget reads the run, or the files, that are attacked.
func (w *work) openTarget(ctx context.Context) (*target.Run, *experiment.Outcome[experiment.Data], error) {
	if w.Files.Given() {
		m, err := w.Files.Open(ctx, w.Env)
		if err != nil {
			return nil, nil, err
		}
		t := target.Brought(m.Listing, m.Outcome, w.Files.Recs, "", w.Env.Seed)
		t.Task = "lists of another program"
		return t, m.Outcome, w.nonMembers(t)
	}
	t, o, err := target.Open(ctx, target.Where(w.On, w.Target, w.Env.Dir), w.On.Release, w.Tasks, w.nonMembers)
	if err != nil {
		return nil, nil, err
	}
	return t, o, w.Env.RecordData("the attacked run's configuration", t.Config)
}

// measured compares the attacks.
func (p *plan) measured(ways []way) ([]detect.Result, error) {
	defer p.env.Stage("measure")()
	var attacks []detect.Attack
	for _, w := range ways {
		attacks = append(attacks, w.Attack)
	}
	return detect.Compare(p.on.Candidates, attacks, detect.Options{Measure: detect.Detections(float64(p.Attack.Guesses)), Resamples: p.Eval.Resamples,
		Confidence: p.Eval.Confidence, Seed: p.env.Seed.Stream("membership resamples")})
}

// perUser keeps how well each attack orders the rows of every user who has both kinds: a table
// that privrec compare reads. Users themselves are of one kind each.
func (p *plan) perUser(ways []way) error {
	if p.on.level == LevelUser {
		return nil
	}
	var columns []run.Column
	for k, w := range ways {
		values, clusters, err := p.on.Within(w.Score)
		if err != nil {
			return err
		}
		if k == 0 {
			ids, rows := make([]string, len(clusters)), make([]int64, len(clusters))
			for i, c := range clusters {
				ids[i], rows[i] = p.Whole.UserIDs[p.on.users[c]], int64(len(p.on.items[c]))
			}
			columns = append(columns, run.Column{Name: "user_id", Values: ids}, run.Column{Name: "samples", Values: rows})
		}
		name := w.Name
		if w.Floor {
			name = "floor: " + name
		}
		columns = append(columns, run.Column{Name: fmt.Sprintf("AUC among a user's rows, %s", name), Values: values})
	}
	return p.env.WriteScores("scores", columns...)
}
