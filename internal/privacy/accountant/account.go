package accountant

import (
	"fmt"
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
// together, then the commit. One unit pays for the releases that it takes part in (Entry.Charged).
// Entries about nothing but the units in skip are left out: the caller vouches
// that they are about other data, as user features are when edges are counted.
// An entry about any other unit than the account's is refused.
func ChargeLedger(a Accountant, entries []privacy.Entry, skip ...privacy.Unit) error {
	each := func(step func(privacy.Event, int64) error) error {
		for i, e := range entries {
			if about(e.Event, skip) {
				continue
			}
			if err := step(e.Event, e.Charged()); err != nil {
				return fmt.Errorf("entry %d (%s, %s): %w", i+1, e.Period, e.Purpose, err)
			}
		}
		return nil
	}
	var all privacy.Composed
	err := each(func(e privacy.Event, n int64) error {
		all.Events = append(all.Events, privacy.SelfComposed{Event: e, Count: n})
		return a.Price(e, n)
	})
	if err != nil || len(all.Events) == 0 {
		return err
	}
	if err := a.Price(all, 1); err != nil { // each fits, and all may not
		return fmt.Errorf("all entries together: %w", err)
	}
	return each(a.Charge)
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
	case privacy.DiscreteGaussian:
		return slices.Contains(units, e.Unit)
	case privacy.DiscreteLaplace:
		return slices.Contains(units, e.Unit)
	case privacy.Exponential:
		return slices.Contains(units, e.Unit)
	case privacy.PureLDP:
		return slices.Contains(units, e.Unit)
	case privacy.RandomizedResponse:
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
