package dipsgnn

import (
	"math"
	"slices"

	"privrec/internal/config"
)

// Validate reports every setting that cannot be run, by line.
func Validate(c Config, doc *config.Document) error {
	v := config.NewChecker(doc)
	checkShared(v, c.shared())
	v.Between("model.user_dim", c.Model.UserDim, 1, maxDim)
	v.OneOf("model.user_input", c.Model.UserInput, UserFeatures, UserID)
	v.Within("model.norm", c.Model.Norm, 1e-6, 1e6)
	v.OneOf("model.normalise", c.Model.Normalise, NormaliseRescale, NormaliseClip)
	v.OneOf("model.adjacency", c.Model.Adjacency, AdjacencyCounts, AdjacencyZero)
	checkEpsilon(v, "privacy.features.epsilon", c.Privacy.Features.Epsilon)
	v.OneOf("privacy.features.unselected", c.Privacy.Features.Unselected, UnselectedZero, UnselectedRaw)
	t := c.Privacy.Transitions
	checkEpsilon(v, "privacy.transitions.epsilon", t.Epsilon)
	v.Inside("privacy.transitions.delta", t.Delta, 0, 1)
	v.OneOf("privacy.transitions.noise_std", t.NoiseStd, StdSigma, StdSigmaSquared)
	if v.OK() && !math.IsInf(t.Epsilon, 1) {
		_, std := c.deviations()
		v.Check(std > minStd && std < maxStd, "privacy.transitions.epsilon",
			"gives noise of standard deviation %v with model.norm and model.steps, which floating point does not hold", std)
	}
	v.Check(!slices.Contains(c.Eval.Noise, NoiseOn) || !math.IsInf(t.Epsilon, 1), "eval.noise",
		"%q needs a finite privacy.transitions.epsilon", NoiseOn)
	v.Words("eval.noise", c.Eval.Noise, NoiseOn, NoiseOff)
	return v.Err()
}

// checkShared checks what all models of the paper have.
func checkShared(v *config.Checker, c shared) {
	v.NotEmpty("profile", c.profile)
	v.NotEmpty("data.name", c.data.Name)
	v.OneOf("data.candidates", c.data.Candidates, CandidatesTrain, CandidatesTenCore)
	v.Between("model.dim", c.dim, 1, maxDim)
	v.Between("model.steps", c.steps, 1, 100)
	t := c.train
	v.Between("train.epochs", t.Epochs, 1, 100_000)
	v.Between("train.batch", t.Batch, 1, 1_000_000)
	v.Within("train.rate", t.Rate, 1e-12, 100)
	v.Above("train.decay_by", t.DecayBy, 0, 1)
	v.Between("train.decay_every", t.DecayEvery, 1, 100_000)
	v.Below("train.l2", t.L2, 0, 1)
	v.Between("train.patience", t.Patience, 0, 100_000)
	v.OneOf("train.select", t.Select, SelectValidation, SelectLast, SelectTest)
	v.Below("train.validation", t.Validation, 0, 1)
	v.Check(t.Select != SelectValidation || t.Validation > 0, "train.validation", "must be above 0 to select on validation")
	v.Check(!t.Refit || t.Select == SelectValidation, "train.refit", "needs train.select: %s", SelectValidation)
	v.Check(t.Select != SelectTest || c.every, "eval.every", "must be true to select on test")
	v.Check(t.Patience == 0 || t.Validation > 0 || c.every, "train.patience", "needs train.validation or eval.every to watch")
	v.OneOf("train.validation_split", t.ValidationSplit, SplitSample, SplitUser)
	v.Integers("eval.k", "cutoff", c.k, 1, 100_000)
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

// checkEpsilon accepts .inf, which switches a mechanism off.
func checkEpsilon(v *config.Checker, key string, x float64) {
	v.Check(x >= minEpsilon && (x <= maxEpsilon || math.IsInf(x, 1)), key, "must lie in [%g,%d] or be .inf, got %v", minEpsilon, maxEpsilon, x)
}
