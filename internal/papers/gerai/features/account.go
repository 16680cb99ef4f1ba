package features

import (
	"fmt"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/report"
)

// CostOf returns the epsilon of m features of one user in a row of the sampler, given all other features of the row:
// min(m, k) e, for k drawn features with e = epsilon/k each.
//
// Let rows x and x' differ in the features D, |D| = m. A is the set of drawn features; its distribution does not depend
// on the row. For an output y
//
//	P(y | x) = sum over A of P(A) prod over i in A of P_i(y_i | x_i)
//
// where features outside of A must be zero in y. The products for x and x' differ only in the factors of A and D
// together, at most min(m, k), and each of these by at most e^e. So do the sums. The bound is attained: a number is 0
// with next to no probability, so y tells which A was drawn, and some A holds min(m, k) of D. So a feature's epsilon is
// no lower because it is drawn only with probability k/n: epsilon is a maximum over A, not a mean.
func CostOf(f local.FeatureSampler, m int) float64 { return float64(min(m, f.K())) * f.PerFeature() }

// Costs holds the guarantees of the local noise on features to one user: the largest log-ratio of probabilities of any
// output, for two rows that differ as stated and in nothing else.
type Costs struct {
	Row   privacy.Number `json:"eps_row"`           // in everything
	One   privacy.Number `json:"eps_one_attribute"` // in one attribute, given the others and all ratings
	Two   privacy.Number `json:"eps_two_attributes"`
	Three privacy.Number `json:"eps_three_attributes"`
	// in ratings, as far as the statistics tell them; 0 if none leaves the user
	Statistics privacy.Number `json:"eps_statistics"`
	Reporting  float64        `json:"share_reporting"`
}

// Costs returns the guarantees of the configuration. Reporting is the share of users who send any one attribute: zeta
// of the 21 features, or everyone in form attributes, where budgets add up because every user sends all three. Without
// noise everything is infinite.
func (c Config) Costs() Costs {
	inf := privacy.Number(math.Inf(1))
	e := func(v float64) privacy.Number { return privacy.Number(v) }
	switch {
	case c.Noise == NoiseNone && c.Form == FormAttributes && !c.Statistics:
		return Costs{Row: inf, One: inf, Two: inf, Three: inf, Reporting: 1}
	case c.Noise == NoiseNone:
		return Costs{Row: inf, One: inf, Two: inf, Three: inf, Statistics: inf, Reporting: 1}
	case c.Form == FormAttributes && c.Statistics:
		return Costs{Row: inf, One: e(c.Epsilon), Two: e(2 * c.Epsilon), Three: e(3 * c.Epsilon), Statistics: inf,
			Reporting: 1}
	case c.Form == FormAttributes:
		return Costs{Row: e(3 * c.Epsilon), One: e(c.Epsilon), Two: e(2 * c.Epsilon), Three: e(3 * c.Epsilon),
			Reporting: 1}
	}
	f := c.paperSampler()
	costs := Costs{Row: e(c.Epsilon), One: e(CostOf(f, 1)), Two: e(CostOf(f, 2)), Three: e(CostOf(f, 3)),
		Statistics: e(CostOf(f, Numbers)), Reporting: float64(f.K()) / Features}
	if c.Range == RangeMinMax { // another rating moves the range, and with it the numbers of all users
		costs.Row, costs.Statistics = inf, inf
	}
	return costs
}

// Account returns the account of the features. A run declares it before it opens anything.
func (c Config) Account() *experiment.Features {
	claimed := c // without what leaves in the clear
	claimed.Range, claimed.Statistics = "", false
	a := &experiment.Features{Eps1: claimed.Costs().Row, K: 3, N: 3, Zeroed: true, Total: c.Costs().Row,
		Unbounded: []experiment.Open{}}
	if c.Form == FormTable {
		a.K, a.N = Features, Features
		if c.Noise == NoiseLocal {
			a.K = c.paperSampler().K()
		}
	}
	if c.Noise == NoiseNone {
		a.Unbounded = append(a.Unbounded,
			experiment.NotCovered("no_perturbation", "features enter the model in the clear"))
	}
	if c.Range == RangeMinMax {
		a.Unbounded = append(a.Unbounded,
			experiment.NotCovered("range", "numbers are scaled by the least and greatest of all users, in the clear"))
	}
	if c.Statistics {
		a.Unbounded = append(a.Unbounded,
			experiment.NotCovered("statistics", "the statistics of users' ratings enter the model in the clear"))
	}
	return a
}

// Facts returns the costs as facts.
func (c Config) Facts() []report.Fact {
	if c.Noise == NoiseNone {
		return []report.Fact{{Label: "user features", Value: "epsilon infinity", Note: "in the clear"}}
	}
	costs := c.Costs()
	return []report.Fact{
		{Label: "user features", Value: "epsilon " + c.Account().Total.String(), Note: "local, a user's whole row"},
		{Label: "one attribute", Value: "epsilon " + costs.One.String(),
			Note: fmt.Sprintf("local, given the other attributes and all ratings; %.0f %% of users send it; two cost "+
				"%v, three %v", 100*costs.Reporting, costs.Two, costs.Three)},
	}
}

// Notes returns notes on what the costs do not cover.
func (c Config) Notes() []string {
	if c.Form == FormAttributes {
		return []string{"Attributes that follow from the ratings are not hidden: epsilon compares users with the " +
			"same ratings."}
	}
	return []string{
		"The statistics of a user are functions of private ratings. Their epsilon covers the statistics alone: " +
			"ratings that reach the recommender another way, as its graph and its labels do, are not covered.",
		"Attributes that follow from the ratings are not hidden: epsilon compares users with the same ratings.",
	}
}
