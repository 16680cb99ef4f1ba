package dpae

import (
	"cmp"
	"math"

	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/descent"
	"privrec/internal/protocol/topn"
)

// Config is one training run of DPAE.
type Config struct {
	Profile string          `yaml:"profile" limit:"filled"`
	Data    topn.DataConfig `yaml:"data"`
	Model   ModelConfig     `yaml:"model"`
	Privacy PrivacyConfig   `yaml:"privacy"`
	Train   TrainConfig     `yaml:"train"`
	Eval    topn.EvalConfig `yaml:"eval"`
}

// ModelConfig sets the network and its loss.
type ModelConfig struct {
	Dim int `yaml:"dim" limit:"1..10000"` // d, number of hidden units
	// Bias is the initial bias of every output. With 0 every item begins with the probability 1/2, and the first
	// gradients mostly say that most users have few items.
	Bias   float64 `yaml:"bias" limit:"[-50,50]"`
	Weight float64 `yaml:"weight" limit:"[1e-6,1e6]"` // w, weight of the items that a user has; 1: plain cross-entropy
}

// PrivacyConfig sets the guarantee for one user more or less.
type PrivacyConfig struct {
	Epsilon float64 `yaml:"epsilon" limit:"[0.001,1e6]"`
	Delta   float64 `yaml:"delta" limit:"[1e-15,0.1]"`
	Clip    float64 `yaml:"clip" limit:"[1e-6,1e6]"` // C, the length to which the gradient of a user is clipped
	// Parent names the file of a budget from which all runs on the same data spend; "": none.
	Parent string `yaml:"parent,omitempty"`
}

// TrainConfig sets the descent: Adam on the noisy means.
type TrainConfig struct {
	Epochs int     `yaml:"epochs" limit:"1..100000"`
	Batch  int     `yaml:"batch" limit:"1..10000000"` // mean number of users in a step
	Rate   float64 `yaml:"rate" limit:"[1e-12,100]"`
	// Sampling says how a step draws its users: "poisson", which "" means too, each by a coin of its own for every
	// step; "allocation": each draws one step of an epoch.
	Sampling string `yaml:"sampling,omitempty" limit:"poisson|allocation?"`
}

// Default returns the setting on ML-100K under GERAI's split.
func Default() Config {
	return Config{
		Profile: "tuned", Data: topn.DataConfig{Name: "ml-100k", Recipe: "gerai"},
		Model:   ModelConfig{Dim: 64, Bias: -3, Weight: 1},
		Privacy: PrivacyConfig{Epsilon: 20.4, Delta: 1e-5, Clip: 1},
		Train:   TrainConfig{Epochs: 20, Batch: 64, Rate: 0.01},
		Eval:    topn.EvalConfig{K: []int{5, 10, 15, 20, 25, 30}, Candidates: 200},
	}
}

// check reports every setting that cannot be run.
func check(v *config.Checker, c Config) {
	c.Eval.CheckAtOnce(v)
}

// Steps returns the number of steps for a number of users. With random allocation no batch is expected to be larger
// than Train.Batch.
func (c Config) Steps(users int) int {
	per := float64(users) / float64(c.Train.Batch)
	if c.sampling() == privacy.Allocation {
		return c.Train.Epochs * int(math.Ceil(per))
	}
	return c.Train.Epochs * max(1, int(math.Round(per)))
}

// sampling returns how steps draw their users.
func (c Config) sampling() privacy.Sampling {
	return cmp.Or(privacy.Sampling(c.Train.Sampling), privacy.Poisson)
}

// sgd returns the mechanism of the steps for a number of users, with the least noise for the setting's epsilon. A
// stated number of users sets the rate, the number of steps and the divisor of means.
func (c Config) sgd(users int) (descent.DPSGD, error) {
	public := cmp.Or(c.Data.Sizes.Users, users)
	d := descent.DPSGD{Purpose: purposeGradients, Clip: c.Privacy.Clip, NoiseMultiplier: 1, Examples: int64(users),
		Stated:   int64(c.Data.Sizes.Users),
		Sampling: c.sampling(), Rate: min(1, float64(c.Train.Batch)/float64(public)), Unit: privacy.User}
	steps := int64(c.Steps(public))
	goal := accountant.Goal{Epsilon: c.Privacy.Epsilon, Delta: c.Privacy.Delta,
		Exposed: accountant.Exposed(d.Rate, steps)}
	if d.Sampling == privacy.Allocation {
		d.Rate, d.Steps, goal.Exposed = 0, steps/int64(c.Train.Epochs), 1
	}
	found, err := accountant.Calibrate(goal, 1, func(noise float64) (float64, error) {
		d.NoiseMultiplier = noise
		acc, err := accountant.New(accountant.Contour, privacy.User, privacy.AddRemove)
		if err != nil {
			return 0, err
		}
		if err := acc.Charge(d.Event(), d.Count(steps)); err != nil {
			return 0, err
		}
		r, err := acc.Spent(c.Privacy.Delta)
		return r.Epsilon, err
	})
	d.NoiseMultiplier = found.Noise
	return d, err
}

// purposeGradients names the noise in ledgers and streams.
const purposeGradients = "users' gradients"

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error {
	c.Eval.SuitOwn(doc, c.Data.Name)
	return c.Data.Suit(doc, registry.Need{})
}
