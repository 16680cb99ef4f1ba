package accountant

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
)

// Accountant prices events about one unit under one neighbouring relation.
type Accountant interface {
	// Price is the dry run: it reports an event that the accountant cannot
	// price and leaves the account as it is.
	Price(e privacy.Event, count int64) error
	// Charge adds count compositions of the event, or nothing and an error.
	Charge(e privacy.Event, count int64) error
	// Spent returns the guarantee at delta of all that was charged.
	Spent(delta float64) (Result, error)
}

// Result is a guarantee with its reasons.
type Result struct {
	Unit         privacy.Unit
	Neighbouring privacy.Neighbouring
	Delta        float64
	Epsilon      float64 // +Inf when something is unprotected
	Method       string
	Unprotected  []privacy.Unprotected // why it is infinite, each once
}

// ChargeLedger charges the entries of a ledger: a dry run over all, then the
// commit. One unit pays for the releases that it takes part in (Entry.Charged).
// Entries about nothing but the units in skip are left out: the caller vouches
// that they are about other data, as user features are when edges are counted.
// An entry about any other unit than the account's is refused.
func ChargeLedger(a Accountant, entries []privacy.Entry, skip ...privacy.Unit) error {
	for _, commit := range []bool{false, true} {
		for i, e := range entries {
			if about(e.Event, skip) {
				continue
			}
			step := a.Price
			if commit {
				step = a.Charge
			}
			if err := step(e.Event, e.Charged()); err != nil {
				return fmt.Errorf("entry %d (%s, %s): %w", i+1, e.Period, e.Purpose, err)
			}
		}
	}
	return nil
}

// about reports whether every leaf of an event names a unit in the list.
func about(e privacy.Event, units []privacy.Unit) bool {
	all := func(events []privacy.Event) bool {
		return len(events) > 0 && !slices.ContainsFunc(events, func(e privacy.Event) bool { return !about(e, units) })
	}
	switch e := e.(type) {
	case privacy.Gaussian:
		return slices.Contains(units, e.Unit)
	case privacy.Laplace:
		return slices.Contains(units, e.Unit)
	case privacy.PureLDP:
		return slices.Contains(units, e.Unit)
	case privacy.Unprotected:
		return slices.Contains(units, e.Unit)
	case privacy.SelfComposed:
		return about(e.Event, units)
	case privacy.Sampled:
		return about(e.Event, units)
	case privacy.Composed:
		return all(e.Events)
	case privacy.Parallel:
		return all(e.Events)
	}
	return false
}

// ErrUnit is an event about another unit or relation than the account's: its
// cost for this one is not known.
var ErrUnit = errors.New("the event is about another unit or relation")

// GaussianAccount is the accountant of Gaussian releases: exact under adaptive
// composition, since mu² adds up. The zero value is not usable.
type GaussianAccount struct {
	unit     privacy.Unit
	relation privacy.Neighbouring
	mu2      float64
	open     []privacy.Unprotected
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

// cost is what an event adds: mu² and what it leaves open.
type cost struct {
	mu2  float64
	open []privacy.Unprotected
}

// Price reports an event that is not made of Gaussian releases about this unit.
func (a *GaussianAccount) Price(e privacy.Event, count int64) error {
	_, err := a.cost(e, count)
	return err
}

// Charge adds count compositions of the event, or nothing and an error.
func (a *GaussianAccount) Charge(e privacy.Event, count int64) error {
	c, err := a.cost(e, count)
	if err != nil {
		return err
	}
	a.mu2 += c.mu2
	a.open = merge(a.open, c.open)
	return nil
}

// Spent returns the exact epsilon at delta, rounded up; infinite, with the
// reasons, if anything that was charged is unprotected.
func (a *GaussianAccount) Spent(delta float64) (Result, error) {
	r := Result{Unit: a.unit, Neighbouring: a.relation, Delta: delta, Method: "exact", Unprotected: a.open}
	eps, err := Exact(math.Sqrt(a.mu2), delta)
	if r.Epsilon = eps; len(a.open) > 0 {
		r.Epsilon = math.Inf(1)
	}
	return r, err
}

// cost prices count compositions of an event. The multiplication by count is
// here and only here, for every kind.
func (a *GaussianAccount) cost(e privacy.Event, count int64) (cost, error) {
	if count < 1 {
		return cost{}, fmt.Errorf("count is %d, want at least 1", count)
	}
	if e == nil {
		return cost{}, errors.New("no event")
	}
	if err := e.Validate(); err != nil {
		return cost{}, err
	}
	c, err := a.once(e)
	c.mu2 *= float64(count)
	if math.IsInf(c.mu2, 1) {
		return cost{}, fmt.Errorf("%s: the cost of %d releases overflows", e.Kind(), count)
	}
	return c, err
}

func (a *GaussianAccount) once(e privacy.Event) (cost, error) {
	switch e := e.(type) {
	case privacy.Gaussian:
		if e.Unit != a.unit || e.Neighbouring != a.relation {
			return cost{}, fmt.Errorf("gaussian release about %s, %s; account of %s, %s: %w", e.Unit, e.Neighbouring, a.unit, a.relation, ErrUnit)
		}
		mu := e.Sensitivity / e.Sigma
		return cost{mu2: mu * mu}, nil
	case privacy.Unprotected:
		if e.Unit != "" && e.Unit != a.unit {
			return cost{}, fmt.Errorf("%s unprotected for %s; account of %s: %w", e.What, e.Unit, a.unit, ErrUnit)
		}
		return cost{open: []privacy.Unprotected{e}}, nil
	case privacy.SelfComposed:
		return a.cost(e.Event, e.Count)
	case privacy.Composed:
		return a.fold(e.Events, func(sum, next float64) float64 { return sum + next })
	case privacy.Parallel:
		return a.fold(e.Events, math.Max)
	case privacy.Sampled:
		if e.Rate == 1 { // every unit is in: nothing is amplified
			return a.once(e.Event)
		}
	}
	return cost{}, fmt.Errorf("a gaussian account cannot price the event %q", e.Kind())
}

func (a *GaussianAccount) fold(events []privacy.Event, join func(sum, next float64) float64) (cost, error) {
	var sum cost
	for i, e := range events {
		c, err := a.once(e)
		if err != nil {
			return cost{}, fmt.Errorf("event %d: %w", i, err)
		}
		sum.mu2 = join(sum.mu2, c.mu2)
		sum.open = merge(sum.open, c.open)
	}
	return sum, nil
}

// merge appends what is new, in order.
func merge(have, more []privacy.Unprotected) []privacy.Unprotected {
next:
	for _, m := range more {
		for _, h := range have {
			if h == m {
				continue next
			}
		}
		have = append(have[:len(have):len(have)], m)
	}
	return have
}
