package accountant

import (
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// ErrUnit says that an event is about another unit or relation than the account's, so that its cost
// is not known.
var ErrUnit = terms.ErrUnit

// Result is a guarantee and what it rests on.
type Result struct {
	Unit         privacy.Unit
	Neighbouring privacy.Neighbouring
	Delta        float64
	Epsilon      float64               // +Inf if something is unprotected
	Lower        float64               // certified lower bound of the wanted number; 0 if there is none
	Order        float64               // of the Rényi divergence that decides, with method rdp
	AtEnd        bool                  // the order is an end of the range that was tried
	Direction    string                // which neighbour has the unit, if the method tells: remove, add or both
	Method       string                // the method that gave the number, which may not be the one that was asked for
	Notes        []string              // sentences: why another method was used, what delta alone allows
	Unprotected  []privacy.Unprotected // why epsilon is infinite, each once
}

// ChargeLedger charges the entries of a ledger. A dry run over each entry and over all together
// comes first, then the commit. One unit pays for the releases that it takes part in
// (Entry.Charged).
//
// Entries about other units and relations are charged as what they cost the account's unit, see
// restater: noise about a user covers that user's edges, and a user is a group of as many edges as
// held says that one user holds. If nothing bounds the cost, epsilon is infinite, with the reason.
// Only entries about data apart from the unit are left out (privacy.Unit.Apart).
func ChargeLedger(a *Account, entries []privacy.Entry, held ...privacy.Holding) error {
	x := newRestater(a.about(), held).forEntries(entries)
	err := x.charge(a, entries)
	if err == nil {
		return nil
	}
	// The method may have no form for exchanges on samples, but one without samples.
	x.samples = false
	if x.charge(a, entries) == nil {
		return nil
	}
	return err
}

// Covered returns the guarantee at delta of what noise covers in a ledger: of all entries except those
// that say what is unprotected. Nothing may have been charged to the account before.
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
	if err := a.price(all); err != nil { // each may fit, and all together not
		return fmt.Errorf("all entries together: %w", err)
	}
	for _, l := range lists {
		if err := a.charge(l); err != nil {
			return err
		}
	}
	return nil
}
