package dasl

import (
	"privrec/internal/config"
	"privrec/internal/model/dasl"
	"privrec/internal/protocol/crossdomain"
)

// Train sets the optimisation (sections 3.3 and 3.4 of DASL): every epoch takes all batches of the target domain,
// then all of the auxiliary one, then steps on the alignment of users.
type Train struct {
	Epochs int     `yaml:"epochs" limit:"1..100000"` // most epochs; early stopping may end before
	Batch  int     `yaml:"batch" limit:"1..1000000"`
	Rate   float64 `yaml:"rate" limit:"[1e-12,100]"`
	// AlignSteps is the number of alignment steps after each epoch. align_adam says whether they have moments of
	// their own ("own") or share those of all steps ("shared", under which a step on users mostly repeats the last
	// momentum).
	AlignSteps int    `yaml:"align_steps" limit:"0..100000"`
	AlignAdam  string `yaml:"align_adam" limit:"own|shared"`
	Shuffle    string `yaml:"shuffle" limit:"each|once"` // when batches are shuffled: each epoch, or once
	// AuxiliarySteps is the most steps of an epoch on the auxiliary rows, which are shuffled for each epoch. 0: all
	// rows, as published. Noisy rows have up to three times the cells of the real ones, and every step on them also
	// trains the users and the encoder of the target domain: without a bound a placebo trains longer.
	AuxiliarySteps int `yaml:"auxiliary_steps" limit:"0..100000000"`
	// Patience stops the run after so many epochs in a row without a better NDCG@10 on validation; 0: never.
	Patience int `yaml:"patience" limit:"0..100000"`
	// Select says which epoch's model is reported: "validation", the one with the best NDCG@10 there, or "last".
	Select string `yaml:"select" limit:"validation|last"`
	// Refit trains once more, from the beginning, on train and validation for as many
	// epochs as validation chose.
	Refit bool `yaml:"refit"`
}

// AdamOwn and the others are the values of the choices above.
const (
	AdamOwn          = "own"
	AdamShared       = "shared"
	ShuffleEach      = "each"
	ShuffleOnce      = "once"
	SelectValidation = "validation"
	SelectLast       = "last"
)

// Training returns the settings that the protocol applies to the epochs.
func (t Train) Training() crossdomain.Training {
	return crossdomain.Training{Epochs: t.Epochs, Rate: t.Rate, Patience: t.Patience,
		Select: t.Select == SelectValidation, Refit: t.Refit}
}

// Selected reports whether validation rows decide anything about the model.
func (t Train) Selected() bool { return t.Select == SelectValidation || t.Patience > 0 || t.Refit }

// Check reports settings that a training cannot run with. single says that the model has no auxiliary domain.
func (t Train) Check(v *config.Checker, single bool) {
	v.Check(!single || t.AlignSteps == 0, "train.align_steps", "must be 0 without an auxiliary domain, got %d",
		t.AlignSteps)
	v.Check(!single || t.AuxiliarySteps == 0, "train.auxiliary_steps", "must be 0 without an auxiliary domain, got %d",
		t.AuxiliarySteps)
	v.Check(t.AuxiliarySteps == 0 || t.Shuffle == ShuffleEach, "train.auxiliary_steps",
		"needs train.shuffle %s: it takes the first of every shuffled pass", ShuffleEach)
	v.Check(!t.Refit || t.Select == SelectValidation, "train.refit",
		"needs train.select %s: it trains for as many epochs as that chose", SelectValidation)
}

// CheckModel reports settings that a model of rows with this number of columns cannot have.
func CheckModel(v *config.Checker, m dasl.Config, columns int) {
	v.Check(m.Dim%2 == 0, "model.dim", "must be even, items and users share it, got %d", m.Dim)
	v.Check(columns > m.Window+1, "data.length",
		"must leave a column to be asked for behind the window of %d: at least %d, got %d", m.Window, m.Window+2,
		columns)
	if m.Attention != dasl.AttentionConstant {
		v.Check(m.GateValue == 0, "model.gate", "belongs to attention %s, must be 0 for %s", dasl.AttentionConstant,
			m.Attention)
	}
	if m.Head != dasl.HeadCode {
		v.Check(m.Hidden == 0, "model.hidden", "belongs to head %s, must be 0 for %s", dasl.HeadCode, m.Head)
	}
}
