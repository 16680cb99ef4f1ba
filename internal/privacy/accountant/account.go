package accountant

import (
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
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

	about() privacy.Subject
	price(l terms.List) error  // Price of what an event was flattened to
	charge(l terms.List) error // Charge of it
}

// Result is a guarantee with its reasons.
type Result struct {
	Unit         privacy.Unit
	Neighbouring privacy.Neighbouring
	Delta        float64
	Epsilon      float64               // +Inf when something is unprotected
	Lower        float64               // certified lower bound of what was asked for; 0 where there is none
	Order        float64               // of the Rényi divergence that decides, with method rdp
	AtEnd        bool                  // the order is the last that was tried
	Direction    string                // which neighbour has the unit, where a method tells: remove, add or both
	Method       string                // what the number is from: not always the method that was asked for
	Notes        []string              // why another method was used, what delta alone pays for; each a sentence
	Unprotected  []privacy.Unprotected // why it is infinite, each once
}

// ChargeLedger charges the entries of a ledger: a dry run over each and over all
// together, then the commit. One unit pays for the releases that it takes part in
// (Entry.Charged). Entries about other units and relations are charged as what they
// cost the account's unit, see restater: user-level noise covers an edge, and a user
// is a group of as many edges as held says that one user holds. Where nothing bounds
// the cost the epsilon is infinite, with the reason. Only entries about data that the
// unit is no part of are left out (privacy.Unit.Apart).
func ChargeLedger(a Accountant, entries []privacy.Entry, held ...privacy.Holding) error {
	x := newRestater(a.about(), held).of(entries)
	err := x.charge(a, entries)
	if err == nil {
		return nil
	}
	// The method may have no form for exchanges on samples, and one without samples.
	x.samples = false
	if x.charge(a, entries) == nil {
		return nil
	}
	return err
}

// Covered returns the guarantee at delta of what noise covers in a ledger, by an account that
// nothing was charged to yet: of all entries but those that say what is unprotected.
func Covered(a Accountant, entries []privacy.Entry, delta float64, held ...privacy.Holding) (Result, error) {
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
func (x restater) charge(a Accountant, entries []privacy.Entry) error {
	var lists []terms.List
	var all terms.List
	for i, e := range entries {
		l, err := x.list(e)
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
	if err := a.price(all); err != nil { // each fits, and all may not
		return fmt.Errorf("all entries together: %w", err)
	}
	for _, l := range lists {
		if err := a.charge(l); err != nil {
			return err
		}
	}
	return nil
}
