package dipsgnn

import (
	"math"
	"slices"

	"privrec/internal/config"
)

// Validate reports every setting that cannot be run, by line.
func Validate(c Config, doc *config.Document) error {
	v := &validator{doc: doc}
	v.shared(c.shared())
	v.between("model.user_dim", c.Model.UserDim, 1, maxDim)
	v.oneOf("model.user_input", c.Model.UserInput, UserFeatures, UserID)
	v.within("model.norm", c.Model.Norm, 1e-6, 1e6)
	v.oneOf("model.normalise", c.Model.Normalise, NormaliseRescale, NormaliseClip)
	v.oneOf("model.adjacency", c.Model.Adjacency, AdjacencyCounts, AdjacencyZero)
	v.epsilon("privacy.features.epsilon", c.Privacy.Features.Epsilon)
	v.oneOf("privacy.features.unselected", c.Privacy.Features.Unselected, UnselectedZero, UnselectedRaw)
	t := c.Privacy.Transitions
	v.epsilon("privacy.transitions.epsilon", t.Epsilon)
	v.check(t.Delta > 0 && t.Delta < 1, "privacy.transitions.delta", "must lie in (0,1), got %v", t.Delta)
	v.oneOf("privacy.transitions.noise_std", t.NoiseStd, StdSigma, StdSigmaSquared)
	if len(v.errs) == 0 && !math.IsInf(t.Epsilon, 1) {
		_, std := c.deviations()
		v.check(std > minStd && std < maxStd, "privacy.transitions.epsilon",
			"gives noise of standard deviation %v with model.norm and model.steps, which floating point does not hold", std)
	}
	v.check(!slices.Contains(c.Eval.Noise, NoiseOn) || !math.IsInf(t.Epsilon, 1), "eval.noise",
		"%q needs a finite privacy.transitions.epsilon", NoiseOn)
	v.check(len(c.Eval.Noise) > 0, "eval.noise", "must name at least one evaluation")
	for i, n := range c.Eval.Noise {
		v.oneOf("eval.noise", n, NoiseOn, NoiseOff)
		v.check(!slices.Contains(c.Eval.Noise[:i], n), "eval.noise", "names %q twice", n)
	}
	return v.err()
}

type validator struct {
	doc  *config.Document
	errs config.Errors
}

func (v *validator) shared(c shared) {
	v.check(c.profile != "", "profile", "must not be empty")
	v.check(c.data.Name != "", "data.name", "must not be empty")
	v.oneOf("data.candidates", c.data.Candidates, CandidatesTrain, CandidatesTenCore)
	v.between("model.dim", c.dim, 1, maxDim)
	v.between("model.steps", c.steps, 1, 100)
	t := c.train
	v.between("train.epochs", t.Epochs, 1, 100_000)
	v.between("train.batch", t.Batch, 1, 1_000_000)
	v.within("train.rate", t.Rate, 1e-12, 100)
	v.check(t.DecayBy > 0 && t.DecayBy <= 1, "train.decay_by", "must lie in (0,1], got %v", t.DecayBy)
	v.between("train.decay_every", t.DecayEvery, 1, 100_000)
	v.check(t.L2 >= 0 && t.L2 < 1, "train.l2", "must lie in [0,1), got %v", t.L2)
	v.between("train.patience", t.Patience, 0, 100_000)
	v.oneOf("train.select", t.Select, SelectValidation, SelectLast, SelectTest)
	v.check(t.Validation >= 0 && t.Validation < 1, "train.validation", "must lie in [0,1), got %v", t.Validation)
	v.check(t.Select != SelectValidation || t.Validation > 0, "train.validation", "must be above 0 to select on validation")
	v.check(!t.Refit || t.Select == SelectValidation, "train.refit", "needs train.select: %s", SelectValidation)
	v.check(t.Select != SelectTest || c.every, "eval.every", "must be true to select on test")
	v.check(t.Patience == 0 || t.Validation > 0 || c.every, "train.patience", "needs train.validation or eval.every to watch")
	v.oneOf("train.validation_split", t.ValidationSplit, SplitSample, SplitUser)
	v.check(len(c.k) > 0, "eval.k", "must name at least one cutoff")
	for i, k := range c.k {
		v.between("eval.k", k, 1, 100_000)
		v.check(!slices.Contains(c.k[:i], k), "eval.k", "names %d twice", k)
	}
}

// Noise outside these is lost in, or swamps, everything that float32 holds.
const (
	minStd = 1e-20
	maxStd = 1e20
)

// These are beyond anything sensible: what lies outside is a slip.
const (
	maxDim     = 4096
	minEpsilon = 1e-6
	maxEpsilon = 1000
)

func (v *validator) check(ok bool, path, format string, args ...any) {
	if !ok {
		v.errs = append(v.errs, v.doc.Errorf(path, format, args...))
	}
}

func (v *validator) between(path string, x, lo, hi int) {
	v.check(x >= lo && x <= hi, path, "must lie in %d..%d, got %d", lo, hi, x)
}

func (v *validator) within(path string, x, lo, hi float64) {
	v.check(x >= lo && x <= hi, path, "must lie in [%g,%g], got %v", lo, hi, x)
}

// epsilon accepts .inf, which switches a mechanism off.
func (v *validator) epsilon(path string, x float64) {
	v.check(x >= minEpsilon && (x <= maxEpsilon || math.IsInf(x, 1)), path, "must lie in [%g,%d] or be .inf, got %v", minEpsilon, maxEpsilon, x)
}

func (v *validator) oneOf(path, x string, allowed ...string) {
	if e := v.doc.OneOf(path, x, allowed...); e != nil {
		v.errs = append(v.errs, e)
	}
}

func (v *validator) err() error {
	if len(v.errs) == 0 {
		return nil
	}
	return v.errs
}
