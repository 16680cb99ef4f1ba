package rdpgcf

import (
	"privrec/internal/baseline"
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/model/bpr"
	"privrec/internal/protocol/topn"
)

// Config is one training run of RDP-GCF. Where the paper says nothing, or cannot mean what it
// says, each choice is a field of its own. A profile is a named set of values for them.
type Config struct {
	// name of the set of choices, for reports: paper, code, repaired, or your own
	Profile string           `yaml:"profile" limit:"filled"`
	Data    topn.DataConfig  `yaml:"data"`
	Model   ModelConfig      `yaml:"model"`
	Privacy Privacy          `yaml:"privacy"`
	Train   topn.TrainConfig `yaml:"train"`
	Release ReleaseConfig    `yaml:"release"`
	Eval    topn.EvalConfig  `yaml:"eval"`
}

// ModelConfig sets the shape of the network. Source: section 3.
type ModelConfig struct {
	Dim    int `yaml:"dim" limit:"1..4096"`  // d, width of the vectors of users and items
	Layers int `yaml:"layers" limit:"1..32"` // L, number of layers; each has the weight 1/(1+L), layer 0 included
	// how the propagation matrix is normalised: sym, sym-clamp:K, right-clamp:K or sum
	Norm string `yaml:"norm"`
	// NormaliseRows gives the rows of every layer length 1. Source: equation (9).
	NormaliseRows bool `yaml:"normalise_rows"`
	// Scale multiplies the scores in the loss. 1 is the literal reading: unit rows then bound
	// every score, and the model learns hardly anything. 10 mends that.
	Scale float64             `yaml:"scale" limit:"[1e-6,1e6]"`
	Init  baseline.InitConfig `yaml:"init"`
}

// ReleaseConfig sets which vectors are ranked and given out after training. The paper does not
// say.
type ReleaseConfig struct {
	// Kinds lists the releases; validation uses the first. "noisy" is one more noisy propagation. "avg" is the mean
	// of as many noisy ones as average says, each accounted for. "clean" has no noise and protects no edge.
	Kinds   []string `yaml:"kinds" limit:"some of noisy|avg|clean"`
	Average int      `yaml:"average"` // R, number of noisy propagations that release avg averages
}

// Values of the choices above.
const (
	ReleaseNoisy = "noisy"
	ReleaseAvg   = "avg"
	ReleaseClean = "clean"
)

// Default returns the paper's setting on Gowalla with its hyper-parameters. Where the paper leaves a choice open, it
// takes a shuffled pass, unseen negatives, one more noisy release and the literal scores. Source: section 4.1.
func Default() Config {
	return Config{
		Profile: "paper",
		Data:    topn.DefaultData(),
		Model: ModelConfig{Dim: 64, Layers: 3, Norm: "sym", NormaliseRows: true, Scale: 1,
			Init: baseline.InitConfig{Law: baseline.LawXavier}},
		Privacy: DefaultPrivacy(),
		Train:   topn.DefaultTrain(),
		Release: ReleaseConfig{Kinds: []string{ReleaseNoisy, ReleaseAvg, ReleaseClean}, Average: 16},
		Eval:    topn.DefaultEval(),
	}
}

// Code returns the setting that follows the published program of LightGCN wherever the paper says nothing. There is no
// published program of RDP-GCF.
func Code() Config {
	c := Default()
	c.Profile = "code"
	c.Model.Init = baseline.InitConfig{Law: baseline.LawNormal, Std: 0.1}
	c.Train.Sampler = bpr.UserUniform
	c.Eval.Sigmoid = true
	return c
}

// check reports every setting that cannot be run.
func (c Config) check(v *config.Checker) {
	c.Eval.Check(v)
	c.Train.Check(v)
	m := c.Model
	baseline.LightGCNShape{Dim: m.Dim, Layers: m.Layers, Norm: m.Norm, Init: m.Init}.Check(v)
	v.Between("release.average", c.Release.Average, 1, maxAverage)
	c.Privacy.check(v, c)
}

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error {
	return c.Data.Suit(doc, registry.Need{Valid: c.Train.Selected()})
}
