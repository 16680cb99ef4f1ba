package privacy

import (
	"fmt"
	"math"
)

// Gaussian is x + N(0, Sigma² I), where x moves by at most Sensitivity in the Euclidean norm between neighbours.
//
// Norm bounds how far x, a sum over units, moves when one unit is added or removed. It is the largest length of a
// unit's vector, such as the norm at which vectors are clipped. Only sampling under Replace needs it: adding or
// removing a unit moves x by at most Norm, exchanging one by at most Sensitivity.
type Gaussian struct {
	Sigma        float64      `json:"sigma"` // standard deviation, in the units of x
	Sensitivity  float64      `json:"sensitivity"`
	Norm         float64      `json:"norm,omitempty"` // at least half of Sensitivity; 0: not known
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (Gaussian) Kind() string     { return "gaussian" }
func (Gaussian) Form() Form       { return Form{Way: Single} }
func (e Gaussian) About() Subject { return Subject{e.Unit, e.Neighbouring} }

// Law returns the event without its subject.
func (e Gaussian) Law() Law {
	e.Unit, e.Neighbouring = "", ""
	return e
}

// normal returns the law of normal noise, for other events with that law.
func normal(sigma, sensitivity float64) Gaussian {
	return Gaussian{Sigma: sigma, Sensitivity: sensitivity}
}

// Within reports whether one unit's vector is known to be at most as long as the sensitivity: values from 0 to it. The
// price of a sampled release under Replace is lower for such vectors.
func (e Gaussian) Within() bool { return e.Norm > 0 && e.Norm <= e.Sensitivity }

// Clipped reports whether it is known to be at most half as long: vectors clipped to a norm. The price is lower still.
func (e Gaussian) Clipped() bool { return e.Norm > 0 && 2*e.Norm <= e.Sensitivity }

// Price implements Law.
func (e Gaussian) Price(p Pricer) error { return p.Gaussian(e) }

// Pure implements Law.
func (Gaussian) Pure() float64 { return math.Inf(1) }

// Covers implements Law. Norms, measured in the noise, count only for exchanged units on a sample.
func (e Gaussian) Covers(l Law, sampled bool) bool {
	y, ok := l.(Gaussian)
	return ok && e.Sensitivity/e.Sigma >= y.Sensitivity/y.Sigma &&
		(!sampled || e.Norm == 0 || y.Norm > 0 && e.Norm/e.Sigma >= y.Norm/y.Sigma)
}

// Validate returns an error for the first field out of its range.
func (e Gaussian) Validate() error {
	var norm error
	if e.Norm != 0 && (!(2*e.Norm >= e.Sensitivity) || math.IsInf(e.Norm, 1)) {
		norm = fmt.Errorf("norm is %v, want at least half of the sensitivity and finite, or none: units that long "+
			"move a sum by twice that at most", e.Norm)
	}
	return first("gaussian", positive("sigma", e.Sigma), positive("sensitivity", e.Sensitivity), norm,
		e.Unit.Validate(), e.Neighbouring.Validate())
}

// Group returns the release of a group. By the triangle inequality its sensitivity is the sum along the changes. The
// Norm of a group is not known.
func (e Gaussian) Group(size int64, s Subject) Event {
	if size > 1 {
		e.Norm = 0
	}
	e.Sensitivity, e.Unit, e.Neighbouring = timesUp(e.Sensitivity, size), s.Unit, s.Neighbouring
	return e
}

func (Gaussian) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		Gaussian
	}
	err := strict(b, &v)
	return v.Gaussian, err
}

