package forgetting

import (
	"fmt"
	"slices"

	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/protocol/target"
)

// Config describes one comparison of ways to forget users.
type Config struct {
	Profile   string          `yaml:"profile" limit:"filled"` // name of the set of choices: default or your own
	Data      DataConfig      `yaml:"data"`
	Model     ModelConfig     `yaml:"model"`
	Train     TrainConfig     `yaml:"train"`
	Forget    ForgetConfig    `yaml:"forget"`
	Ascent    AscentConfig    `yaml:"ascent"`
	Influence InfluenceConfig `yaml:"influence"`
	Shards    ShardsConfig    `yaml:"shards"`
	Attack    AttackConfig    `yaml:"attack"`
	Eval      EvalConfig      `yaml:"eval"`
}

// DataConfig names the data set and how it is cut.
type DataConfig struct {
	Name   string `yaml:"name" limit:"filled"`   // a registered data set, see `privrec list`
	Recipe string `yaml:"recipe" limit:"filled"` // recipe of filters and split, with validation rows
}

// ModelConfig names the model that learns and forgets, and its shape.
type ModelConfig struct {
	Name   string `yaml:"name" limit:"bprmf|lightgcn|ngcf"` // ngcf has no dropout here
	Dim    int    `yaml:"dim" limit:"1..4096"`
	Layers int    `yaml:"layers" limit:"0..32"` // 0 for bprmf
}

// TrainConfig sets how every model is trained: by Adam, on BPR triples of a shuffled pass, to the last epoch.
type TrainConfig struct {
	Epochs int     `yaml:"epochs" limit:"1..100000"`
	Batch  int     `yaml:"batch" limit:"1..10000000"`
	Rate   float64 `yaml:"rate" limit:"[1e-12,100]"`
	L2     float64 `yaml:"l2" limit:"[0,1e6)"` // lambda, the weight of half the squares of the batch's rows
}

// ForgetConfig says who is forgotten and by which ways.
type ForgetConfig struct {
	Share float64 `yaml:"share" limit:"(0,0.4]"` // share of the users who are forgotten; as many are strangers
	// ways beside training from the start: ascent, influence, shards
	Ways []string `yaml:"ways" limit:"any of ascent|influence|shards"`
	// Keep chooses among the strengths of ascent and influence: the strongest that keeps this share of the validation
	// Recall@20 of the remaining users. The forgotten choose nothing.
	Keep float64 `yaml:"keep" limit:"(0,1]"`
}

// Values of ForgetConfig.Ways.
const (
	Ascent    = "ascent"
	Influence = "influence"
	Shards    = "shards"
)

// AscentConfig sets the gradient ascent.
type AscentConfig struct {
	// Epochs lists strengths, the gentlest first: passes over the forgotten rows that climb their loss.
	Epochs []int   `yaml:"epochs"`
	Rate   float64 `yaml:"rate" limit:"[1e-12,100]"` // learning rate of the ascent, by Adam
	Repair int     `yaml:"repair" limit:"0..1000"`   // epochs of training on the remaining rows afterwards
}

// InfluenceConfig sets the Newton step.
type InfluenceConfig struct {
	// Damping lists strengths, the gentlest first: the number added to every curvature of the summed loss. A step is
	// the longer the smaller it is.
	Damping []float64 `yaml:"damping"`
	Steps   int       `yaml:"steps" limit:"1..10000"` // most conjugate gradients of a step
}

// ShardsConfig sets the shards.
type ShardsConfig struct {
	Number int `yaml:"number" limit:"2..1000"` // number of parts of the users, with a model each
}

// AttackConfig sets the attack on membership.
type AttackConfig struct {
	// References is the number of models that the attacker trains on the remaining users, to tell what a history shows
	// of a model that never had it.
	References int `yaml:"references" limit:"1..100"`
	// weight of all items against a user's own when a vector is fitted
	Unobserved float64 `yaml:"unobserved" limit:"[1e-6,1]"`
	Ridge      float64 `yaml:"ridge" limit:"[1e-6,1000]"` // weight of the square of the vector's length
}

// EvalConfig sets what is measured beside the attack.
type EvalConfig struct {
	target.Intervals `yaml:",inline"`
	Users            int `yaml:"users" limit:"0..10000000"` // most users whose scores are compared; 0: all
}

// Default returns a comparison on MovieLens 100K.
func Default() Config {
	return Config{
		Profile:   "default",
		Data:      DataConfig{Name: "ml-100k", Recipe: "gerai-valid"},
		Model:     ModelConfig{Name: "bprmf", Dim: 64},
		Train:     TrainConfig{Epochs: 60, Batch: 1024, Rate: 0.005, L2: 0.01},
		Forget:    ForgetConfig{Share: 0.05, Ways: []string{Ascent, Influence, Shards}, Keep: 0.95},
		Ascent:    AscentConfig{Epochs: []int{1, 2, 4, 8, 16}, Rate: 0.005, Repair: 1},
		Influence: InfluenceConfig{Damping: []float64{10, 3, 1, 0.3, 0.1}, Steps: 10},
		Shards:    ShardsConfig{Number: 5},
		Attack:    AttackConfig{References: 2, Unobserved: 0.1, Ridge: 0.1},
		Eval:      EvalConfig{Intervals: target.DefaultIntervals(), Users: 500},
	}
}

// Check reports settings that cannot be run.
func Check(v *config.Checker, c Config) {
	v.Check((c.Model.Name == "bprmf") == (c.Model.Layers == 0), "model.layers",
		"must be 0 for bprmf and at least 1 for a network, got %d for %s", c.Model.Layers, c.Model.Name)
	if slices.Contains(c.Forget.Ways, Ascent) {
		v.Check(len(c.Ascent.Epochs) > 0, "ascent.epochs", "must name at least one strength")
	}
	for k, n := range c.Ascent.Epochs {
		v.Check(n >= 1 && n <= 100000, fmt.Sprintf("ascent.epochs[%d]", k), "must be between 1 and 100000, got %d", n)
		v.Check(k == 0 || n > c.Ascent.Epochs[k-1], "ascent.epochs", "must rise, the gentlest first")
	}
	if slices.Contains(c.Forget.Ways, Influence) {
		v.Check(len(c.Influence.Damping) > 0, "influence.damping", "must name at least one strength")
	}
	for k, x := range c.Influence.Damping {
		v.Within(fmt.Sprintf("influence.damping[%d]", k), x, 1e-6, 1e9)
		v.Check(k == 0 || x < c.Influence.Damping[k-1], "influence.damping", "must fall, the gentlest first")
	}
}

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) (err error) {
	c.Data.Recipe, err = registry.Suit(doc, c.Data.Name, c.Data.Recipe, registry.Need{Cut: registry.Pairs, Valid: true})
	return err
}
