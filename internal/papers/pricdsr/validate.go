package pricdsr

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/config"
	"privrec/internal/model/dasl"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/train"
)

// validate reports every setting that cannot be run, by line; kinds are the auxiliary
// rows that the task takes.
func validate(kinds ...string) func(c Config, doc *config.Document) error {
	return func(c Config, doc *config.Document) error {
		v := config.NewChecker(doc)
		v.NotEmpty("profile", c.Profile)
		v.Check(c.Data.Name != "" && c.Data.Target != "" && c.Data.Auxiliary != "", "data", "needs name, target and auxiliary")
		m := c.Model
		v.Between("model.dim", m.Dim, 2, 4096)
		v.Check(m.Dim%2 == 0, "model.dim", "must be even, items and users share it, got %d", m.Dim)
		v.Between("model.window", m.Window, 1, 1000)
		v.Between("data.length", c.Data.Length, 3, 10_000)
		v.Check(c.Data.Length > m.Window+1, "data.length", "must leave a column to be asked for behind the window of %d: at least %d, got %d", m.Window, m.Window+2, c.Data.Length)
		v.OneOf("model.attention", m.Attention, dasl.AttentionFull, dasl.AttentionGate, dasl.AttentionConstant)
		if m.Attention == dasl.AttentionConstant {
			v.Within("model.gate", m.GateValue, 1e-6, 1)
		} else {
			v.Check(m.GateValue == 0, "model.gate", "belongs to attention %s, must be 0 for %s", dasl.AttentionConstant, m.Attention)
		}
		v.OneOf("model.head", m.Head, dasl.HeadInner, dasl.HeadCode)
		if m.Head == dasl.HeadCode {
			v.Between("model.hidden", m.Hidden, 1, 4096)
		} else {
			v.Check(m.Hidden == 0, "model.hidden", "belongs to head %s, must be 0 for %s", dasl.HeadCode, m.Head)
		}
		v.OneOf("model.cross_user", m.CrossUser, dasl.CrossUserOwn, dasl.CrossUserOther)
		v.Below("model.dropout", m.Dropout, 0, 1)
		v.OneOf("model.mask", m.Mask, dasl.MaskNone, dasl.MaskZeros)
		v.OneOf("model.align.distance", m.Align.Distance, dasl.DistanceCosine, dasl.DistanceDot)
		v.Below("model.align.orthogonal", m.Align.Orthogonal, 0, 1e6)

		a := c.Auxiliary
		v.OneOf("auxiliary.kind", a.Kind, kinds...)
		if a.released() || a.Kind == AuxiliaryUniform {
			v.OneOf("auxiliary.mechanism", a.Mechanism, string(mechanism.SDPFixed), string(mechanism.SDPPaper), string(mechanism.RR))
		} else {
			v.Check(a.Mechanism == "", "auxiliary.mechanism", "belongs to kinds %s, %s and %s, must be empty for %s", AuxiliaryPerturbed, AuxiliaryPlacebo, AuxiliaryUniform, a.Kind)
		}
		if a.released() {
			v.Check(a.Epsilon > 0, "auxiliary.epsilon", "must be above 0, got %v; %s is 0", a.Epsilon, AuxiliaryUniform)
		} else {
			v.Check(a.Epsilon == 0, "auxiliary.epsilon", "belongs to kinds %s and %s, must be 0 for %s", AuxiliaryPerturbed, AuxiliaryPlacebo, a.Kind)
		}

		t := c.Train
		v.Between("train.epochs", t.Epochs, 1, 100_000)
		v.Between("train.batch", t.Batch, 1, 1_000_000)
		v.Within("train.rate", t.Rate, 1e-12, 100)
		v.Between("train.align_steps", t.AlignSteps, 0, 100_000)
		v.Check(!c.Single() || t.AlignSteps == 0, "train.align_steps", "must be 0 without an auxiliary domain, got %d", t.AlignSteps)
		v.Between("train.auxiliary_steps", t.AuxiliarySteps, 0, 100_000_000)
		v.Check(!c.Single() || t.AuxiliarySteps == 0, "train.auxiliary_steps", "must be 0 without an auxiliary domain, got %d", t.AuxiliarySteps)
		v.Check(t.AuxiliarySteps == 0 || t.Shuffle == shuffleEach, "train.auxiliary_steps", "needs train.shuffle %s: it takes the first of every shuffled pass", shuffleEach)
		v.OneOf("train.align_adam", t.AlignAdam, adamOwn, adamShared)
		v.OneOf("train.shuffle", t.Shuffle, shuffleEach, shuffleOnce)
		v.Between("train.patience", t.Patience, 0, 100_000)
		v.OneOf("train.select", t.Select, selectValidation, selectLast)
		v.Check(!t.Refit || t.Select == selectValidation, "train.refit", "needs train.select %s: it trains for as many epochs as that chose", selectValidation)

		v.Between("eval.negatives", c.Eval.Negatives, 1, 1_000_000)
		v.Integers("eval.k", "cutoff", c.Eval.K, 1, max(1, c.Eval.Negatives))
		return v.Err()
	}
}

// free are keys in which a setting may differ from its profile and still be compared
// with the tables: what they sweep, which data, and how long training lasts.
var free = []string{"data.", "auxiliary.epsilon", "eval.every", "eval.full", "train.epochs", "train.patience"}

// standing says how a setting relates to the profile that it names, and whether nothing
// differs that would make the paper's numbers those of another method.
func (c Config) standing() (text string, printed bool, err error) {
	base, ok := c.base()
	if !ok {
		return fmt.Sprintf("own setting %q", c.Profile), false, nil
	}
	changed, err := config.Diff(base, c)
	if err != nil {
		return "", false, err
	}
	text, printed = "profile "+c.Profile, true
	if len(changed) > 0 {
		text += ", changed: " + strings.Join(changed, ", ")
	}
	for _, key := range changed {
		printed = printed && slices.ContainsFunc(free, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	}
	return text, printed, nil
}

// base is the profile that a setting names, with the same auxiliary rows; false for none.
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

// short says that a training was shorter than that of the profile which its setting names.
func (c Config) short(ran int, stopped bool) string {
	base, _ := c.base()
	return base.Train.length().Short(c.Train.length(), ran, stopped)
}

// length is how long a training lasts.
func (c TrainConfig) length() train.Length {
	return train.Length{Epochs: c.Epochs, Patience: c.Patience}
}

// cautions are what a setting does that its reader may not expect.
func (c Config) cautions(items int) (notes []string) {
	if c.Model.Attention == dasl.AttentionGate && c.Model.Head == dasl.HeadInner && !c.Single() {
		notes = append(notes, "attention gate with head inner: the other history scales a user's scores by one number, so that beside item biases it cannot change a ranking (M3)")
	}
	if c.Model.Attention == dasl.AttentionConstant && !c.Single() {
		notes = append(notes, "attention constant: the other history is not read; what differs from DASL-single is the steps on the auxiliary domain and the alignment")
	}
	if c.Auxiliary.released() && !math.IsInf(c.Auxiliary.Epsilon, 1) {
		if w := Warning(c.sequence(items)); w != "" {
			notes = append(notes, w)
		}
	}
	return notes
}
