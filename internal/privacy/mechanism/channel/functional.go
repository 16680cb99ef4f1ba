package channel

import (
	"errors"
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// Functional describes the functional mechanism (Zhang, Zhang, Xiao, Yang, Winslett, "Functional mechanism: regression
// analysis under differential privacy", VLDB 2012, algorithm 1; section 4.2 of the GERAI paper). It adds Laplace noise
// of scale Sensitivity/Epsilon to the coefficients of an objective, as a polynomial of the parameters. Minimising the
// result is post-processing. Each objective is a release: coefficients of another batch, or after other parameters
// changed, are a new one.
//
// The coefficients must be functions of only the data. In GERAI they also depend on trained weights, whose gradients
// have no noise, so this event does not say what GERAI claims.
type Functional struct {
	Purpose string
	Epsilon float64 // of one release
	// Sensitivity is the l1 distance between neighbours' coefficients of one objective, all together. That of a
	// mean is that of the sum divided by the number of examples.
	Sensitivity  float64
	Unit         privacy.Unit
	Neighbouring privacy.Neighbouring
	Share        mechanism.Share
}

// Scale returns the scale of the noise of a coefficient, Sensitivity/Epsilon rounded up. The
// standard deviation is sqrt(2) times the scale.
func (m Functional) Scale() (float64, error) {
	b, err := LaplaceScale(m.Epsilon, m.Sensitivity)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", m.Purpose, err)
	}
	return b, nil
}

// Event returns one release as an accountant sees it.
func (m Functional) Event() (privacy.Laplace, error) {
	b, err := m.Scale()
	return privacy.Laplace{Scale: b, Sensitivity: m.Sensitivity, Unit: m.Unit, Neighbouring: m.Neighbouring}, err
}

// Objective runs the functional mechanism in one run.
type Objective[T mechanism.Float] struct {
	purpose string
	noise   *Channel[T]
	row     []T
}

// OpenFunctional opens the functional mechanism. It draws noise from stream s and records in
// ledger l.
func OpenFunctional[T mechanism.Float](m Functional, l *privacy.Ledger, s rng.Stream) (*Objective[T], error) {
	if m.Purpose == "" {
		return nil, errors.New("functional mechanism: no purpose")
	}
	e, err := m.Event()
	if err != nil {
		return nil, err
	}
	c, err := OpenLaplace[T](Laplace{Purpose: m.Purpose, Scale: e.Scale, Sensitivity: e.Sensitivity, Unit: e.Unit,
		Neighbouring: e.Neighbouring, Share: m.Share}, l, s)
	if err != nil {
		return nil, err
	}
	return &Objective[T]{purpose: m.Purpose, noise: c}, nil
}

// Channel returns the channel of the noise, for Check, State and Restore.
func (o *Objective[T]) Channel() *Channel[T] { return o.noise }

// Perturb adds noise to all coefficients of one objective and records one release. The key
// (pass, step) is used once, by the rules of [Channel.Begin]. Perturb fails on a polynomial
// without coefficients.
func (o *Objective[T]) Perturb(p *Polynomial[T], key ...uint64) error {
	return o.PerturbCoefficients(key, p.Linear, p.Quadratic)
}

// PerturbCoefficients adds noise like Perturb to the coefficients of any objective, given in parts that together have
// the stated sensitivity. Only one goroutine may call it.
func (o *Objective[T]) PerturbCoefficients(key []uint64, parts ...[]T) error {
	o.row = o.row[:0]
	for _, p := range parts {
		o.row = append(o.row, p...)
	}
	if len(o.row) == 0 {
		return fmt.Errorf("%s: no coefficients", o.purpose)
	}
	for i, x := range o.row {
		if !(x-x == 0) {
			return fmt.Errorf("%s: coefficient %d is %v", o.purpose, i, x)
		}
	}
	if err := o.noise.Perturb(o.row, len(o.row), 1, key...); err != nil {
		return err
	}
	rest := o.row
	for _, p := range parts {
		rest = rest[copy(p, rest):]
	}
	return nil
}
