package dpsgd

import (
	"cmp"
	"context"
	"slices"

	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/descent"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/train"
)

// Config is one training run of DPSGD.
type Config struct {
	Profile string              `yaml:"profile" limit:"filled"`
	Data    nextitem.Data       `yaml:"data"`
	Model   dipsgnn.ModelConfig `yaml:"model"`
	Privacy PrivacyConfig       `yaml:"privacy"`
	Train   TrainConfig         `yaml:"train"`
	Eval    EvalConfig          `yaml:"eval"`
}

// PrivacyConfig sets the guarantee for one unit more or less.
type PrivacyConfig struct {
	// Unit says what one example of DP-SGD holds: "sample" or "user". "interaction" is a sample whose items were
	// released with noise before training, so that only its label is an interaction in the clear; epsilon is then for
	// exchanging one.
	Unit    string  `yaml:"unit" limit:"sample|user|interaction"`
	Epsilon float64 `yaml:"epsilon" limit:"[0.001,1e6]"`
	Delta   float64 `yaml:"delta" limit:"[1e-15,0.1]"`
	// S, the length to which the gradient of an example is clipped
	Clip     float64               `yaml:"clip" limit:"[1e-6,1e6]"`
	Features dipsgnn.FeatureConfig `yaml:"features"` // local perturbation of user features, as in DIPSGNN
	// Inputs is the share of mu² spent on a noisy release of the items; gradients get the rest. mu is that of one
	// normal release with the same epsilon and delta. 0: items are read without noise.
	Inputs float64 `yaml:"inputs,omitempty" limit:"(0,1)" when:"unit=interaction"`
	// Parent names the file of a budget from which all runs on the same data spend; "": none.
	Parent string `yaml:"parent,omitempty"`
}

// TrainConfig sets the descent: Adam on the noisy means.
type TrainConfig struct {
	// number of epochs; each takes an example once on average
	Epochs int `yaml:"epochs" limit:"1..100000"`
	Batch  int `yaml:"batch" limit:"1..1000000"` // mean number of examples in a step
	// Sampling says how a step draws its examples: "poisson", which "" means too, each by a coin of its own for every
	// step; "allocation": each draws one step of an epoch.
	Sampling   string  `yaml:"sampling,omitempty" limit:"poisson|allocation?"`
	Rate       float64 `yaml:"rate" limit:"[1e-12,100]"`
	DecayBy    float64 `yaml:"decay_by" limit:"(0,1]"`
	DecayEvery int     `yaml:"decay_every" limit:"1..100000"`
	TickBefore bool    `yaml:"tick_before"`
	L2         float64 `yaml:"l2" limit:"[0,1)"`
	Sample     float64 `yaml:"sample,omitempty"` // chance that a training sample is used; 0: all are used
}

// EvalConfig sets how the test samples are ranked.
type EvalConfig struct {
	K []int `yaml:"k" limit:"some cutoff in 1..100000"`
}

// Default returns the setting for samples on ML-1M: DIPSGNN's network, features, batch, epochs and decay, its eps2 and
// delta. The paper states neither clip nor rate; configs/dipsgnn/ml-1m-dpsgd.yaml says where ours come from.
func Default() Config {
	d := dipsgnn.Default()
	return Config{
		Profile: "paper", Data: d.Data, Model: d.Model,
		Privacy: PrivacyConfig{Unit: string(privacy.Sample), Epsilon: 5, Delta: 2.5e-7, Clip: 0.2,
			Features: d.Privacy.Features},
		Train: TrainConfig{Epochs: 10, Batch: 100, Rate: 0.001, DecayBy: d.Train.DecayBy,
			DecayEvery: d.Train.DecayEvery,
			TickBefore: d.Train.TickBefore, L2: d.Train.L2},
		Eval: EvalConfig{K: d.Eval.K},
	}
}

// Users returns Default with users as the examples, 64 of them a step. There are so few steps that the rate is
// DIPSGNN's.
func Users() Config {
	c := Default()
	c.Profile, c.Privacy.Unit, c.Privacy.Clip = "users", string(privacy.User), 1
	c.Train.Batch, c.Train.Rate = 64, 0.01
	return c
}

// Interactions returns Default with a guarantee for exchanging one interaction: half of mu² is for a release of all
// items.
func Interactions() Config {
	c := Default()
	c.Profile, c.Privacy.Unit, c.Privacy.Inputs = "interactions", string(privacy.Interaction), 0.5
	return c
}

// check reports every setting that cannot be run.
func check(v *config.Checker, c Config) {
	v.Check(c.Privacy.Unit == string(privacy.Interaction) || c.Privacy.Inputs == 0, "privacy.inputs",
		"needs privacy.unit=%s", privacy.Interaction)
	v.Check(c.sampling() != privacy.Allocation || c.Privacy.Unit != string(privacy.Interaction), "train.sampling",
		"%s does not go with privacy.unit=%s: no amplification is proved where units are exchanged", privacy.Allocation,
		privacy.Interaction)
	c.Privacy.Features.Check(v)
	c.training().Check(v, nextitem.Ranking{K: c.Eval.K})
}

// training returns the setting in the form of the protocol: every epoch is trained and the last is reported.
func (c Config) training() nextitem.Training {
	t := c.Train
	return nextitem.Training{Epochs: t.Epochs, Batch: t.Batch, Rate: t.Rate, DecayBy: t.DecayBy,
		DecayEvery: t.DecayEvery,
		TickBefore: t.TickBefore, L2: t.L2, Sample: t.Sample,
		Select: nextitem.SelectLast, ValidationSplit: nextitem.SplitSample}
}

