package sgdmf

import (
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
)

// Config is one training run.
type Config struct {
	Profile string          `yaml:"profile"`
	Data    topn.DataConfig `yaml:"data"`
	Model   ModelConfig     `yaml:"model"`
	Privacy release.Privacy `yaml:"privacy"`
	Train   TrainConfig     `yaml:"train"`
	Eval    topn.EvalConfig `yaml:"eval"`
}

// ModelConfig sets the factorisation.
type ModelConfig struct {
	Dim int `yaml:"dim"` // d, number of columns of V
	// m, the most items with vectors, those of the largest released counts; all others rank below, by their counts
	Items      int     `yaml:"items"`
	Unobserved float64 `yaml:"unobserved"` // w0, the weight of an item that a user does not have
	Lambda     float64 `yaml:"lambda"`     // penalty on the squares of users' vectors
	// value towards which the penalty pulls users' vectors in the column of the counts
	Prior float64 `yaml:"prior"`
}

// TrainConfig sets the descent.
type TrainConfig struct {
	Steps  int     `yaml:"steps"`
	Sample float64 `yaml:"sample"` // q, the probability that a user is in a step
	Clip   float64 `yaml:"clip"`   // S, the length to which the gradient of a user is clipped
	// items drawn for each step among those that a user does not have; 0: all of them
	Negatives int     `yaml:"negatives"`
	Optimizer string  `yaml:"optimizer"` // sgd or adam
	Rate      float64 `yaml:"rate"`
	Decay     float64 `yaml:"decay"`   // share of V that a step takes off
	Average   bool    `yaml:"average"` // rank by the mean of V over the later half of the steps, not by the last one
}

// Values of TrainConfig.Optimizer.
const (
	SGD  = "sgd"
	Adam = "adam"
)

// Default returns the setting of configs/private/ml-1m-dp-sgd-mf.yaml, which says where it comes from.
func Default() Config {
	return Config{
		Profile: "tuned", Data: topn.DataConfig{Name: "ml-1m", Recipe: "gerai"},
		Model:   ModelConfig{Dim: 8, Items: 400, Unobserved: 0.4, Lambda: 5, Prior: 0.6},
		Privacy: release.Privacy{Epsilon: 1, Delta: 1e-6, Items: 80, Counts: 0.05},
		Train:   TrainConfig{Steps: 36, Sample: 1, Clip: 0.3, Optimizer: SGD, Rate: 100, Decay: 0.05, Average: true},
		Eval:    topn.DefaultEval(),
	}
}

// check reports every setting that cannot be run.
func check(v *config.Checker, c Config) {
	v.NotEmpty("profile", c.Profile)
	c.Data.Check(v)
	c.Privacy.Check(v)
	v.Check(!c.Privacy.Secure, release.SecureKey, "must be left out: run.secure=true makes noise and samples secure")
	v.Between("model.dim", c.Model.Dim, 1, 1000)
	v.Between("model.items", c.Model.Items, 1, 10_000_000)
	v.Within("model.unobserved", c.Model.Unobserved, 1e-6, 1)
	v.Within("model.lambda", c.Model.Lambda, 1e-4, 1e6)
	v.Below("model.prior", c.Model.Prior, 0, 100)
	v.Between("train.steps", c.Train.Steps, 1, 1_000_000)
	v.Within("train.sample", c.Train.Sample, 1e-6, 1)
	v.Within("train.clip", c.Train.Clip, 1e-6, 1e6)
	v.Between("train.negatives", c.Train.Negatives, 0, 10_000_000)
	v.OneOf("train.optimizer", c.Train.Optimizer, SGD, Adam)
	v.Within("train.rate", c.Train.Rate, 1e-9, 1e6)
	v.Below("train.decay", c.Train.Decay, 0, 1)
	c.Eval.CheckAtOnce(v)
}

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error {
	return c.Data.Suit(doc, registry.Need{Draws: true})
}
