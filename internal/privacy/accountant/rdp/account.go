package rdp

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// Account composes events about one unit under one relation. New makes one; the
// zero value is not usable. It is not safe for use by several goroutines.
type Account struct {
	unit     privacy.Unit
	relation privacy.Neighbouring
	list     terms.List
	total    Curve
	open     []privacy.Unprotected
}

// New returns an empty account.
func New(unit privacy.Unit, relation privacy.Neighbouring) (*Account, error) {
	if err := errors.Join(unit.Validate(), relation.Validate()); err != nil {
		return nil, err
	}
	return &Account{unit: unit, relation: relation, total: Sum()}, nil
}

// Price is the dry run of Charge: it reports an event about another unit or
// relation, one without a curve, and counts that overflow. The account stays.
func (a *Account) Price(e privacy.Event, count int64) error {
	_, _, err := a.with(e, count)
	return err
}

// Charge adds count compositions of the event, or nothing and an error. What an
// event leaves unprotected is charged: it makes every guarantee infinite.
func (a *Account) Charge(e privacy.Event, count int64) error {
	list, total, err := a.with(e, count)
	if err != nil {
		return err
	}
	a.list, a.total, a.open = list, total, list.WithoutNoise
	return nil
}

// with is what the account would be after a charge.
func (a *Account) with(e privacy.Event, count int64) (terms.List, Curve, error) {
	l, err := terms.Flatten(e, count, a.unit, a.relation)
	if err != nil {
		return terms.List{}, nil, err
	}
	if l, err = a.list.Add(l); err != nil {
		return terms.List{}, nil, err
	}
	c, err := FromList(l)
	return l, c, err
}

// Curve returns the curve of what was charged, without what is unprotected.
func (a *Account) Curve() Curve { return a.total }

// Unprotected returns what was charged and has no guarantee, each once. While
// there is any, every epsilon is infinite and every delta 1.
func (a *Account) Unprotected() []privacy.Unprotected {
	return append([]privacy.Unprotected(nil), a.open...)
}

// Epsilon returns the guarantee at delta of all that was charged, with the
// default options: infinite where something is Unprotected.
func (a *Account) Epsilon(delta float64) (Point, error) { return a.EpsilonWith(delta, Options{}) }

// EpsilonWith is Epsilon with options.
func (a *Account) EpsilonWith(delta float64, o Options) (Point, error) {
	p, err := Epsilon(a.total, delta, o)
	if len(a.open) > 0 && (err == nil || errors.Is(err, ErrNoOrder)) {
		return Point{Epsilon: math.Inf(1), Delta: delta, Order: p.Order}, nil
	}
	if err != nil {
		return Point{}, fmt.Errorf("account of %s, %s: %w", a.unit, a.relation, err)
	}
	return p, nil
}

// Delta returns the guarantee at epsilon of all that was charged: 1 where
// something is Unprotected.
func (a *Account) Delta(epsilon float64) (Point, error) {
	p, err := Delta(a.total, epsilon, Options{})
	if len(a.open) > 0 && (err == nil || errors.Is(err, ErrNoOrder)) {
		return Point{Epsilon: epsilon, Delta: 1, Order: p.Order}, nil
	}
	if err != nil {
		return Point{}, fmt.Errorf("account of %s, %s: %w", a.unit, a.relation, err)
	}
	return p, nil
}
