package privacy

import (
	"errors"
	"math"
)

// Law describes the outputs of a release on two neighbours, as far as an accountant can use it: a pair of
// distributions, or a bound on them. A law knows no unit and no relation, and is a comparable value. There are few
// laws, and most new kinds of event have one of these.
type Law interface{ law() }

// NormalLaw is normal noise of standard deviation Sigma on a value that moves by at most Sensitivity in the Euclidean
// norm. Norm bounds the length of one unit's term of a sum; 0 if it is not known. Only sampling under Replace needs it.
type NormalLaw struct{ Sigma, Sensitivity, Norm float64 }

// LaplaceLaw is independent Laplace noise of scale Scale on a value that moves by at most Sensitivity in the l1 norm.
type LaplaceLaw struct{ Scale, Sensitivity float64 }

// DiscreteNormalLaw is independent noise with P(k) proportional to exp(-k²/(2 Sigma²)) on
// integers in Dimension coordinates that move by at most Sensitivity in the Euclidean
// norm. All in grid steps.
type DiscreteNormalLaw struct {
	Sigma, Sensitivity float64
	Dimension          int64
}

// DiscreteLaplaceLaw is independent noise with P(k) proportional to exp(-|k|/Scale) on
// integers that move by at most Sensitivity in the l1 norm. All in grid steps.
type DiscreteLaplaceLaw struct{ Scale, Sensitivity float64 }

// ResponseLaw is a report of one of Categories values: the true one with probability
// e^Epsilon/(e^Epsilon + Categories - 1), each other one with equal probability. With two
// categories it is the worst of all laws with likelihoods within a factor of e^Epsilon.
type ResponseLaw struct {
	Epsilon    float64
	Categories int64
	Bound      bool // an upper bound: the release may reveal less
}

// RangeLaw is any law whose log-ratios lie in an interval of length Epsilon.
type RangeLaw struct{ Epsilon float64 }

func (NormalLaw) law()          {}
func (LaplaceLaw) law()         {}
func (DiscreteNormalLaw) law()  {}
func (DiscreteLaplaceLaw) law() {}
func (ResponseLaw) law()        {}
func (RangeLaw) law()           {}

// Squared returns the largest squared Euclidean distance by which the integers may move, in grid steps. It is a whole
// number, rounded like WholeSteps, and in one dimension a square. It is at least 1 for a valid event.
func (l DiscreteNormalLaw) Squared() float64 {
	steps := WholeSteps(l.Sensitivity)
	if l.Dimension == 1 {
		return steps * steps
	}
	return math.Max(steps*steps, WholeSteps(l.Sensitivity*l.Sensitivity))
}

// OnLine reports whether the integers can move along one coordinate only.
func (l DiscreteNormalLaw) OnLine() bool { return l.Dimension == 1 || !(l.Squared() >= 2) }

// Steps returns the largest number of whole grid steps by which the integers may move. See WholeSteps.
func (l DiscreteLaplaceLaw) Steps() float64 { return WholeSteps(l.Sensitivity) }

// LawOf returns the law of a release. It returns nil if e is not a release or its law is not known.
func LawOf(e Event) Law {
	if r, ok := e.(Release); ok {
		return r.Law()
	}
	return nil
}

// Unprotected states that something about a unit is released without protection. An empty Unit means every unit.
type Unprotected struct {
	What string `json:"what"` // a short name: labels, readout
	Why  string `json:"why"`  // one sentence for a reader of the report
	Unit Unit   `json:"unit,omitempty"`
}

func (Unprotected) Kind() string { return "unprotected" }
func (Unprotected) Form() Form   { return Form{Way: WithoutNoise} }

// Validate returns an error if What or Why is missing, or not UTF-8, which a file would change.
func (e Unprotected) Validate() error {
	var what, unit error
	if e.What == "" || e.Why == "" {
		what = errors.New("what and why must not be empty")
	}
	if e.Unit != "" {
		unit = e.Unit.Validate()
	}
	return first("unprotected", what, text("what", e.What), text("why", e.Why), unit)
}

// AsUnprotected returns the event as an Unprotected. The bool is false for releases and for events that nest others.
func AsUnprotected(e Event) (Unprotected, bool) {
	u, ok := e.(Unprotected)
	return u, ok
}

func (Unprotected) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		Unprotected
	}
	err := strict(b, &v)
	return v.Unprotected, err
}
