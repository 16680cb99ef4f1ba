package exposure

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/model/sasrec"
	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/train"
)

// sasrecTask trains the model that the similarity-based protection takes its item
// vectors from, and that shows slates worth attacking.
func sasrecTask() run.Task {
	return run.Task{
		Verb: "train", Name: "sasrec", Cite: sasrec.Cite,
		Summary: "self-attentive sequential recommendation, whose item vectors the protection of slates compares",
		Action:  run.Serving(run.BindForecast(DefaultSASRec, ValidateSASRec, TrainSASRec, forecastSASRec), serveSASRec),
	}
}

// TrainSASRec runs SASRec: load, split, train, rank the test items, keep the model.
func TrainSASRec(ctx context.Context, env *run.Env, c SASRecConfig) error {
	s, err := loadSASRec(ctx, env, c)
	if err != nil {
		return err
	}
	f, err := newSASRecFit(c, s, env.Seed)
	if err != nil {
		return err
	}
	a := f.account()
	if _, err := env.Ledger(privacy.Research, a.declaration()); err != nil {
		return err
	}
	r, err := fitSASRec(ctx, env, f)
	if err != nil {
		return err
	}
	o, err := f.measure(ctx, env, r)
	if err != nil {
		return err
	}
	if err := f.keep(env); err != nil {
		return err
	}
	return f.write(env, o, a)
}

// loadSASRec reads the sequences and notes them in the manifest.
func loadSASRec(ctx context.Context, env *run.Env, c SASRecConfig) (*dataset.Sequential, error) {
	defer env.Stage("load " + c.Data.Name)()
	s, _, err := c.Data.load(ctx, env.Seed)
	if err != nil {
		return nil, err
	}
	for _, k := range c.Eval.K {
		if k > s.Items {
			return nil, &run.UsageError{Message: fmt.Sprintf("eval.k: cutoff %d is more than the %d items ranked", k, s.Items), Fix: "leave that cutoff out"}
		}
	}
	return s, env.RecordData(s.Source.Title, s.Source.Hash)
}

// fitSASRec trains inside a run: checkpoints go to its directory.
func fitSASRec(ctx context.Context, env *run.Env, f *sasrecFit) (*train.Result, error) {
	defer env.Stage("train")()
	return f.train(ctx, env.Seed, train.Options{
		Hooks: env.TrainHooks(), Store: env.TrainStore(), SaveEvery: env.SaveEvery, SaveSteps: env.SaveSteps, Tag: env.ConfigHash,
	})
}
