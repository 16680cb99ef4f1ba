package rdp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy/numeric"
)

// Selection is the law of the number of runs, 1 or more, when only the best run is released: the truncated negative
// binomial distribution with parameters eta and gamma (Papernot and Steinke, "Hyperparameter Tuning with Rényi
// Differential Privacy", ICLR 2022, definition 1).
type Selection struct {
	Eta   float64 // shape, above -1: 1 is geometric, 0 logarithmic; the larger, the less often the number is small
	Gamma float64 // in (0, 1]: the smaller, the more runs; 1 makes one run
}

// maxMean is the largest mean number of runs that SelectionFor takes.
const maxMean = 1e9

// SelectionFor returns the law with shape eta and the given mean number of runs, from 1 to 1e9.
func SelectionFor(eta, mean float64) (Selection, error) {
	if !(mean >= 1 && mean <= maxMean) {
		return Selection{}, fmt.Errorf("mean number of runs is %v, want 1 to %g", mean, float64(maxMean))
	}
	s := Selection{eta, 1}
	if err := s.Validate(); err != nil || mean == 1 {
		return s, err
	}
	_, log := numeric.Halve(200, math.Log(1e-300), 0, func(log float64) bool { // the mean falls in gamma
		return Selection{eta, math.Exp(log)}.Mean() > mean
	})
	s.Gamma = math.Exp(log)
	if got := s.Mean(); math.Abs(got/mean-1) > 1e-6 {
		return Selection{}, fmt.Errorf("no law of shape %v has a mean of %v runs", eta, mean)
	}
	return s, nil
}

// Validate returns an error for parameters that define no law.
func (s Selection) Validate() error {
	if !(s.Eta > -1) || math.IsInf(s.Eta, 1) {
		return fmt.Errorf("shape eta is %v, want above -1 and finite", s.Eta)
	}
	return fraction("gamma", s.Gamma)
}

// Mean returns the mean number of runs.
func (s Selection) Mean() float64 {
	switch {
	case s.Gamma == 1:
		return 1
	case math.Abs(s.Eta) < 1e-9: // the formula below divides by about eta
		return (1/s.Gamma - 1) / -math.Log(s.Gamma)
	}
	return s.Eta * (1 - s.Gamma) / (s.Gamma * -math.Expm1(s.Eta*math.Log(s.Gamma)))
}

// maxRuns limits a drawn number of runs, beyond any number that can be made in practice, so that every draw ends.
const maxRuns = 1 << 40

// Draw returns a number of runs by inversion of the law at u. A u uniform on [0, 1) gives a draw from it.
func (s Selection) Draw(u float64) int64 {
	if s.Gamma == 1 {
		return 1
	}
	// P(1) = eta (1-gamma) / (gamma^-eta - 1), and P(k+1) = P(k) (1-gamma) (k+eta)/(k+1).
	p := (1 - s.Gamma) / -math.Log(s.Gamma)
	if math.Abs(s.Eta) >= 1e-9 {
		p = s.Eta * (1 - s.Gamma) / math.Expm1(-s.Eta*math.Log(s.Gamma))
	}
	k, sum := int64(1), p
	for u >= sum && k < maxRuns {
		p *= (1 - s.Gamma) * (float64(k) + s.Eta) / float64(k+1)
		if next := sum + p; next == sum && float64(k) > 2*s.Mean() { // rounding: the tail is spent
			break
		} else {
			sum = next
		}
		k++
	}
	return k
}

// Curve returns a bound on the divergence of releasing the best of a random number of runs, each with curve c, and
// nothing else: neither the other runs nor their number. Runs are ranked by their own releases, and settings that are
// drawn at random are part of a run. At order a it is
//
//	c(a) + (1+eta) ((1 - 1/b) c(b) + log(1/gamma)/b) + log(mean)/(a-1)
//
// for the best order b of at least 1. It returns the error of ctx when that ends. Source: Papernot and Steinke 2022,
// theorem 2.
func (s Selection) Curve(ctx context.Context, c Curve) (Curve, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errors.New("no curve")
	}
	if s.Gamma == 1 {
		return c, nil
	}
	w := &search{ctx: ctx, curve: c, orders: Default(), value: func(r, b float64) float64 {
		if math.IsInf(b, 1) {
			return r
		}
		return (1-1/b)*r - math.Log(s.Gamma)/b
	}}
	extra := w.grid().value
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	extra = (1 + s.Eta) * math.Min(extra, c(math.Inf(1)))
	logMean := math.Log(s.Mean())
	return bounded(func(alpha float64) float64 {
		if math.IsInf(alpha, 1) {
			return c(alpha) + extra
		}
		return c(alpha) + extra + logMean/(alpha-1)
	}), nil
}
