package accountant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
)

// ErrUnit is returned for an event about another unit or relation than the account's, so that its cost is not known.
var ErrUnit = terms.ErrUnit

// Result holds a guarantee and how it was computed.
type Result struct {
	Unit         privacy.Unit
	Neighbouring privacy.Neighbouring
	Delta        float64
	Epsilon      float64               // +Inf if something is unprotected
	ForDelta     bool                  // Delta is the answer, at an Epsilon that was asked for
	Lower        float64               // certified lower bound of the answer, Epsilon or Delta; 0 if there is none
	Order        float64               // of the Rényi divergence that decides, with method rdp
	AtEnd        bool                  // the order is an end of the range that was tried
	Direction    string                // which neighbour has the unit, if the method tells: remove, add or both
	Method       string                // the method that gave the number, which may not be the one that was asked for
	Notes        []string              // sentences: why another method was used, what delta alone allows
	Unprotected  []privacy.Unprotected // why epsilon is infinite, each once
}

// ChargeLedger charges the entries of a ledger. A dry run over each entry and over all together comes first, then the
// commit. One unit pays for the releases that it takes part in (Entry.Charged).
//
// Entries about other units and relations are charged at their cost for the account's unit, see restater: noise about a
// user covers that user's edges, and a user is a group of as many edges as held states. If nothing bounds the cost,
// epsilon is infinite, with the reason. Only entries about data apart from the unit are left out (privacy.Unit.Apart).
func ChargeLedger(a *Account, entries []privacy.Entry, held ...privacy.Holding) error {
	x := newRestater(a.about(), held).forEntries(entries)
	err := x.charge(a, entries)
	if err == nil {
		return nil
	}
	// The method may be able to price exchanges without samples only.
	x.samples = false
	if x.charge(a, entries) == nil {
		return nil
	}
	return err
}

// Covered returns the guarantee at delta of the noisy entries of a ledger: all except those that state what is
// unprotected. Nothing may have been charged to the account before.
func Covered(a *Account, entries []privacy.Entry, delta float64, held ...privacy.Holding) (Result, error) {
	var noised []privacy.Entry
	for _, e := range entries {
		if _, open := privacy.AsUnprotected(e.Event); !open {
			noised = append(noised, e)
		}
	}
	if err := ChargeLedger(a, noised, held...); err != nil {
		return Result{}, fmt.Errorf("compose the ledger: %w", err)
	}
	r, err := a.Spent(delta)
	if err != nil {
		return Result{}, fmt.Errorf("compose the ledger: %w", err)
	}
	return r, nil
}

// charge charges all entries or none.
func (x restater) charge(a *Account, entries []privacy.Entry) error {
	var lists []terms.List
	var all terms.List
	for i, e := range entries {
		l, err := x.flatten(e)
		if err == nil {
			err = a.price(l)
		}
		if err != nil {
			return fmt.Errorf("entry %d (%s, %s): %w", i+1, e.Period, e.Purpose, err)
		}
		if all, err = all.Add(l); err != nil {
			return fmt.Errorf("all entries together: %w", err)
		}
		lists = append(lists, l)
	}
	if err := a.price(all); err != nil { // each entry may be within the limits, and all together not
		return fmt.Errorf("all entries together: %w", err)
	}
	for _, l := range lists {
		if err := a.charge(l); err != nil {
			return err
		}
	}
	return nil
}

// Account composes the events that are charged to it and computes their guarantee by one method, for one unit and
// relation. The zero value is not usable.
//
// The exact value of Contour is always checked: it must lie within the certified bracket of package pld and below the
// Rényi bound. If it does not, or if Contour does not apply, the answer is the certified upper bound, and the notes of
// the Result say why.
type Account struct {
	method   Method
	unit     privacy.Unit
	relation privacy.Neighbouring
	list     terms.List
	ctx      context.Context // nil: nothing ends its answers early
}

// New returns an empty account.
func New(m Method, unit privacy.Unit, relation privacy.Neighbouring) (*Account, error) {
	if err := errors.Join(m.Validate(), unit.Validate(), relation.Validate()); err != nil {
		return nil, err
	}
	return &Account{method: m, unit: unit, relation: relation}, nil
}

// During returns the account itself with ctx set: its computations stop when ctx ends, with the error of ctx. Without a
// context they run to their end.
func (a *Account) During(ctx context.Context) *Account {
	a.ctx = ctx
	return a
}

// context returns the context of the account's computations.
func (a *Account) context() context.Context {
	if a.ctx == nil {
		return context.Background()
	}
	return a.ctx
}

// Price fails on an event about another unit or relation (ErrUnit), and on one that the method
// cannot price. It does not change the account.
func (a *Account) Price(e privacy.Event, count int64) error {
	l, err := terms.Flatten(e, count, a.unit, a.relation)
	if err != nil {
		return err
	}
	return a.price(l)
}

