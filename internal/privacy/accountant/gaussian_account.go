package accountant

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// ErrUnit says that an event is about another unit or relation than the account's, so that its cost
// is not known.
var ErrUnit = terms.ErrUnit

// GaussianAccount is the accountant of Gaussian releases. It is exact under adaptive composition,
// since mu² adds up. The zero value is not usable.
type GaussianAccount struct {
	unit         privacy.Unit
	relation     privacy.Neighbouring
	mu2          float64
	withoutNoise []privacy.Unprotected
}

// NewGaussianAccount returns an empty account for one unit and relation.
func NewGaussianAccount(unit privacy.Unit, relation privacy.Neighbouring) (*GaussianAccount, error) {
	if err := errors.Join(unit.Validate(), relation.Validate()); err != nil {
		return nil, err
	}
	return &GaussianAccount{unit: unit, relation: relation}, nil
}

var _ Accountant = (*GaussianAccount)(nil)

// Mu2 returns the mu² charged so far.
func (a *GaussianAccount) Mu2() float64 { return a.mu2 }

// Price fails on an event that does not consist of Gaussian releases about this unit.
func (a *GaussianAccount) Price(e privacy.Event, count int64) error {
	l, err := terms.Flatten(e, count, a.unit, a.relation)
	if err != nil {
		return err
	}
	return a.price(l)
}

// Charge adds count compositions of the event. If it fails it adds nothing.
func (a *GaussianAccount) Charge(e privacy.Event, count int64) error {
	l, err := terms.Flatten(e, count, a.unit, a.relation)
	if err != nil {
		return err
	}
	return a.charge(l)
}

func (a *GaussianAccount) about() privacy.Subject {
	return privacy.Subject{Unit: a.unit, Neighbouring: a.relation}
}

func (a *GaussianAccount) price(l terms.List) error {
	_, _, err := a.cost(l)
	return err
}

func (a *GaussianAccount) charge(l terms.List) error {
	mu2, open, err := a.cost(l)
	if err != nil {
		return err
	}
	a.mu2 += mu2
	a.withoutNoise = open
	return nil
}

// cost returns the mu² of a list, and what is unprotected with it in the account.
func (a *GaussianAccount) cost(l terms.List) (mu2 float64, open []privacy.Unprotected, err error) {
	if mu2, err = sumMu2(l); err != nil {
		return 0, nil, err
	}
	if math.IsInf(a.mu2+mu2, 1) {
		return 0, nil, errors.New("the cost of all releases overflows")
	}
	all, err := terms.List{WithoutNoise: a.withoutNoise}.Add(terms.List{WithoutNoise: l.WithoutNoise})
	return mu2, all.WithoutNoise, err
}

// Spent returns the exact epsilon at delta, rounded up. It is infinite, with the reasons, if
// anything that was charged is unprotected.
func (a *GaussianAccount) Spent(delta float64) (Result, error) {
	r := Result{Unit: a.unit, Neighbouring: a.relation, Delta: delta, Method: string(Analytic), Unprotected: a.withoutNoise}
	eps, err := Exact(math.Sqrt(a.mu2), delta)
	if r.Epsilon = eps; len(a.withoutNoise) > 0 {
		r.Epsilon = math.Inf(1)
	}
	return r, err
}

// sumMu2 adds up (D/sigma)² over unsampled Gaussians. Of parallel branches the largest counts, or
// the largest two.
func sumMu2(l terms.List) (float64, error) {
	sum := 0.0
	for _, t := range l.Terms {
		g, ok := privacy.LawOf(t.Leaf).(privacy.NormalLaw)
		switch {
		case !ok:
			return 0, fmt.Errorf("a gaussian account cannot price the event %q", t.Leaf.Kind())
		case t.Rate != 1:
			return 0, errors.New(`a gaussian account cannot price the event "sampled"`)
		}
		mu := g.Sensitivity / g.Sigma
		mu2 := float64(t.Count) * (mu * mu)
		if !(mu2 > 0) || math.IsInf(mu2, 1) {
			return 0, fmt.Errorf("gaussian: sensitivity %v over sigma %v is out of range", g.Sensitivity, g.Sigma)
		}
		sum += mu2
	}
	for _, b := range l.Parallels {
		worst, next := 0.0, 0.0
		for i, branch := range b.Of {
			mu2, err := sumMu2(branch)
			if err != nil {
				return 0, fmt.Errorf("event %d: %w", i, err)
			}
			if mu2 > worst {
				worst, next = mu2, worst
			} else {
				next = math.Max(next, mu2)
			}
		}
		if b.Pairs {
			worst += next
		}
		sum += float64(b.Count) * worst
	}
	return sum, nil
}
