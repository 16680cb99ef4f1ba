package dpmf

import (
	"math"

	"privrec/internal/config"
	"privrec/internal/privacy"
	"privrec/internal/protocol/nextitem"
)

// Config is one run of a private factorisation.
type Config struct {
	Profile string        `yaml:"profile" limit:"filled"`
	Data    nextitem.Data `yaml:"data"`
	Model   ModelConfig   `yaml:"model"`
	Privacy PrivacyConfig `yaml:"privacy"`
	Train   TrainConfig   `yaml:"train"`
	Eval    EvalConfig    `yaml:"eval"`
}

// ModelConfig sets the shape of the factorisation.
type ModelConfig struct {
	Dim    int     `yaml:"dim" limit:"1..4096"`     // K, width of the vectors of users and items
	Lambda float64 `yaml:"lambda"`                  // penalty on the squares of both vectors, at every cell
	Std    float64 `yaml:"std" limit:"[1e-12,100]"` // standard deviation of the initial vectors, which are normal
}

// PrivacyConfig sets the noise.
type PrivacyConfig struct {
	Epsilon float64 `yaml:"epsilon" config:"inf"` // claimed pure epsilon for the value of one cell; .inf: no noise
	// Draws says when eta is drawn: "once", as objective perturbation needs, or anew in every
	// "epoch", as the authors' sibling program does.
	Draws string `yaml:"draws" limit:"once|epoch"`
	// Parent names the file of a budget from which all runs on the same data spend; "": none.
	Parent string `yaml:"parent,omitempty"`
}

// Values of PrivacyConfig.Draws.
const (
	DrawsOnce  = "once"
	DrawsEpoch = "epoch"
)

// TrainConfig sets the gradient steps.
type TrainConfig struct {
	Epochs int `yaml:"epochs" limit:"1..100000"`
	// Rate is the learning rate of the first quarter of the epochs. The second and third quarters take a fifth of it,
	// the last a 25th.
	Rate float64 `yaml:"rate" limit:"[1e-12,1]"`
}

// EvalConfig sets how items are ranked.
type EvalConfig struct {
	K []int `yaml:"k" limit:"some cutoff in 1..100000"`
}

// Default returns the setting of the authors' sibling program at DIPSGNN's budget.
func Default() Config {
	return Config{
		Profile: "paper", Data: nextitem.ML1M(), Model: ModelConfig{Dim: 10, Lambda: 0.01, Std: 0.1},
		Privacy: PrivacyConfig{Epsilon: 5, Draws: DrawsOnce}, Train: TrainConfig{Epochs: 100, Rate: 0.01},
		Eval: EvalConfig{K: []int{5, 10, 20}},
	}
}

// check reports every setting that cannot be run.
func check(v *config.Checker, c Config) {
	v.Check(c.Model.Lambda >= 0 && c.Model.Lambda < 10, "model.lambda", "must lie in [0,10), got %v", c.Model.Lambda)
	if !math.IsInf(c.Privacy.Epsilon, 1) {
		v.Within("privacy.epsilon", c.Privacy.Epsilon, 1e-3, 1e6)
	}
}

// draws returns the number of times that eta is drawn.
func (c Config) draws() int {
	if c.Privacy.Draws == DrawsEpoch {
		return c.Train.Epochs
	}
	return 1
}

// rate returns the learning rate of an epoch, counted from 0, as in the published program.
func (t TrainConfig) rate(epoch int) float64 {
	switch e, n := float64(epoch), float64(t.Epochs); {
	case e <= 0.25*n:
		return t.Rate
	case e <= 0.75*n:
		return t.Rate / 5
	}
	return t.Rate / 25
}

// Sensitivity returns the largest L1 change of an item's gradient when the value of one cell changes by at most
// distance. Users' vectors have dim columns and length at most 1.
func Sensitivity(distance float64, dim int) float64 { return 2 * distance * math.Sqrt(float64(dim)) }

// value is the difference between neighbours: the value of one cell that both have.
var value = privacy.Subject{Unit: privacy.Interaction, Neighbouring: privacy.Replace}

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }
