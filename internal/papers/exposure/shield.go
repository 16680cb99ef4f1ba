package exposure

import (
	"context"

	"privrec/internal/baseline"
	"privrec/internal/dataset/slate"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// protection describes the changes to slates before they were shown.
type protection struct {
	options protect.Options
	report  protect.Report // of the test slates
}

// protect replaces the slates that the attack sees by protected ones: those of the test pairs and, for the adaptive
// attacker, those it trains on too.
func (x *attackRun) protect(ctx context.Context, l *privacy.Ledger) error {
	if !x.cfg.Protect.On() {
		return nil
	}
	defer x.Env.Stage("protect")()
	pool, err := protect.NewPool(x.Set)
	if err != nil {
		return err
	}
	o := x.cfg.Protect.options()
	o.Pool, o.Ledger, o.Workers = pool, l, tensor.Workers()
	if err := draws(x.Env, &o); err != nil {
		return err
	}
	if o.Similarity() {
		if o.Vectors, err = x.vectors(ctx); err != nil {
			return err
		}
	}
	o.Parallel = x.parallel()
	x.protection = &protection{options: o}
	if x.cfg.Protect.Attacker == AttackerAdaptive {
		if x.Whole, _, err = protectPart(ctx, o, "train", x.Whole); err != nil {
			return err
		}
		x.Train = x.sample(x.Whole)
		if x.Valid, _, err = protectPart(ctx, o, "valid", x.Valid); err != nil {
			return err
		}
	}
	x.Test, x.protection.report, err = protectPart(ctx, o, "test", x.Test)
	return err
}

// draws sets the source of a protection's random choices: the noise of the run, or the seed of a run that an older
// program began.
func draws(env *run.Env, o *protect.Options) error {
	o.Seed = env.Seed
	if !env.Keyed() {
		return nil
	}
	s, err := env.Noise("exposure", "protection")
	o.Under = &s
	return err
}

// parallel returns the parts that a run releases, if no user is in two of them; nil if one is, or if users are unknown.
func (x *attackRun) parallel() *protect.Parallel {
	parts := x.released()
	if s := sharesOf(x.Set, parts); len(parts) < 2 || s.Unknown != "" || !s.Apart {
		return nil
	}
	return protect.NewParallel(partNames(parts)...)
}

// protectPart protects one part of the pairs, with random choices of its own.
func protectPart(ctx context.Context, o protect.Options, part string,
	p *slate.Pairs) (*slate.Pairs, protect.Report, error) {
	o.Part = part
	return protect.Slates(ctx, p, o)
}

// options returns the options of a setting, without the data.
func (c ProtectConfig) options() protect.Options {
	o := protect.Options{Method: protect.Method{Select: c.Select, Replace: c.Replace, Ratio: c.Ratio,
		Epsilon: c.Epsilon, Weighted: c.Weighted, Tau: c.Tau,
		Reference: c.Reference, Batch: c.Batch, OwnRows: c.OwnRows}}
	if o.Replace == protect.ReplaceRR {
		o.Select = ""
	}
	return o
}

// vectorsHere is the value of protect.vectors that trains SASRec in the run itself.
const vectorsHere = "here"

// vectors returns the items' vectors for similarity.
func (x *attackRun) vectors(ctx context.Context) ([][]tensor.Float, error) {
	if dir := x.cfg.Protect.Vectors; dir != vectorsHere {
		return baseline.ItemVectors(ctx, dir, x.Set)
	}
	x.Env.Progress.Phase("train SASRec for the items' vectors")
	o := baseline.VectorOptions{Seed: x.Env.Seed, Hooks: x.Env.TrainHooks()}
	if most := x.cfg.Protect.VectorsEpochs; most > 0 {
		o.Train = baseline.DefaultSASRec().Train
		o.Train.Epochs = most
	}
	return baseline.TrainItemVectors(ctx, x.Set, o)
}
