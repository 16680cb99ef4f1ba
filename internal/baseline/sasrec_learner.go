package exposure

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/model/sasrec"
	"privrec/internal/optim"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/train"
)

// sasrecFit trains a model on sequences: it is the model of the training loop. A sample
// is a user.
type sasrecFit struct {
	model     *sasrec.Model
	data      *dataset.Sequential
	config    SASRecConfig
	negatives *sasrec.Negatives // of the sampled loss

	batch sasrec.Batch
	draws []int32
}

func newSASRecFit(c SASRecConfig, s *dataset.Sequential, seed rng.Seed) (*sasrecFit, error) {
	m, err := sasrec.New(s.Items, c.Model, seed)
	if err != nil {
		return nil, err
	}
	f := &sasrecFit{model: m, data: s, config: c}
	if c.Train.Loss == LossSampled {
		if f.negatives, err = sasrec.NewNegatives(s.Train, s.Items, seed); err != nil {
			return nil, &run.UsageError{Message: err.Error(), Fix: "train.loss=" + LossAll}
		}
	}
	return f, nil
}

// learnable are the users with two training items or more.
func (f *sasrecFit) learnable() []int32 {
	var users []int32
	for u, items := range f.data.Train {
		if len(items) > 1 {
			users = append(users, int32(u))
		}
	}
	return users
}

// Params implements train.Model.
func (f *sasrecFit) Params() []*autograd.Param { return f.model.Params() }

// Loss implements train.Model.
func (f *sasrecFit) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	f.batch.Reset(f.config.Model.Length)
	f.draws = f.draws[:0]
	for _, u := range b.Samples {
		before := len(f.batch.Targets)
		if err := f.batch.AddPairs(f.data.Train[u]); err != nil {
			return nil, err
		}
		if f.negatives != nil {
			f.draws = f.negatives.Draw(f.draws, b.Step, u, len(f.batch.Targets)-before)
		}
	}
	if f.negatives != nil {
		return f.model.Sampled(t, &f.batch, f.draws, b.Step), nil
	}
	return f.model.CrossEntropy(t, &f.batch, b.Step), nil
}

// train runs the training loop; o holds where checkpoints go and who is told. Each epoch
// is ranked on the validation items, and the best by NDCG@10 is kept.
func (f *sasrecFit) train(ctx context.Context, seed rng.Seed, o train.Options) (*train.Result, error) {
	valid := sasrecHeldOut(f.data, false)
	if len(valid.users) == 0 {
		return nil, &dataset.Error{File: f.data.Name, Msg: "no user has the three items that training, validation and testing take"}
	}
	t, adam := f.config.Train, optim.NewAdam(0)
	adam.Beta2 = t.Beta2
	o.List, o.BatchSize, o.Shuffle, o.Seed, o.Epochs = f.learnable(), t.Batch, true, seed, t.Epochs
	o.Optimizer, o.Rate = adam, t.Rate
	r := f.ranking(valid)
	o.Validate = func(ctx context.Context, _ int) ([]train.Score, error) {
		ranks, err := r.ranks(ctx)
		if err != nil {
			return nil, err
		}
		ms := f.config.metrics()
		if !slices.Contains(ms, sasrecPrimary) {
			ms = append(ms, sasrecPrimary)
		}
		var scores []train.Score
		for _, m := range ms {
			scores = append(scores, train.Score{Name: "valid " + m.String(), Value: m.Mean(ranks)})
		}
		return scores, nil
	}
	o.Primary, o.Select = "valid "+sasrecPrimary.String(), train.SelectBest
	if t.Patience > 0 {
		o.Stop = train.Stop{Rule: train.StopReset, Patience: t.Patience, Metrics: []string{o.Primary}}
	}
	result, err := train.Run(ctx, f, o)
	if err != nil {
		return nil, fmt.Errorf("train SASRec: %w", err)
	}
	return result, nil
}
