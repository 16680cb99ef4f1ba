package accountant

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
)

// Account composes what is charged to it and states the guarantee by one method,
// for one unit and relation. The zero value is not usable.
//
// The exact method is never trusted alone: its value must lie within the
// certified bracket of package pld and below the Rényi bound. Where it does not,
// and where the contour does not apply, the certified upper bound is the answer
// and the notes of the Result say why.
type Account struct {
	method   Method
	unit     privacy.Unit
	relation privacy.Neighbouring
	list     terms.List
}

var _ Accountant = (*Account)(nil)

// New returns an empty account.
func New(m Method, unit privacy.Unit, relation privacy.Neighbouring) (*Account, error) {
	if err := errors.Join(m.Validate(), unit.Validate(), relation.Validate()); err != nil {
		return nil, err
	}
	return &Account{method: m, unit: unit, relation: relation}, nil
}

// Price reports an event that is about another unit or relation (ErrUnit), or
// that the method has no form for. The account stays as it is.
func (a *Account) Price(e privacy.Event, count int64) error {
	l, err := terms.Flatten(e, count, a.unit, a.relation)
	if err != nil {
		return err
	}
	return a.price(l)
}

// Charge adds count compositions of the event, or nothing and an error.
func (a *Account) Charge(e privacy.Event, count int64) error {
	l, err := terms.Flatten(e, count, a.unit, a.relation)
	if err != nil {
		return err
	}
	return a.charge(l)
}

func (a *Account) about() privacy.Subject {
	return privacy.Subject{Unit: a.unit, Neighbouring: a.relation}
}

func (a *Account) price(l terms.List) error {
	_, err := a.with(l)
	return err
}

func (a *Account) charge(l terms.List) error {
	sum, err := a.with(l)
	if err == nil {
		a.list = sum
	}
	return err
}

// with is the account's list with another one more, if the method can price it.
func (a *Account) with(l terms.List) (terms.List, error) {
	var err error
	switch a.method {
	case Analytic:
		_, err = sumMu2(l)
	case RDP:
		_, err = rdp.FromList(l)
	case PLD:
		err = bracketed(l)
	default: // whatever has at least a bound
		if err = bracketed(l); err != nil {
			if _, bound := rdp.FromList(l); bound == nil {
				err = nil
			}
		}
	}
	if err != nil {
		return l, fmt.Errorf("the %s accountant: %w", a.method, err)
	}
	return a.list.Add(l)
}

// Spent returns the guarantee at delta of all that was charged: epsilon 0 for
// nothing, an infinite one, with the reasons, if anything is unprotected.
func (a *Account) Spent(delta float64) (Result, error) {
	if err := checkMuDelta(0, delta); err != nil {
		return Result{}, err
	}
	r, err := a.solve(question{delta: delta})
	r.Delta = delta
	if note := a.paidByDelta(delta); note != "" && err == nil && len(r.Unprotected) == 0 {
		r.Notes = append(r.Notes, note)
	}
	return r, err
}

// paidByDelta says how much of what is sampled a delta lets be published whole, where
// that is a tenth or more.
func (a *Account) paidByDelta(delta float64) string {
	p := a.list.Exposed()
	switch {
	case p == 0 || p == 1 || !(delta >= p/10):
		return ""
	case terms.CheckDelta(delta, p) != nil:
		return fmt.Sprintf("delta alone allows publishing a sampled %s whole: it is in any of the releases with a probability of only %.6g, so that this would hold without any noise", a.unit, p)
	}
	return fmt.Sprintf("delta is %.3g of the probability %.6g that a %s is in any of the releases: as many of those that are may be published whole", delta/p, p, a.unit)
}

// DeltaAt returns the guarantee at epsilon, 0 or more, of all that was charged:
// its Delta is what was asked for, 1 if anything is unprotected.
func (a *Account) DeltaAt(epsilon float64) (Result, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return Result{}, fmt.Errorf("epsilon is %v, want at least 0 and finite", epsilon)
	}
	r, err := a.solve(question{epsilon: epsilon, forDelta: true})
	if len(r.Unprotected) > 0 {
		r.Delta = 1
	}
	r.Epsilon = epsilon
	return r, err
}

func (a *Account) solve(q question) (Result, error) {
	r := Result{Unit: a.unit, Neighbouring: a.relation, Method: string(a.method), Unprotected: a.list.Open}
	if len(a.list.Open) > 0 {
		r.Epsilon = math.Inf(1)
		return r, nil
	}
	if len(a.list.Terms)+len(a.list.Parallels) == 0 {
		return r, nil
	}
	switch a.method {
	case Analytic:
		return analytic(a.list, q, r)
	case RDP:
		return renyi(a.list, q, r)
	}
	if a.method == PLD {
		return certified(a.list, q, r)
	}
	return contour(a.list, q, r)
}