// Charge adds count compositions of the event. If it fails it adds nothing.
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
	_, err := a.extended(l)
	return err
}

func (a *Account) charge(l terms.List) error {
	sum, err := a.extended(l)
	if err == nil {
		a.list = sum
	}
	return err
}

// extended returns the account's list with l added, or an error if the method cannot price the sum.
func (a *Account) extended(l terms.List) (terms.List, error) {
	var err error
	switch a.method {
	case Analytic:
		_, err = sumMu2(l)
	case RDP:
		_, err = rdp.FromList(l)
	case PLD:
		err = bracketed(l)
	default: // it needs at least one bound
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

// Spent returns the guarantee at delta for everything that was charged. Epsilon is 0 if nothing was charged, and
// infinite, with the reasons, if anything is unprotected.
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

// paidByDelta returns a note on the share of the sampled units that delta allows to publish in full, if that share is a
// tenth or more.
func (a *Account) paidByDelta(delta float64) string {
	p := a.list.Exposed()
	switch {
	case p == 0 || p == 1 || !(delta >= p/10):
		return ""
	case terms.CheckDelta(delta, p) != nil:
		return fmt.Sprintf("delta alone allows publishing a sampled %s whole: it is in one of the releases with a "+
			"probability of only %.6g, so the guarantee would hold without any noise", a.unit, p)
	}
	return fmt.Sprintf("delta is %.3g times the probability %.6g that a %s is in one of the releases: it allows "+
		"publishing that share of the released %ss whole", delta/p, p, a.unit, a.unit)
}

// DeltaAt returns the guarantee at epsilon, 0 or more, for everything that was charged. Its Delta is the answer, and 1
// if anything is unprotected.
func (a *Account) DeltaAt(epsilon float64) (Result, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return Result{}, fmt.Errorf("epsilon is %v, want at least 0 and finite", epsilon)
	}
	r, err := a.solve(question{epsilon: epsilon, forDelta: true})
	if len(r.Unprotected) > 0 {
		r.Delta = 1
	}
	r.Epsilon, r.ForDelta = epsilon, true
	return r, err
}

func (a *Account) solve(q question) (Result, error) {
	r := Result{Unit: a.unit, Neighbouring: a.relation, Method: string(a.method), Unprotected: a.list.WithoutNoise}
	if len(a.list.WithoutNoise) > 0 {
		r.Epsilon = math.Inf(1)
		return r, nil
	}
	if len(a.list.Terms)+len(a.list.Parallels) == 0 {
		return r, nil
	}
	key, keeps := a.asked(q)
	if keeps {
		if r, ok := recent.get(key); ok {
			return r, nil
		}
	}
	q.ctx = a.context()
	answer := contour
	switch a.method {
	case Analytic:
		answer = analytic
	case RDP:
		answer = renyi
	case PLD:
		answer = certified
	}
	if err := q.ctx.Err(); err != nil {
		return r, err
	}
	answered, err := answer(a.list, q, r)
	if stopped := q.ctx.Err(); stopped != nil { // a method that was stopped may have made way for a looser one
		return r, stopped
	}
	if keeps && err == nil {
		recent.keep(key, answered)
	}
	return answered, err
}

// Method names a way to compute a guarantee.
type Method string

const (
	// Analytic is the closed form for composed Gaussians, see Exact.
	Analytic Method = "analytic"
	// Contour, named "exact", is the exact value: a closed form, else contour integration (package exact). It is
	// checked against a certified bracket and the Rényi bound, that of Gaussians alone against the definition.
	Contour Method = "exact"
	// RDP is the bound of Rényi differential privacy (package rdp).
	RDP Method = "rdp"
	// PLD is the certified bracket of discretised privacy losses (package pld).
	PLD Method = "pld"
)

// Methods returns the methods, the best known first.
func Methods() []Method { return []Method{Analytic, Contour, RDP, PLD} }

// Validate returns an error for a method that is not one of the constants.
func (m Method) Validate() error {
	if !slices.Contains(Methods(), m) {
		return fmt.Errorf("unknown accountant %q, want one of %v", string(m), Methods())
	}
	return nil
}

// Divergence returns the Rényi divergence at one order, above 1, of everything that was charged. A Rényi filter of that
// order is charged this amount. It is +Inf if anything is unprotected.
func (a *Account) Divergence(order float64) (float64, error) {
	if !(order > 1) || math.IsInf(order, 1) {
		return 0, fmt.Errorf("divergence: order is %v, want above 1 and finite", order)
	}
	if len(a.list.WithoutNoise) > 0 {
		return math.Inf(1), nil
	}
	c, err := rdp.FromList(a.list)
	if err != nil {
		return 0, err
	}
	return c(order), nil
}