// length returns how long a setting trains.
func length(c Config) train.Length { return c.training().Length() }

// purpose names the noise in ledgers and streams.
const purpose = "gradients"

// sampling returns how steps draw their examples.
func (c Config) sampling() privacy.Sampling {
	return cmp.Or(privacy.Sampling(c.Train.Sampling), privacy.Poisson)
}

// steps returns the mechanism of the steps for a number of examples and a noise multiplier, and the number of steps.
func (c Config) steps(examples int, noise float64) (descent.DPSGD, int64) {
	d := descent.DPSGD{Purpose: purpose, Clip: c.Privacy.Clip, NoiseMultiplier: noise, Examples: int64(examples),
		Stated:   int64(c.stated()),
		Sampling: c.sampling(), Unit: privacy.Unit(c.Privacy.Unit), Share: half}
	steps := c.descent(examples).Steps()
	if d.Sampling == privacy.Allocation {
		d.Steps = steps / int64(c.Train.Epochs)
	} else {
		d.Rate = c.descent(examples).Rate()
	}
	return d, steps
}

// half is each mechanism's part of the run's false-alarm probability: user features and gradients.
const half = 0.5

// byRDP returns the noise multiplier that results from Rényi divergences of integer orders and their classical
// conversion; 0 for random allocation, which no program of the paper's time accounted.
func (c Config) byRDP(examples int) (float64, error) {
	d, n := c.steps(examples, 1)
	if d.Sampling == privacy.Allocation {
		return 0, nil
	}
	return rdp.CalibrateSampledGaussian(context.Background(), d.Rate, n,
		privacy.Budget{Epsilon: c.Privacy.Epsilon, Delta: c.Privacy.Delta},
		rdp.Options{Conversion: rdp.Classic, Orders: rdp.Whole(256), Fixed: true})
}

// neighbouring returns the relation that epsilon is for.
func (c PrivacyConfig) neighbouring() privacy.Neighbouring {
	if c.Unit == string(privacy.Interaction) {
		return privacy.Replace
	}
	return privacy.AddRemove
}

// several is a number of gradient values above one; the price of secure noise does not depend on it.
const several = 1 << 10

// calibrate returns the least noise multiplier at which the exact account of all steps, with the release of items if
// there is one, has the setting's epsilon. With secret the noise is discrete, and its account that of normal noise that
// is at most as private.
func (c Config) calibrate(examples int, secret bool) (float64, error) {
	p := c.Privacy
	var step func(noise float64) (privacy.Event, error)
	if secret {
		step = func(noise float64) (privacy.Event, error) {
			d, _ := c.steps(examples, noise)
			return descent.SecretEvent(d, several)
		}
	}
	switch {
	case c.sampling() == privacy.Allocation:
		if step == nil {
			step = func(noise float64) (privacy.Event, error) {
				d, _ := c.steps(examples, noise)
				return d.Event(), d.Validate()
			}
		}
		return c.least(examples, step)
	case secret && p.Inputs > 0:
		m, err := c.secretItems()
		if err != nil {
			return 0, err
		}
		items, err := m.Event()
		if err != nil {
			return 0, err
		}
		return c.least(examples, step, privacy.Entry{Purpose: purposeItems, Count: 1, Event: items})
	}
	return c.descent(examples).Calibrate(privacy.Subject{Unit: privacy.Unit(p.Unit), Neighbouring: p.neighbouring()},
		privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}, step)
}

// least returns the least noise multiplier at which the ledger of a run, with other releases before its steps, composes
// to the setting's epsilon. step returns what the ledger has of steps.
func (c Config) least(examples int, step func(noise float64) (privacy.Event, error),
	before ...privacy.Entry) (float64, error) {
	p := c.Privacy
	found, err := accountant.Calibrate(accountant.Goal{Epsilon: p.Epsilon, Delta: p.Delta, Exposed: 1}, 1,
		func(noise float64) (float64, error) {
			e, err := step(noise)
			if err != nil {
				return 0, err
			}
			acc, err := accountant.New(accountant.Contour, privacy.Unit(p.Unit), p.neighbouring())
			if err != nil {
				return 0, err
			}
			d, n := c.steps(examples, noise)
			r, err := accountant.Covered(acc, append(slices.Clip(before), privacy.Entry{Purpose: purpose,
				Count: d.Count(n), Event: e}), p.Delta)
			return r.Epsilon, err
		})
	return found.Noise, err
}

// stated returns the stated number of examples; 0: they are counted.
func (c Config) stated() int {
	if c.Privacy.Unit == string(privacy.User) {
		return c.Data.Sizes.Users
	}
	return c.Data.Sizes.Rows
}

// descent returns the description of the training for a number of examples, or for the stated number.
func (c Config) descent(examples int) dipsgnn.Descent {
	return dipsgnn.Descent{Examples: cmp.Or(c.stated(), examples), Batch: c.Train.Batch, Epochs: c.Train.Epochs,
		Inputs: c.Privacy.Inputs, Clip: c.Privacy.Clip}
}

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error {
	err := c.Data.Suit(doc, registry.Need{})
	c.Model.UserInput = c.Data.SuitUsers(doc, c.Model.UserInput)
	return err
}
