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
