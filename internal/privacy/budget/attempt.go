package budget

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// ErrElsewhere is returned for a run that may not release under a reservation: its directory is a copy or an older
// state of the one that may, or the run went on elsewhere.
var ErrElsewhere = errors.New("the run directory is a copy, or the run went on elsewhere")

// NewMark returns a new mark of an attempt: 128 cryptographic bits.
func NewMark() string {
	bits := rng.Crypto()
	return fmt.Sprintf("%016x%016x", bits.Uint64(), bits.Uint64())
}

// Standing holds the record that a run's directory has of its reservation, for a run that wants to go on.
type Standing struct {
	ID       int      // number of its reservation; 0: not known
	Marks    []string // of attempts that the directory may have had
	Ledger   privacy.Extent
	Continue string // checksum in the ledger from which the run goes on
}

// Of returns the number of the reservation that the directory of run r belongs to, 0 for none. It goes by the
// directory's marks, or by its number if it is from before there were marks.
func (b *File) Of(s Standing, r Reservation) int {
	for _, m := range s.Marks {
		if id := b.marks[m]; id != 0 {
			return id
		}
	}
	if s.ID < 1 || s.ID > len(b.Reservations) || !slices.Contains(s.Marks, "") {
		return 0
	}
	x := b.Reservations[s.ID-1]
	if slices.Max(s.Marks) == "" || x.Mark == "" && x.Config == r.Config && x.Task == r.Task {
		return s.ID
	}
	return 0 // the mark of an attempt that was never on file
}

// Continue registers the next attempt of a stopped run at reservation id, with a mark of its own. r describes the run,
// p the most that it may release. keep is called before the attempt is on file; it must durably store the marks of the
// previous attempt and of this one in the run directory.
//
// Continue refuses a directory that does not have the mark of the last attempt, or whose ledger lists less than the
// budget knows of. The error is a *Refusal that wraps ErrElsewhere. The package comment explains why these checks
// suffice.
func (b *File) Continue(id int, r Reservation, s Standing, p *privacy.Plan, keep func(was string) error) error {
	x, err := b.at(id)
	if err != nil {
		return fmt.Errorf("budget %s: %w", b.path, err)
	}
	if x.Config != r.Config || x.Task != r.Task || x.SHA256 != r.SHA256 {
		return fmt.Errorf("budget %s: reservation %d is of another run, in %s", b.path, id, x.Run)
	}
	switch {
	case x.State != Begun:
		return b.elsewhere(x, "its run has ended")
	case !slices.Contains(s.Marks, x.Mark):
		return b.elsewhere(x, fmt.Sprintf("attempt %d took it on from another copy of the "+
			"directory, or from an older or newer state of it", x.Attempt))
	case s.Ledger.Releases < x.Releases:
		return b.elsewhere(x, fmt.Sprintf("%d releases are known to it, and the ledger in this directory lists %d",
			x.Releases, s.Ledger.Releases))
	case !s.Ledger.Has(x.Chain):
		return b.elsewhere(x,
			"the ledger in this directory is not the one that attempt "+fmt.Sprint(x.Attempt)+" went on with")
	}
	switch c, err := b.price(p); {
	case err != nil:
		return err
	case c.Epsilon > x.Reserved.Epsilon*(1+privacy.PlanMargin) && b.Terms.Rule != Renyi, c.Delta > x.Reserved.Delta,
		c.Divergence > x.Reserved.Divergence*(1+privacy.PlanMargin):
		return &Refusal{Message: fmt.Sprintf(
			"the run would spend epsilon %.6g at delta %.6g now, and reserved epsilon %.6g at delta %.6g in %s: "+
				"the program that goes on counts it otherwise than the one that began it",
			c.Epsilon, c.Delta, x.Reserved.Epsilon, x.Reserved.Delta, b.path),
			Fix: "go on with the program that began the run, or start again with another --out"}
	}
	if err := keep(x.Mark); err != nil {
		return err
	}
	return b.add(entry{Attempt: &attempt{ID: id, Number: x.Attempt + 1, Mark: r.Mark, Chain: s.Continue,
		Releases: s.Ledger.Releases}})
}

// elsewhere returns the refusal of a run that may not release under a reservation.
func (b *File) elsewhere(x *Reservation, why string) error {
	return &Refusal{Cause: ErrElsewhere, Message: fmt.Sprintf("%v: of reservation %d in %s, %s; going on here would "+
		"release a second time what is paid once", ErrElsewhere, x.ID, b.path, why),
		Fix: "go on in the directory that was resumed last (" + x.Run + " made the reservation), or start again with " +
			"another --out, which pays for itself"}
}

// mine returns the reservation of an attempt, if that attempt may release.
func (b *File) mine(id int, mark string) (*Reservation, error) {
	x, err := b.at(id)
	if err != nil {
		return nil, fmt.Errorf("budget %s: %w", b.path, err)
	}
	if x.Mark != mark {
		return nil, b.elsewhere(x, fmt.Sprintf("attempt %d took it on from another copy of the directory", x.Attempt))
	}
	return x, nil
}

// Shows durably records how many releases the ledger of an attempt lists; call it before anything made from them is
// shown. It refuses an attempt that another one has followed.
func (b *File) Shows(id int, mark string, releases int64) error {
	x, err := b.mine(id, mark)
	switch {
	case err != nil:
		return err
	case x.State != Begun:
		return b.elsewhere(x, "its run has ended")
	case releases <= x.Releases:
		return nil
	}
	return b.add(entry{Shown: &shown{ID: id, Attempt: x.Attempt, Releases: releases}})
}

// End records that the run of a reservation ended, and what it released. A nil released means that the run released
// nothing, which gives its reservation back. A second End changes nothing.
func (b *File) End(id int, mark string, released []privacy.Entry, held []privacy.Holding) error {
	x, err := b.mine(id, mark)
	if err != nil || x.State != Begun {
		return err
	}
	listed := int64(0)
	for _, e := range released {
		if _, open := privacy.AsUnprotected(e.Event); !open {
			listed += min(e.Count, math.MaxInt64-listed)
		}
	}
	e := end{ID: id, State: Done, Keeps: x.Reserved}
	switch {
	case listed < x.Releases:
		return fmt.Errorf("budget %s: reservation %d ends with %d releases, and %d were shown",
			b.path, id, listed, x.Releases)
	case len(released) == 0:
		e.State, e.Keeps = Nothing, Cost{}
	case b.Terms.Rule == Renyi && !x.Whole:
		c, _, err := b.Terms.Price(released, held, x.Reserved.Delta)
		if err != nil {
			return fmt.Errorf("budget %s: price of what the run released: %w", b.path, err)
		}
		if c.Divergence < x.Reserved.Divergence {
			e.Keeps = c
		}
	}
	return b.add(entry{End: &e})
}
