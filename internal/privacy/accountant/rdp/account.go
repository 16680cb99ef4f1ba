package rdp

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// Account composes events about one unit under one relation. New makes one; the zero value is not
// usable. An Account is not safe for use by several goroutines.
type Account struct {
	unit        privacy.Unit
	relation    privacy.Neighbouring
	list        terms.List
	total       Curve
	unprotected []privacy.Unprotected
}

// New returns an empty account.
func New(unit privacy.Unit, relation privacy.Neighbouring) (*Account, error) {
	if err := errors.Join(unit.Validate(), relation.Validate()); err != nil {
		return nil, err
	}
	return &Account{unit: unit, relation: relation, total: Sum()}, nil
}

// Price makes the dry run of Charge. It fails on an event about another unit or relation, on one
// without a curve, and on counts that overflow. The account stays as it is.
func (a *Account) Price(e privacy.Event, count int64) error {
	_, _, err := a.extended(e, count)
	return err
}

// Charge adds count compositions of the event. If it fails it adds nothing. It charges what an
// event leaves unprotected too, which makes every guarantee infinite.
func (a *Account) Charge(e privacy.Event, count int64) error {
	list, total, err := a.extended(e, count)
	if err != nil {
		return err
	}
	a.list, a.total, a.unprotected = list, total, list.WithoutNoise
	return nil
}

// extended returns what the account would be after a charge.
func (a *Account) extended(e privacy.Event, count int64) (terms.List, Curve, error) {
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

// Unprotected returns what was charged and has no guarantee, each once. If there is any, every
// epsilon is infinite and every delta 1.
func (a *Account) Unprotected() []privacy.Unprotected {
	return append([]privacy.Unprotected(nil), a.unprotected...)
}

// Epsilon returns the guarantee at delta of everything that was charged, with the default options.
// It is infinite if something is Unprotected.
func (a *Account) Epsilon(delta float64) (Point, error) { return a.EpsilonWith(delta, Options{}) }

// EpsilonWith does what Epsilon does, with options.
func (a *Account) EpsilonWith(delta float64, o Options) (Point, error) {
	p, err := Epsilon(a.total, delta, o)
	if len(a.unprotected) > 0 && (err == nil || errors.Is(err, ErrNoOrder)) {
		return Point{Epsilon: math.Inf(1), Delta: delta, Order: p.Order}, nil
	}
	if err != nil {
		return Point{}, fmt.Errorf("account of %s, %s: %w", a.unit, a.relation, err)
	}
	return p, nil
}

// Delta returns the guarantee at epsilon of everything that was charged. It is 1 if something is
// Unprotected.
func (a *Account) Delta(epsilon float64) (Point, error) {
	p, err := Delta(a.total, epsilon, Options{})
	if len(a.unprotected) > 0 && (err == nil || errors.Is(err, ErrNoOrder)) {
		return Point{Epsilon: epsilon, Delta: 1, Order: p.Order}, nil
	}
	if err != nil {
		return Point{}, fmt.Errorf("account of %s, %s: %w", a.unit, a.relation, err)
	}
	return p, nil
}
