package pricdsr

import (
	"privrec/internal/model/dasl"
)

// Config is one training run of a model of two domains. Where the paper and its program
// differ, each choice is a field of its own; a profile is a named set of values.
type Config struct {
	Profile   string          `yaml:"profile"` // name of the set of choices, for reports: paper, code or your own
	Data      DataConfig      `yaml:"data"`
	Model     dasl.Config     `yaml:"model"`
	Auxiliary AuxiliaryConfig `yaml:"auxiliary"`
	Train     TrainConfig     `yaml:"train"`
	Eval      EvalConfig      `yaml:"eval"`
}

// DataConfig names the data set and the ordered pair of domains.
type DataConfig struct {
	Name      string `yaml:"name"`      // a cross-domain set
	Target    string `yaml:"target"`    // the domain that is evaluated
	Auxiliary string `yaml:"auxiliary"` // the domain that helps
	Length    int    `yaml:"length"`    // L, columns of the data matrix; one of them is cut before training
}

// AuxiliaryConfig is what the model gets as rows of the auxiliary domain.
type AuxiliaryConfig struct {
	// Kind is "real", the rows as they are, "perturbed", released by a mechanism,
	// "uniform", noise that does not depend on them (a placebo: epsilon 0), "permuted",
	// the rows of other users, "permuted-perturbed", those released (the placebo of
	// perturbed: as much noise, nothing of the user), or "none": DASL-single.
	Kind      string  `yaml:"kind"`
	Mechanism string  `yaml:"mechanism"` // of the perturbed kinds and uniform: sdp-fixed, sdp-paper or rr
	Epsilon   float64 `yaml:"epsilon"`   // of the perturbed kinds, one draw; .inf releases the rows as they are
}

// TrainConfig is the optimisation (sections 3.3 and 3.4): in every epoch all batches of
// the target domain, then all of the auxiliary one, then steps on the alignment of users.
type TrainConfig struct {
	Epochs int     `yaml:"epochs"` // the cap: early stopping may end before
	Batch  int     `yaml:"batch"`
	Rate   float64 `yaml:"rate"`
	// AlignSteps is how many steps on the alignment follow an epoch, and AlignAdam
	// whether they have moments of their own ("own") or those of all steps ("shared",
	// under which a step on users mostly repeats the last momentum): M6.
	AlignSteps int    `yaml:"align_steps"`
	AlignAdam  string `yaml:"align_adam"`
	Shuffle    string `yaml:"shuffle"` // each epoch, or once
	// AuxiliarySteps is at most how many steps of an epoch go to the auxiliary rows, of a
	// pass shuffled for the epoch; 0: a whole pass, as published. Rows full of noise have
	// up to three times the cells of those they stand for, and every step on them trains
	// the users' and the target's encoder too: without a bound a placebo trains longer.
	AuxiliarySteps int `yaml:"auxiliary_steps"`
	// Patience ends the run after so many epochs in a row without a better NDCG@10 on
	// validation; 0: never.
	Patience int `yaml:"patience"`
	// Select is the model that is reported (M11): "validation", the epoch with the best
	// NDCG@10 there, or "last".
	Select string `yaml:"select"`
	// Refit trains once more, from the beginning, on train and validation for as many
	// epochs as validation chose.
	Refit bool `yaml:"refit"`
}

// EvalConfig is the ranking of the held-out rows.
type EvalConfig struct {
	K             []int  `yaml:"k"`
	Negatives     int    `yaml:"negatives"`      // items that a row is ranked among, drawn by popularity
	NegativesSeed uint64 `yaml:"negatives_seed"` // of their draw, the same for every model and every seed of a run
	Full          bool   `yaml:"full"`           // rank test rows among all items too
	// Every ranks the test rows after every epoch too. It chooses nothing: the best of
	// them, which the released program prints, is reported by itself.
	Every bool `yaml:"every"`
}

// Values of the choices above.
const (
	AuxiliaryReal      = "real"
	AuxiliaryPerturbed = "perturbed"
	AuxiliaryUniform   = "uniform"
	AuxiliaryPermuted  = "permuted"
	AuxiliaryPlacebo   = "permuted-perturbed"
	AuxiliaryNone      = "none"

	adamOwn          = "own"
	adamShared       = "shared"
	shuffleEach      = "each"
	shuffleOnce      = "once"
	selectValidation = "validation"
	selectLast       = "last"
)

// Default is PriCDSR-DASL at the paper's setting on toys and games, whose rows are
// shorter than those of the paper's domains: 51 columns where it has 101.
func Default() Config {
	c := DefaultDASL()
	c.Auxiliary = AuxiliaryConfig{Kind: AuxiliaryPerturbed, Mechanism: "sdp-fixed", Epsilon: 10}
	return c
}

// DefaultDASL is the base model on rows as they are.
func DefaultDASL() Config {
	return Config{
		Profile: "paper", Data: DataConfig{Name: "cd-amazon-toy-game", Target: "toys", Auxiliary: "games", Length: 51},
		Model: dasl.Paper(), Auxiliary: AuxiliaryConfig{Kind: AuxiliaryReal},
		Train: TrainConfig{Epochs: 1000, Batch: 128, Rate: 1e-3, AlignSteps: 1, AlignAdam: adamOwn, Shuffle: shuffleEach,
			Patience: 50, Select: selectValidation, Refit: true},
		Eval: EvalConfig{K: []int{5, 10}, Negatives: 100, NegativesSeed: 1, Full: true},
	}
}

// DefaultSingle is the base model without an auxiliary domain.
func DefaultSingle() Config {
	c := DefaultDASL()
	c.Auxiliary.Kind = AuxiliaryNone
	c.Train.AlignSteps = 0
	return c
}

// code turns a setting into that of the released program.
func code(c Config) Config {
	c.Profile, c.Model = "code", dasl.Code()
	c.Train.AlignAdam, c.Train.Shuffle = adamShared, shuffleOnce
	c.Eval.Every = true
	if c.Auxiliary.Mechanism != "" {
		c.Auxiliary.Mechanism = "sdp-paper"
	}
	return c
}

// released says that a mechanism perturbs the auxiliary rows at an epsilon.
func (a AuxiliaryConfig) released() bool {
	return a.Kind == AuxiliaryPerturbed || a.Kind == AuxiliaryPlacebo
}

// Single says that the auxiliary domain has no part in the model.
func (c Config) Single() bool { return c.Auxiliary.Kind == AuxiliaryNone }

// Method is what the tables call a setting.
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
