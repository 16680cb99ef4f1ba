package sgdmf

import (
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
)

// Config is one training run.
type Config struct {
	Profile string          `yaml:"profile" limit:"filled"`
	Data    topn.DataConfig `yaml:"data"`
	Model   ModelConfig     `yaml:"model"`
	Privacy release.Privacy `yaml:"privacy"`
	Train   TrainConfig     `yaml:"train"`
	Eval    topn.EvalConfig `yaml:"eval"`
}

// ModelConfig sets the factorisation.
type ModelConfig struct {
	Dim int `yaml:"dim" limit:"1..1000"` // d, number of columns of V
	// m, the most items with vectors, those of the largest released counts; all others rank below, by their counts
	Items      int     `yaml:"items" limit:"1..10000000"`
	Unobserved float64 `yaml:"unobserved" limit:"[1e-6,1]"` // w0, the weight of an item that a user does not have
	Lambda     float64 `yaml:"lambda" limit:"[0.0001,1e6]"` // penalty on the squares of users' vectors
	// value towards which the penalty pulls users' vectors in the column of the counts
	Prior float64 `yaml:"prior" limit:"[0,100)"`
}

// TrainConfig sets the descent.
type TrainConfig struct {
	Steps  int     `yaml:"steps" limit:"1..1000000"`
	Sample float64 `yaml:"sample" limit:"[1e-6,1]"` // q, the probability that a user is in a step
	// Sampling says how a step draws its users: "poisson", which "" means too, each by a coin of its own for every
	// step; "allocation": each draws one step of every epoch, which has as few steps as keep the probability at most q.
	Sampling string  `yaml:"sampling,omitempty" limit:"poisson|allocation?"`
	Clip     float64 `yaml:"clip" limit:"[1e-6,1e6]"` // S, the length to which the gradient of a user is clipped
	// items drawn for each step among those that a user does not have; 0: all of them
	Negatives int `yaml:"negatives" limit:"0..10000000"`
	// Others says which items that a user does not have are in the equations of users' vectors within a step: "all" of
	// the table, which "" means too; "drawn": the negatives of the step, which stand for all: it reads few rows.
	Others string `yaml:"others,omitempty" limit:"all|drawn?"`
	// Noise says when a row of V gets the noise that is due on all rows in every step: "dense", which "" means too: in
	// the step; "deferred": when the row is read, all that it missed in one draw of the same law. A step then costs
	// what it reads, and checkpoints of an unfinished run lack noise: guard them as you guard the data.
	Noise     string  `yaml:"noise,omitempty" limit:"dense|deferred?"`
	Optimizer string  `yaml:"optimizer" limit:"sgd|adam"` // sgd or adam
	Rate      float64 `yaml:"rate" limit:"[1e-9,1e6]"`
	Decay     float64 `yaml:"decay" limit:"[0,1)"` // share of V that a step takes off
	// rank by the mean of V over the later half of the steps, not by the last one
	Average bool `yaml:"average"`
}

// Values of TrainConfig.Optimizer.
const (
	SGD  = "sgd"
	Adam = "adam"
)

// Drawn is the value of TrainConfig.Others for drawn items, and Deferred that of TrainConfig.Noise for noise when rows
// are read.
const (
	Drawn    = "drawn"
	Deferred = "deferred"
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
	c.Privacy.Check(v)
	v.Check(!c.Privacy.Secure, release.SecureKey, "must be left out: run.secure=true makes noise and samples secure")
	v.Check(c.Train.Others != Drawn || c.Train.Negatives > 0, "train.others",
		"drawn needs train.negatives above 0: 0 draws all items")
	if c.Train.Noise == Deferred {
		v.Check(c.Train.Optimizer == SGD, "train.noise",
			"deferred needs train.optimizer=sgd: adam reads the noise of every row in every step")
		v.Check(!c.Train.Average, "train.noise",
			"deferred needs train.average=false: a mean over steps reads every row in every step")
		v.Check(c.Train.Others == Drawn, "train.noise",
			"deferred needs train.others=drawn: users' equations read every row in every step")
	}
	c.Eval.CheckAtOnce(v)
}

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error {
	return c.Data.Suit(doc, registry.Need{Draws: true})
}
