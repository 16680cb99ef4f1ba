package pricdsr

import (
	"math"

	baseline "privrec/internal/baseline/dasl"
	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/model/dasl"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/protocol/crossdomain"
	"privrec/internal/train"
)

// check returns a function that reports every setting that cannot be run. kinds are the auxiliary rows that the task
// accepts.
func check(kinds ...string) func(v *config.Checker, c Config) {
	return func(v *config.Checker, c Config) {
		crossdomain.Check(v, c.Data, c.Eval)
		baseline.CheckModel(v, c.Model, c.Data.Length)
		a := c.Auxiliary
		v.OneOf("auxiliary.kind", a.Kind, kinds...)
		if a.released() || a.Kind == AuxiliaryUniform {
			v.OneOf("auxiliary.mechanism", a.Mechanism, mechanisms()...)
		} else {
			v.Check(a.Mechanism == "", "auxiliary.mechanism", "belongs to kinds %s, %s and %s, must be empty for %s",
				AuxiliaryPerturbed, AuxiliaryPlacebo, AuxiliaryUniform, a.Kind)
		}
		if a.released() {
			v.Check(a.Epsilon > 0, "auxiliary.epsilon", "must be above 0, got %v; %s is 0", a.Epsilon, AuxiliaryUniform)
		} else {
			v.Check(a.Epsilon == 0, "auxiliary.epsilon", "belongs to kinds %s and %s, must be 0 for %s",
				AuxiliaryPerturbed, AuxiliaryPlacebo, a.Kind)
		}
		user := a.Mechanism == string(sequence.SDPUser)
		v.Check(user || a.Columns == 0, "auxiliary.columns", "belongs to mechanism %s, must be 0 for %q",
			sequence.SDPUser, a.Mechanism)
		v.Between("auxiliary.columns", a.Columns, 0, max(0, c.Data.Length-2))
		v.Check(a.Items == 0 || a.Mechanism != "", "auxiliary.items",
			"belongs to a mechanism, must be 0 without one, got %d", a.Items)
		c.Train.Check(v, c.Single())
	}
}

// mechanisms returns the names of the mechanisms on auxiliary rows.
func mechanisms() (names []string) {
	for _, v := range sequence.Variants() {
		names = append(names, string(v))
	}
	return names
}

// free lists keys in which a setting may differ from its profile and still be compared with the tables: the swept ones,
// the data, and the length of training.
var free = []string{"data.", "auxiliary.epsilon", "eval.every", "eval.full", "train.epochs", "train.patience"}

// standing compares a setting with the profile that it names.
func (c Config) standing() (experiment.Standing, error) {
	named := map[string]Config{}
	if base, ok := c.base(); ok {
		named[c.Profile] = base
	}
	return experiment.Stand(c, c.Profile, named, func(c Config) train.Length {
		return train.Length{Epochs: c.Train.Epochs, Patience: c.Train.Patience}
	}, free...)
}

// base returns the profile that a setting names, with the same auxiliary rows; false for none.
func (c Config) base() (base Config, ok bool) {
	switch c.Auxiliary.Kind {
	case AuxiliaryNone:
		base = DefaultSingle()
	case AuxiliaryReal:
		base = DefaultDASL()
	default:
		base = Default()
	}
	switch c.Profile {
	case "paper":
		return base, true
	case "code":
		return code(base), true
	}
	return Config{}, false
}

// cautions returns notes on effects of a setting that its reader may not expect.
func (c Config) cautions(items int) (notes []string) {
	if c.Model.Attention == dasl.AttentionGate && c.Model.Head == dasl.HeadInner && !c.Single() {
		notes = append(notes, "attention gate with head inner: the other history scales a user's scores by one "+
			"number, so that beside item biases it cannot change a ranking")
	}
	if c.Model.Attention == dasl.AttentionConstant && !c.Single() {
		notes = append(notes, "attention constant: the other history is not read; what differs from DASL-single is "+
			"the steps on the auxiliary domain and the alignment")
	}
	if c.Auxiliary.released() && !math.IsInf(c.Auxiliary.Epsilon, 1) {
		for _, w := range []string{expectation(c.sequence(items)), Warning(c.sequence(items))} {
			if w != "" {
				notes = append(notes, w)
			}
		}
	}
	return notes
}
