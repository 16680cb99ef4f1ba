package pricdsr

import (
	baseline "privrec/internal/baseline/dasl"
	"privrec/internal/config"
	"privrec/internal/model/dasl"
	"privrec/internal/protocol/crossdomain"
	"privrec/internal/run"
)

// Config describes one training run of a model of two domains. Where the paper and its program
// differ, each choice is a field of its own; a profile is a named set of values.
type Config struct {
	// name of the set of choices, for reports: paper, code or your own
	Profile   string           `yaml:"profile" limit:"filled"`
	Data      crossdomain.Data `yaml:"data"`
	Model     dasl.Config      `yaml:"model"`
	Auxiliary AuxiliaryConfig  `yaml:"auxiliary"`
	Train     baseline.Train   `yaml:"train"`
	Eval      crossdomain.Eval `yaml:"eval"`
	Privacy   run.FromBudget   `yaml:"privacy,omitempty"`
}

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }

// AuxiliaryConfig sets the rows of the auxiliary domain that the model trains on.
type AuxiliaryConfig struct {
	// "real": the true rows. "perturbed": released by a mechanism. "uniform": noise that does not depend on them (a
	// placebo: epsilon 0). "permuted": those of other users. "permuted-perturbed": those of other users, released
	// (the placebo of perturbed: as much noise, nothing of the user). "none": no rows, which is DASL-single
	Kind string `yaml:"kind"`
	// mechanism of the perturbed kinds and of uniform: sdp-fixed, sdp-lengths, sdp-user, set, sdp-paper or rr
	Mechanism string `yaml:"mechanism"`
	// Epsilon is that of one draw; for sdp-user of a user's row, for set of an interaction. .inf: rows are released
	// as they are.
	Epsilon float64 `yaml:"epsilon"`
	// Columns is the number of a user's last items that sdp-user releases; the others are left out. 0: data.length,
	// which is all.
	Columns int `yaml:"columns,omitempty"`
	// Items is the size of a public catalogue, with ids from 1, stated before the data are seen. 0: the items in the
	// data.
	Items int `yaml:"items,omitempty" limit:"0..268435456"`
}

// Values of the choices above.
const (
	AuxiliaryReal      = "real"
	AuxiliaryPerturbed = "perturbed"
	AuxiliaryUniform   = "uniform"
	AuxiliaryPermuted  = "permuted"
	AuxiliaryPlacebo   = "permuted-perturbed"
	AuxiliaryNone      = "none"
)

// Default returns PriCDSR-DASL at the paper's setting on toys and games, whose rows are shorter than those of the
// paper's domains: 51 columns instead of 101.
func Default() Config {
	c := DefaultDASL()
	c.Auxiliary = AuxiliaryConfig{Kind: AuxiliaryPerturbed, Mechanism: "sdp-fixed", Epsilon: 10}
	return c
}

// DefaultDASL returns the base model on unperturbed rows.
func DefaultDASL() Config {
	return Config{
		Profile: "paper", Data: crossdomain.Data{Name: "cd-amazon-toy-game", Target: "toys", Auxiliary: "games",
			Length: 51},
		Model: dasl.Paper(), Auxiliary: AuxiliaryConfig{Kind: AuxiliaryReal},
		Train: baseline.Train{Epochs: 1000, Batch: 128, Rate: 1e-3, AlignSteps: 1, AlignAdam: baseline.AdamOwn,
			Shuffle:  baseline.ShuffleEach,
			Patience: 50, Select: baseline.SelectValidation, Refit: true},
		Eval: crossdomain.Eval{K: []int{5, 10}, Negatives: 100, NegativesSeed: 1, Full: true},
	}
}

// DefaultSingle returns the base model without an auxiliary domain.
func DefaultSingle() Config {
	c := DefaultDASL()
	c.Auxiliary.Kind = AuxiliaryNone
	c.Train.AlignSteps = 0
	return c
}

// code returns a setting changed to that of the released program.
func code(c Config) Config {
	c.Profile, c.Model = "code", dasl.Code()
	c.Train.AlignAdam, c.Train.Shuffle = baseline.AdamShared, baseline.ShuffleOnce
	c.Eval.Every = true
	if c.Auxiliary.Mechanism != "" {
		c.Auxiliary.Mechanism = "sdp-paper"
	}
	return c
}

// released reports whether a mechanism perturbs the auxiliary rows at an epsilon.
func (a AuxiliaryConfig) released() bool {
	return a.Kind == AuxiliaryPerturbed || a.Kind == AuxiliaryPlacebo
}

// Single reports whether the model leaves out the auxiliary domain.
func (c Config) Single() bool { return c.Auxiliary.Kind == AuxiliaryNone }

// Method returns the name of a setting in tables.
func (c Config) Method() string {
	switch c.Auxiliary.Kind {
	case AuxiliaryNone:
		return "DASL-single"
	case AuxiliaryPerturbed:
		return "PriCDSR-DASL"
	case AuxiliaryUniform:
		return "DASL, uniform noise"
	case AuxiliaryPermuted:
		return "DASL, permuted users"
	case AuxiliaryPlacebo:
		return "PriCDSR-DASL, permuted users"
	}
	return "DASL"
}

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error { return c.Data.Suit(doc) }
