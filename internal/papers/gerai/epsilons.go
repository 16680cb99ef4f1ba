package gerai

import (
	"fmt"
	"math"

	"privrec/internal/epsilons"
	"privrec/internal/experiment"
	"privrec/internal/papers/gerai/features"
)

// EpsilonRows returns the settings of this paper for privrec account epsilon.
func EpsilonRows() epsilons.Paper { return epsilons.Of[EpsilonReading]("gerai") }

// EpsilonReading holds one reading of a setting: the features of a user, or the noise on the loss.
type EpsilonReading struct {
	// Of says which releases are counted: "features", a user's report in which as many features differ as changed
	// says; "loss", the training as it is; "step" or "epoch", the noise on the coefficients of h as if nothing else
	// left.
	Of      string  `yaml:"of"`
	Changed int     `yaml:"changed"` // number of features in which two users differ
	Form    string  `yaml:"form"`    // form of the features; empty: the paper's
	Epsilon float64 `yaml:"epsilon"` // epsilon of the noise; 0: the claim
	Triples int     `yaml:"triples"` // |D|, number of training triples
	Batch   int     `yaml:"batch"`
	// number of training steps that share the claim, each on a sample; 0: steps do not share it
	Steps int `yaml:"steps"`
}

// Releases implements epsilons.Source.
func (r EpsilonReading) Releases(s epsilons.Setting) (of epsilons.Releases, err error) {
	c := Default()
	epsilon := r.Epsilon
	if epsilon == 0 {
		epsilon = s.Claimed
	}
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return of, fmt.Errorf("epsilon is %v, want positive and finite", epsilon)
	}
	switch r.Of {
	case "features":
		return r.features(epsilon)
	case "loss", "step", "epoch":
	default:
		return of, fmt.Errorf("of is %q, want features, loss, step or epoch", r.Of)
	}
	if r.Triples < 1 || r.Batch < 1 {
		return of, fmt.Errorf("triples %d and batch %d, want at least 1", r.Triples, r.Batch)
	}
	c.Loss.Epsilon, c.Train.Batch = epsilon, r.Batch
	if r.Steps > 0 {
		return r.shared(c, s)
	}
	a := c.account(r.Triples)
	of.Open, of.Noise = a.Unbounded, fmt.Sprintf("Laplace scale %.4g on each coefficient", a.HOnly.Scale)
	switch r.Of {
	case "step":
		of.Pure = a.HOnly.Step
	case "epoch":
		of.Pure = a.HOnly.Epoch
	}
	return of, nil
}

// features returns the cost of some features in a user's report, by CostOf.
func (r EpsilonReading) features(epsilon float64) (of epsilons.Releases, err error) {
	c := features.Default()
	c.Epsilon = epsilon
	if r.Form != "" {
		c.Form = r.Form
	}
	costs := c.Costs()
	switch k := r.Changed; {
	case k == 1:
		of.Pure = float64(costs.One)
	case k == 2:
		of.Pure = float64(costs.Two)
	case k == 3:
		of.Pure = float64(costs.Three)
	case k == features.Features:
		of.Pure = float64(costs.Row)
	default:
		return of, fmt.Errorf("changed is %d, want 1, 2, 3 or %d", k, features.Features)
	}
	of.Noise = fmt.Sprintf("%.0f %% of users report a feature", 100*costs.Reporting)
	return of, nil
}

// shared returns the noise on h with which all steps together keep the claim, each on a Poisson sample of the triples:
// ln(1 + q (e^eps0 - 1)) a step, with eps0 = Delta/(B b).
func (r EpsilonReading) shared(c Config, s epsilons.Setting) (of epsilons.Releases, err error) {
	q := float64(r.Batch) / float64(r.Triples)
	each := math.Log1p(math.Expm1(s.Claimed/float64(r.Steps)) / q)
	of.Pure = float64(r.Steps) * math.Log1p(q*math.Expm1(each))
	scale := Scale(c.Model.Dim, each, r.Batch)
	of.Noise = fmt.Sprintf("Laplace scale %.4g on each coefficient, epsilon %.4g a step on a sample of rate %.4g",
		scale, each, q)
	of.Open = []experiment.Open{experiment.NotCovered("network",
		"only h would be private: the gradients of all other parameters have no noise")}
	return of, nil
}
