package link

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
)

// Task returns the attack on runs of others, which it may also train.
func Task(others []run.Task) run.Task {
	return target.Attack[Config]{
		Name: "link", Method: "link stealing",
		Summary: "find the edges of the graph that a model was trained on",
		Cite: "Wu et al., LinkTeller: Recovering Private Edges from Graph Neural Networks via Influence Analysis, " +
			"S&P 2022, arXiv 2108.06504; " +
			"He et al., Stealing Links from Graph Neural Networks, USENIX Security 2021, arXiv 2005.02131",
		Flags: []run.Flag{
			target.FlagOn,
			{Name: "sees", Key: "attack.sees", List: true,
				Usage: "take this evidence: scores, vectors or influence; may be repeated"},
			target.FlagTrain,
		},
		Default: Default, Check: Check,
		Parts: func(c *Config) target.Parts {
			return target.Parts{Profile: &c.Profile, On: &c.On, Target: &c.Target, Eval: &c.Eval}
		},
		Clear: "edges",
		Why: "the attack is told the edges to be measured; what protects them is in the account of the attacked run, " +
			"which covers no further answers of its model",
		Suits: pairsOnly, Find: find,
	}.Task(others)
}

// plan is an attack on one target.
type plan struct {
	Config
	*target.Attacked
	on      *pairs
	given   []string  // kinds of evidence that were taken
	missing []Missing // kinds that the run does not give
	answers int       // that a deployed model gave
	inputs  string    // of users, that were changed
	noise   string    // of the answers
}

// pairsOnly refuses a model of sequences, whose edges have an order.
func pairsOnly(_ Config, t *target.Run) error {
	if !t.Sequences {
		return nil
	}
	const no = "the run in %s is of sequences, and the attack asks for edges of users and items"
	const fix = "attack a run of a top-n model, such as train lightgcn"
	return &run.UsageError{Message: fmt.Sprintf(no, t.Dir), Fix: fix}
}

// find draws the pairs and scores them by all evidence from the run.
func find(ctx context.Context, c Config, x *target.Attacked) (*target.Found, error) {
	p := &plan{Config: c, Attacked: x}
	var err error
	if p.on, err = c.pairs(x.Run); err != nil {
		return nil, err
	}
	ways, err := p.ways(ctx)
	if err != nil {
		return nil, err
	}
	x.Description.Release = x.Kept
	return p.found(ways), nil
}

// Missing is the error for a kind of evidence that a run does not give. Why names no folder, since a result does not
// depend on the place of its runs.
type Missing struct {
	Kind string `json:"kind"`
	Why  string `json:"why"`
}

// ways returns all attacks that the run's evidence allows, then the floors. It fails if the run lacks a kind of
// evidence that the setting names.
func (p *plan) ways(ctx context.Context) (all []target.Way, err error) {
	a, err := target.Ask(ctx, p.Tasks, p.Dir, "")
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var first error // of a kind that is named
	var named string
	take := func(kind string, make func() ([]target.Way, error)) error {
		made, err := make()
		if no := (*run.UsageError)(nil); errors.As(err, &no) {
			p.missing = append(p.missing, Missing{kind, no.Message})
			if len(p.Attack.Sees) > 0 && p.sees(kind) && first == nil {
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
	if err := take(SeesInfluence, func() ([]target.Way, error) { return p.byInfluence(ctx, a) }); err != nil {
		return nil, err
	}
	if err := take(SeesScores, func() ([]target.Way, error) {
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

// notGiven returns the error for a kind of evidence that the run does not give.
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
	message := fmt.Sprintf("attack.sees: %s: %v", kind, err)
	return &run.UsageError{Message: message, Fix: "this run gives " + strings.Join(gives, ", ")}
}

func (p *plan) byInfluence(ctx context.Context, a experiment.Scoring) ([]target.Way, error) {
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

func (p *plan) byVectors() ([]target.Way, error) {
	v, err := experiment.OpenVectors(p.Dir, p.Kept, p.Whole.Users, p.Whole.Items)
	if err != nil { // of a model that has none, or keeps other tensors
		p.Env.Log.Debug("no vectors", "error", err)
		return nil, &run.UsageError{Message: "the run keeps no vectors of users and items"}
	}
	if !p.sees(SeesVectors) {
		return nil, nil
	}
	return p.vectors(v), nil
}
