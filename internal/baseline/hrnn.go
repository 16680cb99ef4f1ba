package baseline

import (
	"context"

	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/model/hrnn"
	"privrec/internal/optim"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/train"
)

// HRNNConfig configures one training run of HRNN under the next-item protocol.
type HRNNConfig struct {
	Profile string           `yaml:"profile" limit:"filled"`
	Data    HRNNData         `yaml:"data"`
	Model   hrnn.Config      `yaml:"model"`
	Train   HRNNTrain        `yaml:"train"`
	Eval    nextitem.Ranking `yaml:"eval"`
}

// HRNNData names the sequences and sets how they are divided into sessions.
type HRNNData struct {
	nextitem.Data `yaml:",inline"`
	Sessions      SessionRule `yaml:"sessions"`
}

// HRNNTrain sets how the model is optimised, by Adagrad.
type HRNNTrain struct {
	Epochs   int     `yaml:"epochs" limit:"1..100000"`
	Batch    int     `yaml:"batch" limit:"1..1000000"` // users read side by side in one step
	Rate     float64 `yaml:"rate" limit:"[1e-12,100]"`
	Momentum float64 `yaml:"momentum" limit:"[0,1)"`
	// stop after so many epochs without a better metric; 0: never stop early
	Patience        int     `yaml:"patience" limit:"0..100000"`
	Select          string  `yaml:"select"` // which epoch's model is reported: validation, last or test
	Validation      float64 `yaml:"validation"`
	ValidationSplit string  `yaml:"validation_split"`
	Refit           bool    `yaml:"refit"`
}

// DefaultHRNN returns the setting of a variant's small network in the authors' script: 10
// epochs, the last model. Sequences are divided at gaps of half an hour, as their program does.
func DefaultHRNN(variant string) HRNNConfig {
	c := HRNNConfig{
		Profile: variant, Data: HRNNData{nextitem.ML1M(), SessionRule{Gap: 1800}}, Model: hrnn.Default(variant),
		Train: HRNNTrain{Epochs: 10, Batch: 50, Rate: 0.1, Select: nextitem.SelectLast,
			ValidationSplit: nextitem.SplitSample},
		Eval: nextitem.Ranking{K: []int{5, 10, 20}, Every: true},
	}
	if variant == hrnn.VariantAll {
		c.Train.Batch, c.Train.Momentum = 100, 0.2
	}
	return c
}

// HRNN returns the task. table holds a paper's printed results for it.
func HRNN(table nextitem.Table) run.Task {
	return run.Spec[HRNNConfig]{
		Verb: "train", Name: "hrnn", Cite: hrnn.Cite, Answers: true,
		Summary: "recurrent networks over a session and over a user's sessions (DIPSGNN's Table 2)",
		Default: func() HRNNConfig { return DefaultHRNN(hrnn.VariantInit) },
		Check:   checkHRNN,
		Open: func(ctx context.Context, env *run.Env, c HRNNConfig) (run.Work, error) {
			s, err := c.setting(table)
			if err != nil {
				return nil, err
			}
			x, err := nextitem.Load(ctx, env, s)
			if err != nil {
				return nil, err
			}
			if err := c.learnIn(x); err != nil {
				return nil, err
			}
			return x, x.Unprotect()
		},
	}.Task()
}

// setting returns the configuration in the form of the protocol.
func (c HRNNConfig) setting(table nextitem.Table) (nextitem.Setting, error) {
	t := c.Train
	length := func(c HRNNConfig) train.Length {
		return train.Length{Epochs: c.Train.Epochs, Patience: c.Train.Patience}
	}
	// How sequences are divided belongs to the data: no paper says it for theirs.
	standing, err := experiment.Stand(c, c.Profile, map[string]HRNNConfig{
		hrnn.VariantInit: DefaultHRNN(hrnn.VariantInit), hrnn.VariantAll: DefaultHRNN(hrnn.VariantAll),
	}, length, "data.")
	return nextitem.Setting{
		Method: "HRNN", Standing: standing, From: c.Data.Data, Eval: c.Eval, Table: table,
		Fit: nextitem.Training{
			Epochs: t.Epochs, Batch: t.Batch, Rate: t.Rate, DecayBy: 1, DecayEvery: 1, Patience: t.Patience,
			Select: t.Select, Validation: t.Validation, ValidationSplit: t.ValidationSplit, Refit: t.Refit,
		},
		Optimizer: func() train.Optimizer { return optim.NewAdagrad(t.Momentum) },
	}, err
}

// checkHRNN reports every setting that cannot be run.
func checkHRNN(v *config.Checker, c HRNNConfig) {
	c.Data.Sessions.check(v)
	s, _ := c.setting(nextitem.Table{}) // what can be wrong in it is reported below
	s.Fit.Check(v, c.Eval)
}

// Suit implements run.Suited.
func (c *HRNNConfig) Suit(doc *config.Document) error {
	return c.Data.Suit(doc, registry.Need{Times: c.Data.Sessions.Rows == 0})
}
