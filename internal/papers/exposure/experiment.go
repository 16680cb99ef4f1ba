package exposure

import (
	"context"
	"fmt"
	"slices"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/dataset"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/slates"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// attackRun is one attack on one set of pairs.
type attackRun struct {
	slates.Bench
	cfg        Config
	standing   experiment.Standing
	protection *protection // nil where slates are as they were

	ledger *privacy.Ledger // of the run
}

// loadPairs reads a data set, or asks a finished run of one of the tasks.
func (c Config) loadPairs(ctx context.Context, tasks []run.Task, seed rng.Seed) (*slate.Set, error) {
	var set *slate.Set
	var err error
	if c.On.Run != "" {
		set, err = attackOn(ctx, tasks, c, seed)
	} else {
		set, err = slate.Load(ctx, c.Data.Name, c.Data.options(seed))
	}
	if err != nil {
		return nil, err
	}
	if slices.Contains(c.Eval.Vocabulary, attack.VocabularyLogged) && set.Logged == nil {
		return nil, &run.UsageError{Message: fmt.Sprintf("eval.vocabulary: what users of %s were shown in all is not known", set.Name), Fix: "leave " + attack.VocabularyLogged + " out"}
	}
	if most := slices.Max(c.Eval.K); most > set.Vocab-int(slate.FirstItem) {
		return nil, &run.UsageError{Message: fmt.Sprintf("eval.k: cutoff %d is more than the %d items of %s", most, set.Vocab-int(slate.FirstItem), set.Name), Fix: "leave that cutoff out"}
	}
	for _, part := range []struct {
		name string
		p    *slate.Pairs
		need bool
	}{{"training", set.Train, true}, {"validation", set.Valid, c.Train.Select == selectValidation || c.Train.Patience > 0}, {"test", set.Test, true}} {
		if part.need && part.p.Len() == 0 {
			return nil, &dataset.Error{File: set.Name, Msg: fmt.Sprintf("the split leaves no %s pairs", part.name)}
		}
	}
	return set, nil
}

// prepare makes what the attack sees of a set: a sample of the training pairs where the
// setting says so.
func prepare(env *run.Env, c Config, set *slate.Set) (x *attackRun, err error) {
	x = &attackRun{cfg: c, Bench: slates.Bench{
		Env: env, Method: c.method(), Set: set, Eval: c.Eval, Train: set.Train, Valid: set.Valid, Test: set.Test, Whole: set.Train,
		DropsRepeated: c.dropsRepeated(), StopAtEnd: c.Attack.StopAtEnd,
	}}
	if x.standing, err = c.standing(); err != nil {
		return nil, err
	}
	x.Train = x.sample(x.Train)
	return x, nil
}

// method names the attack.
func (c Config) method() string {
	return fmt.Sprintf("%s encoder, %s decoder", c.Attack.Encoder, c.Attack.Decoder)
}

const cite = "Xin et al., On the User Behavior Leakage from Recommender System Exposure, ACM TOIS 2023, arXiv 2210.08435"

// Tasks lists what the command line offers of this paper; others are those whose finished
// runs can be attacked.
func Tasks(others []run.Task) []run.Task {
	// Runs of the attack itself are known, and make no recommendations.
	others = append(slices.Clip(others), run.Task{Verb: "attack", Name: "exposure"})
	return []run.Task{
		run.Spec[Config]{
			Verb: "attack", Name: "exposure", Cite: cite,
			Summary: "guess what users clicked from what they are shown next",
			Flags:   []run.Flag{{Name: "on", Key: "on.run", Usage: "attack the recommendations of the finished run in this directory"}},
			Default: Default, Check: Check,
			Open: func(ctx context.Context, env *run.Env, c Config) (run.Work, error) { return open(ctx, env, c, others) },
		}.Task(),
	}
}

// open loads the pairs.
func open(ctx context.Context, env *run.Env, c Config, others []run.Task) (*attackRun, error) {
	defer env.Stage("load")()
	set, err := c.loadPairs(ctx, others, env.Seed)
	if err != nil {
		return nil, err
	}
	if err := env.RecordData(set.Name, set.Hash); err != nil {
		return nil, err
	}
	return prepare(env, c, set)
}

// Run implements run.Work: it protects slates, trains the attack until the loss on
// validation rises, ranks the test pairs under every protocol beside the floors, and
// accounts.
func (x *attackRun) Run(ctx context.Context) error {
	a := x.cfg.account(sharesOf(x.Set, x.released()))
	if x.selected() {
		a.Leave("selection", "the loss on the validation pairs decides, in the clear, when training ends or which epoch is reported")
	}
	var err error
	if x.ledger, err = x.Env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return err
	}
	once, err := x.Env.Once()
	if err != nil {
		return err
	}
	if err := a.hold(once); err != nil {
		return err
	}
	if err := x.protect(ctx, once); err != nil {
		return run.Interrupted(ctx, err)
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
