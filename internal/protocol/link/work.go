package link

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"privrec/internal/attack/detect"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
)

// Task is the attack on the runs of others, the tasks that it may train too.
func Task(others []run.Task) run.Task {
	return run.Spec[Config]{
		Verb: "attack", Name: "link",
		Summary: "find the edges of the graph that a model was trained on",
		Cite:    "Wu et al., LinkTeller: Recovering Private Edges from Graph Neural Networks via Influence Analysis, S&P 2022, arXiv 2108.06504; He et al., Stealing Links from Graph Neural Networks, USENIX Security 2021, arXiv 2005.02131",
		Flags: []run.Flag{
			{Name: "on", Key: "on.run", Usage: "attack the finished run in this directory"},
			{Name: "sees", Key: "attack.sees", Usage: "take this evidence: scores, vectors or influence; may be repeated", List: true},
			{Name: "train", Key: "target.task", Usage: "train this task, such as \"train lightgcn\", and attack it"},
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
	b, err := target.Begin(env, tasks, c.On, c.Target)
	if err != nil {
		return nil, err
	}
	w := &work{c, b}
	setting := c // what is attacked is no change of how
	setting.On, setting.Target = Default().On, Default().Target
	w.Standing, err = experiment.Stand(setting, c.Profile, map[string]Config{Default().Profile: Default()}, nil)
	return w, err
}

// plan is an attack on one target.
type plan struct {
	Config
	env   *run.Env
	tasks []run.Task
	*target.Run
	on      *pairs
	given   []string  // kinds of evidence that were taken
	missing []Missing // kinds that the run does not give
	answers int       // that a deployed model gave
	inputs  string    // of users, that were changed
	noise   string    // of the answers
}

// Run implements run.Work: it trains what is to be trained, asks the target, and measures every
// attack beside the floors.
func (w *work) Run(ctx context.Context) error {
	a := experiment.Unprotected("edges", "the attack is told the edges to be measured; what protects them is in the account of the attacked run, which covers no further answers of its model")
	if _, err := w.Env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return err
	}
	if w.Target.Task != "" {
		if err := w.train(ctx); err != nil {
			return err
		}
	}
	p, of, err := w.plan(ctx)
	if err != nil {
		return err
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
	a.ShowOpen(d)
	return w.Env.Print(d)
}

// train trains the target that the configuration describes.
func (w *work) train(ctx context.Context) error {
	defer w.Env.Stage("train the target")()
	if err := experiment.HoldsRuns(w.Env); err != nil {
		return err
	}
	sets := append(append([]string{}, w.Target.Set...), fmt.Sprintf("run.seed=%d", uint64(w.Env.Seed)), fmt.Sprintf("run.hold_out.rows=%v", w.Target.Share))
	return experiment.Within(ctx, w.Task, w.Target.Config, target.Where(w.On, w.Target, w.Env.Dir), uint64(w.Env.Seed), sets)
}

// pairsOnly refuses a model of sequences, whose edges have an order.
func pairsOnly(t *target.Run) error {
	if !t.Sequences {
		return nil
	}
	return &run.UsageError{Message: fmt.Sprintf("the run in %s is of sequences, and the attack asks for edges of users and items", t.Dir), Fix: "attack a run of a top-n model, such as train lightgcn"}
}

// plan opens the target and draws the pairs.
func (w *work) plan(ctx context.Context) (*plan, *experiment.Outcome[experiment.Data], error) {
	defer w.Env.Stage("load")()
	t, o, err := target.Open(ctx, target.Where(w.On, w.Target, w.Env.Dir), w.On.Release, w.Tasks, pairsOnly)
	if err != nil {
		return nil, nil, err
	}
	if err := w.Env.RecordData("the attacked run's configuration", t.Config); err != nil {
		return nil, nil, err
	}
	if err := w.Env.RecordData(o.Data.Source.Title, t.Whole.Source.Hash); err != nil {
		return nil, nil, err
	}
	p := &plan{Config: w.Config, env: w.Env, tasks: w.Tasks, Run: t}
	p.on, err = w.pairs(t)
	return p, o, err
}

// Missing is a kind of evidence that a run does not give. Why names no folder: a result does not
// depend on where its runs are.
type Missing struct {
	Kind string `json:"kind"`
	Why  string `json:"why"`
}

// ways makes all attacks by the evidence that the run gives, then the floors. It fails where a kind
// is named in the setting that the run does not give.
func (p *plan) ways(ctx context.Context) (all []way, err error) {
	a, err := target.Ask(ctx, p.tasks, p.Dir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var first error // of a kind that is named
	var named string
	take := func(kind string, make func() ([]way, error)) error {
		made, err := make()
		if no := (*run.UsageError)(nil); errors.As(err, &no) {
			if p.missing = append(p.missing, Missing{kind, no.Message}); len(p.Attack.Sees) > 0 && p.sees(kind) && first == nil {
				first, named = err, kind
			}
			return nil
		}
		if err == nil && p.sees(kind) {
			p.given = append(p.given, kind)
		}
		all = append(all, made...)
		return err
	}
	if err := take(SeesInfluence, func() ([]way, error) { return p.byInfluence(ctx, a) }); err != nil {
		return nil, err
	}
	if err := take(SeesScores, func() ([]way, error) {
		if !p.sees(SeesScores) {
			return nil, nil
		}
		return p.scores(ctx, a)
	}); err != nil {
		return nil, err
	}
	if err := take(SeesVectors, p.byVectors); err != nil {
		return nil, err
	}
	if first != nil {
		return nil, p.notGiven(named, first)
	}
	if len(p.Attack.Sees) > 0 {
		p.missing = nil // they were not asked for
	}
	return append(all, floors(p.on, p.Whole)...), nil
}

// notGiven says which kinds of evidence the run gives.
func (p *plan) notGiven(kind string, err error) error {
	gives := []string{}
	for _, k := range []string{SeesScores, SeesVectors, SeesInfluence} {
		missing := false
		for _, m := range p.missing {
			missing = missing || m.Kind == k
		}
		if !missing {
			gives = append(gives, k)
		}
	}
	return &run.UsageError{Message: fmt.Sprintf("attack.sees: %s: %v", kind, err), Fix: "this run gives " + strings.Join(gives, ", ")}
}

func (p *plan) byInfluence(ctx context.Context, a experiment.Scoring) ([]way, error) {
	deploying, ok := a.(experiment.Deploying)
	if !ok {
		return nil, &run.UsageError{Message: "the run keeps no model that computes from the inputs of users"}
	}
	d, err := deploying.Deploy(ctx, p.On.Release)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if !p.sees(SeesInfluence) {
		return nil, nil
	}
	p.answers, p.inputs, p.noise = 1+len(p.on.users), d.What, d.Noise
	return p.influence(ctx, d)
}

func (p *plan) byVectors() ([]way, error) {
	v, err := experiment.OpenVectors(p.Dir, p.Kept, p.Whole.Users, p.Whole.Items)
	if err != nil { // of a model that has none, or keeps other tensors
		p.env.Log.Debug("no vectors", "error", err)
		return nil, &run.UsageError{Message: "the run keeps no vectors of users and items"}
	}
	if !p.sees(SeesVectors) {
		return nil, nil
	}
	return p.vectors(v), nil
}

// perUser keeps how well each attack tells the edges of every user from random pairs: a table that
// privrec compare reads.
func (p *plan) perUser(ways []way) error {
	q := &p.on.questions[0]
	var columns []run.Column
	for k, w := range ways {
		values, clusters, err := q.Within(q.pick(w.Score))
		if err != nil {
			return err
		}
		if k == 0 {
			ids, rows := make([]string, len(clusters)), make([]int64, len(clusters))
			for _, c := range q.Cluster {
				rows[c]++
			}
			for i, c := range clusters {
				ids[i] = p.Whole.UserIDs[q.users[c]]
			}
			columns = append(columns, run.Column{Name: "user_id", Values: ids}, run.Column{Name: "samples", Values: rows})
		}
		name := w.Name
		if w.Floor {
			name = "floor: " + name
		}
		columns = append(columns, run.Column{Name: fmt.Sprintf("AUC edges %s within a user, %s", q.of, name), Values: values})
	}
	return p.env.WriteScores("scores", columns...)
}

// attacks returns the attacks on a question.
func (q *question) attacks(ways []way) []detect.Attack {
	out := make([]detect.Attack, len(ways))
	for k, w := range ways {
		out[k] = w.Attack
		out[k].Score = q.pick(w.Score)
	}
	return out
}
