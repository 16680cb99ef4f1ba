package dipsgnn

import (
	"math"
	"slices"

	"privrec/internal/config"
	"privrec/internal/protocol/nextitem"
)

// check reports every setting that cannot be run.
func check(v *config.Checker, c Config) {
	c.Data.Check(v, c.Profile)
	nextitem.CheckShape(v, c.Model.Dim, c.Model.Steps)
	c.Train.Check(v, nextitem.Ranking{K: c.Eval.K, Every: c.Eval.Every})
	nextitem.CheckUsers(v, c.Model.UserDim, c.Model.UserInput)
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
	v.Check(!slices.Contains(c.Eval.Noise, nextitem.NoiseOn) || !math.IsInf(t.Epsilon, 1), "eval.noise",
		"%q needs a finite privacy.transitions.epsilon", nextitem.NoiseOn)
	v.Words("eval.noise", c.Eval.Noise, nextitem.NoiseOn, nextitem.NoiseOff)
}

// Noise outside these is lost in, or swamps, everything that float32 holds.
const (
	minStd = 1e-20
	maxStd = 1e20
)

// These are beyond anything sensible: what lies outside is a slip.
const (
	minEpsilon = 1e-6
	maxEpsilon = 1000
)

// checkEpsilon accepts .inf, which switches a mechanism off.
func checkEpsilon(v *config.Checker, key string, x float64) {
	v.Check(x >= minEpsilon && (x <= maxEpsilon || math.IsInf(x, 1)), key, "must lie in [%g,%d] or be .inf, got %v", minEpsilon, maxEpsilon, x)
}
