package baseline

import (
	"context"
	"strings"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/model/sasrec"
	"privrec/internal/optim"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/train"
)

// SASRec returns the task of the self-attentive model. The configuration chooses leave-one-out or the protocol that
// ranks after every prefix. table holds a paper's printed results of the latter.
func SASRec(table nextitem.Table) run.Task {
	return run.Spec[SASRecConfig]{
		Verb: "train", Name: "sasrec", Cite: sasrec.Cite, Answers: true,
		Summary: "self-attentive sequential recommendation, whose item vectors the protection of slates compares",
		Default: DefaultSASRec, Check: checkSASRec,
		Open: func(ctx context.Context, env *run.Env, c SASRecConfig) (run.Work, error) {
			s, err := c.setting(table)
			if err != nil {
				return nil, err
			}
			if s.LastItem { // as nextitem.Load
				if err := env.View().RefuseHoldOut(c.Data.Name + " under leave-one-out"); err != nil {
					return nil, err
				}
			}
			x, err := nextitem.LoadFrom(env, s, func() (*dataset.Sequential, error) { return c.Data.load(ctx, env) })
			if err != nil {
				return nil, err
			}
			if s.LastItem {
				c.comparable(x)
			}
			c.learnIn(x)
			x.Keep = func(m nextitem.Learner) error { return keepSASRec(x, m) }
			return x, x.Unprotect()
		},
	}.Task()
}

// sasrecTask is the name of the task in its runs.
const sasrecTask = "train sasrec"

// load reads the sequences.
func (d SASRecData) load(ctx context.Context, env *run.Env) (*dataset.Sequential, error) {
	if d.Recipe != slate.HistoriesRecipe {
		return registry.Load(ctx, d.Name, d.Recipe, env.View(), registry.Options{})
	}
	set, err := slate.Load(ctx, d.Name, env.View(), slate.Options{Split: d.Split, T: d.Slate, L: d.Behaviour})
	if err != nil {
		return nil, err
	}
	return set.Sequences()
}

// setting returns the configuration in the form of the protocol.
func (c SASRecConfig) setting(table nextitem.Table) (nextitem.Setting, error) {
	s := nextitem.Setting{
		Method: c.method(),
		From: nextitem.Data{Name: c.Data.Name, Recipe: c.Data.Recipe, Candidates: c.Data.Candidates,
			Floor: c.Data.Floor},
		Fit: nextitem.Training{
			Epochs: c.Train.Epochs, Batch: c.Train.Batch, Rate: c.Train.Rate, DecayBy: 1, DecayEvery: 1,
			Patience: c.Train.Patience, Select: nextitem.SelectValidation,
			Validation: c.Train.Validation, ValidationSplit: nextitem.SplitSample, Refit: c.Train.Refit,
		},
		Eval:     nextitem.Ranking{K: c.Eval.K, Every: c.Eval.Every},
		LastItem: c.Protocol != ProtocolNextItem, Masked: c.Eval.MaskSeen,
		Optimizer: func() train.Optimizer {
			adam := optim.NewAdam(0)
			adam.Beta2 = c.Train.Beta2
			return adam
		},
	}
	var err error
	if s.LastItem {
		s.Standing.Text, err = c.standing()
		return s, err
	}
	length := func(c SASRecConfig) train.Length {
		return train.Length{Epochs: c.Train.Epochs, Patience: c.Train.Patience}
	}
	s.Table = table
	s.Standing, err = experiment.Stand(c, ProtocolNextItem, map[string]SASRecConfig{ProtocolNextItem: NextItemSASRec()},
		length, "data.")
	return s, err
}

// standing compares a setting under leave-one-out with the defaults.
func (c SASRecConfig) standing() (string, error) {
	changed, err := config.Diff(DefaultSASRec(), c)
	if err != nil || len(changed) == 0 {
		return "defaults", err
	}
	return "defaults, changed: " + strings.Join(changed, ", "), nil
}

// method returns the model's name in results.
func (c SASRecConfig) method() string {
	switch {
	case c.Train.Loss == LossAll:
		return "SASRec, all items"
	case c.Protocol == ProtocolNextItem:
		return "SASRec"
	}
	return "SASRec, one negative"
}

// The file of a run with the ids of the item table's rows, from row 1 on, and the notes of its model about both.
const (
	sasrecItems   = "items"
	sasrecHashKey = "sequences_sha256" // what it was trained on
	sasrecIDsKey  = "item_ids"         // what the ids are: sasrecIDs
	sasrecIDs     = "names"            // the data's own; without a word, tokens where the data are histories
)

// keepSASRec writes the parameters of the reported model, and the item of each row.
func keepSASRec(x *nextitem.Experiment, m nextitem.Learner) error {
	if err := x.Env.WriteScores(sasrecItems, run.Column{Name: "item_id", Values: x.Data.ItemIDs[1:]}); err != nil {
		return err
	}
	return experiment.Keep(x.Env, m.Params(), map[string]string{sasrecHashKey: x.Data.Source.Hash,
		sasrecIDsKey: sasrecIDs})
}