// DiscreteGaussian is x + independent discrete normal noise in each of Dimension coordinates, in
// steps of a grid that does not depend on the data: P(k) is proportional to exp(-k²/(2 Sigma²))
// (Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020). x is
// integer and moves by at most Sensitivity in the Euclidean norm. That is at least one step; see
// Squared.
type DiscreteGaussian struct {
	Sigma        float64      `json:"sigma"`       // grid steps; the standard deviation is a little below
	Sensitivity  float64      `json:"sensitivity"` // grid steps, rounding to the grid included
	Dimension    int64        `json:"dimension"`
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (DiscreteGaussian) Kind() string     { return "discrete-gaussian" }
func (DiscreteGaussian) Form() Form       { return Form{Way: Single} }
func (e DiscreteGaussian) About() Subject { return Subject{e.Unit, e.Neighbouring} }

// Law returns the event without its subject.
func (e DiscreteGaussian) Law() Law {
	e.Unit, e.Neighbouring = "", ""
	return e
}

// Price implements Law.
func (e DiscreteGaussian) Price(p Pricer) error { return p.DiscreteGaussian(e) }

// Pure implements Law.
func (DiscreteGaussian) Pure() float64 { return math.Inf(1) }

// Covers implements Law.
func (DiscreteGaussian) Covers(Law, bool) bool { return false }

// Validate returns an error for the first field out of its range.
func (e DiscreteGaussian) Validate() error {
	return first("discrete-gaussian", positive("sigma", e.Sigma), positive("sensitivity", e.Sensitivity),
		atLeastStep(e.Sensitivity),
		atLeast("dimension", e.Dimension, 1), e.Unit.Validate(), e.Neighbouring.Validate())
}

// Squared returns the largest squared Euclidean distance by which x may move, in grid steps. It is a whole number,
// rounded like WholeSteps, and in one dimension a square. It is at least 1 for a valid event.
func (e DiscreteGaussian) Squared() float64 {
	steps := WholeSteps(e.Sensitivity)
	if e.Dimension == 1 {
		return steps * steps
	}
	return math.Max(steps*steps, WholeSteps(e.Sensitivity*e.Sensitivity))
}

// OnLine reports whether x can move along one coordinate only.
func (e DiscreteGaussian) OnLine() bool { return e.Dimension == 1 || !(e.Squared() >= 2) }

// Normal returns continuous noise of standard deviation sigma in place of the discrete noise.
func (e DiscreteGaussian) Normal(sigma float64) Gaussian {
	return Gaussian{Sigma: sigma, Sensitivity: e.Sensitivity, Unit: e.Unit, Neighbouring: e.Neighbouring}
}

// Constants for Continuous.
const (
	// spread is the variance, in squared steps, that the rounding in the proof takes from a normal law.
	spread = 8
	// leastSigma is the smallest sigma, in steps, for which a normal law replaces a discrete one. There the noise is
	// priced as if it were 0.1 % smaller.
	leastSigma = 64
)

// Continuous returns a normal release that is at most as private as the discrete normal release e. So its price bounds
// that of e in every dimension, under every sampling and in every adaptive composition, for any accountant. Its sigma
// is sqrt(Sigma² - 8) steps. ok is false for a sigma below 64 steps, and for more than 2^50 dimensions.
//
// Proof. Let rho_s(x) = exp(-x²/(2s²)), s² = 8 and t² = Sigma² - s². Take z of the law N(a, t²) in every coordinate, a
// being integer, and round it at random: k with probability rho_s(k-z) / sum_j rho_s(j-z). By Poisson's summation
// formula the sum over all integers j is s sqrt(2 pi) (1 + eta), |eta| <= e = 2.1 exp(-2 pi² s²) < 1e-68, for every z.
// So k has a probability within a factor (1±e)^-1 of the integral of the densities of N(a, t²) at z and N(z, s²) at k,
// which is the density of N(a, Sigma²) at k. The discrete law at k is that density too, but for its own sum, again
// within a factor of 1±e. Hence the discrete law and the rounded normal one are within a factor of exp(3e) of each
// other at every point, and within exp(3 e d) in d coordinates.
//
// Rounding does not look at data. It is post-processing of a release of N(a, t²), also where a is a sum over a secret
// sample, and where it depends on releases before. Sampling mixes laws, and a mixture keeps the factor; a composition
// of T releases has the product of T factors. So whatever (epsilon, delta) the composition of the normal releases has,
// that of the discrete ones has (epsilon + 2x, delta exp(x)) with x = 3 e d T. For d <= 2^50 and T <= 2^63 x is below
// 1e-33, which is less than any accountant rounds up by: results are raised by units of their last place, 1e-16.
//
// An epoch of random allocation (AllocatedGaussian) is such a mixture too: of compositions of its steps, one for every
// choice of the steps of all units. For each choice the epoch of discrete releases is within its product of factors of
// the epoch of rounded normal ones, and rounding every step is post-processing of the epoch of normal ones, whose steps
// may be chosen after the rounded results of earlier ones.
func (e DiscreteGaussian) Continuous() (g Gaussian, ok bool) {
	if !(e.Sigma >= leastSigma) || e.Dimension > 1<<50 {
		return g, false
	}
	return e.Normal(e.Sigma * math.Sqrt(1-spread/e.Sigma/e.Sigma) * (1 - 0x1p-50)), true // rounded down
}

func (e DiscreteGaussian) onGrid() Event {
	if d := math.Sqrt(e.Squared()); !math.IsInf(d, 1) {
		e.Sensitivity = d
	}
	return e
}

// Group returns the release of a group, with the distances of its changes added up. Integers move by whole numbers, and
// a group of them by multiples of these.
func (e DiscreteGaussian) Group(size int64, s Subject) Event {
	e = e.onGrid().(DiscreteGaussian)
	e.Sensitivity, e.Unit, e.Neighbouring = timesUp(e.Sensitivity, size), s.Unit, s.Neighbouring
	return e
}

func (DiscreteGaussian) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		DiscreteGaussian
	}
	err := strict(b, &v)
	return v.DiscreteGaussian, err
}
