package budget

import (
	"fmt"
	"strings"
)

// entry holds a line after the first. One of its fields is set.
type entry struct {
	Reserve *Reservation `json:"reserve,omitempty"`
	Attempt *attempt     `json:"attempt,omitempty"`
	Shown   *shown       `json:"shown,omitempty"`
	End     *end         `json:"end,omitempty"`
}

// attempt is the line of a run that goes on under its reservation. From then on only this attempt may release.
type attempt struct {
	ID       int    `json:"id"`     // of the reservation
	Number   int    `json:"number"` // from 1; the run that made the reservation is 0
	Mark     string `json:"mark"`
	Chain    string `json:"chain"`    // check in the run's ledger from which it goes on
	Releases int64  `json:"releases"` // that its ledger lists
}

// shown is the line of an attempt whose ledger lists this many releases. It is written before anything made from them
// is shown.
type shown struct {
	ID       int   `json:"id"`
	Attempt  int   `json:"attempt"`
	Releases int64 `json:"releases"` // of the ledger, more than before
}

// end is the line of a run that ended.
type end struct {
	ID    int   `json:"id"`
	State State `json:"state"`
	Keeps Cost  `json:"keeps"`
}

// at returns a reservation by its number.
func (b *File) at(id int) (*Reservation, error) {
	if id < 1 || id > len(b.Reservations) {
		return nil, fmt.Errorf("it has no reservation %d", id)
	}
	return &b.Reservations[id-1], nil
}

// begun returns a reservation that has not ended.
func (b *File) begun(id int) (*Reservation, error) {
	r, err := b.at(id)
	if err == nil && r.State != Begun {
		err = fmt.Errorf("reservation %d has ended before", id)
	}
	return r, err
}

// allows returns an error for a line that cannot follow those before it.
func (b *File) allows(e entry) error {
	kinds := 0
	for _, is := range []bool{e.Reserve != nil, e.Attempt != nil, e.Shown != nil, e.End != nil} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		return fmt.Errorf("%d things in one line, want a reservation, an "+
			"attempt at one, what it shows, or its end", kinds)
	}
	switch {
	case e.Reserve != nil:
		return b.reserves(*e.Reserve)
	case e.Attempt != nil:
		return b.attempts(*e.Attempt)
	case e.Shown != nil:
		r, err := b.begun(e.Shown.ID)
		if err != nil {
			return err
		}
		if e.Shown.Attempt != r.Attempt || e.Shown.Releases <= r.Releases {
			return fmt.Errorf("attempt %d shows %d releases, after attempt %d with %d",
				e.Shown.Attempt, e.Shown.Releases, r.Attempt, r.Releases)
		}
		return nil
	}
	return b.ends(*e.End)
}

func (b *File) reserves(r Reservation) error {
	if r.ID != len(b.Reservations)+1 {
		return fmt.Errorf("reservation %d, want %d", r.ID, len(b.Reservations)+1)
	}
	if r.Mark != "" {
		if err := b.newMark(r.Mark); err != nil {
			return err
		}
	}
	if err := r.Reserved.validate(b.Terms); err != nil {
		return fmt.Errorf("reservation %d: %w", r.ID, err)
	}
	return nil
}

func (b *File) attempts(a attempt) error {
	r, err := b.begun(a.ID)
	if err != nil {
		return err
	}
	if a.Number != r.Attempt+1 || a.Releases < r.Releases {
		return fmt.Errorf("attempt %d goes on after %d releases, behind attempt %d with %d",
			a.Number, a.Releases, r.Attempt, r.Releases)
	}
	return b.newMark(a.Mark)
}

// markDigits is the length of a mark, in hex digits.
const markDigits = 32

// newMark returns an error for a malformed mark, or one that was used before.
func (b *File) newMark(mark string) error {
	if len(mark) != markDigits || strings.Trim(mark, "0123456789abcdef") != "" {
		return fmt.Errorf("the mark %q, want %d hex digits", mark, markDigits)
	}
	if b.marks[mark] != 0 {
		return fmt.Errorf("the mark of reservation %d comes twice", b.marks[mark])
	}
	return nil
}

func (b *File) ends(e end) error {
	r, err := b.begun(e.ID)
	if err != nil {
		return err
	}
	if err := e.Keeps.validate(b.Terms); err != nil {
		return fmt.Errorf("the end of reservation %d: %w", e.ID, err)
	}
	switch e.State {
	case Nothing:
		if e.Keeps != (Cost{}) || r.Releases > 0 {
			return fmt.Errorf("reservation %d is given back, after %d releases and keeping epsilon %v",
				e.ID, r.Releases, e.Keeps.Epsilon)
		}
	case Done:
		less := b.Terms.Rule == Renyi && !r.Whole && e.Keeps.Delta == r.Reserved.Delta &&
			e.Keeps.Divergence <= r.Reserved.Divergence
		if e.Keeps != r.Reserved && !less {
			return fmt.Errorf("reservation %d keeps other than it reserved", e.ID)
		}
	default:
		return fmt.Errorf("reservation %d ends as %q, want %q or %q",
			e.ID, string(e.State), string(Done), string(Nothing))
	}
	return nil
}

// apply updates the budget by a line that allows accepted.
func (b *File) apply(e entry) {
	mark := func(id int, mark string) {
		if b.marks == nil {
			b.marks = map[string]int{}
		}
		if mark != "" {
			b.marks[mark] = id
		}
	}
	switch {
	case e.Reserve != nil:
		r := *e.Reserve
		r.Held = r.Reserved
		b.Reservations = append(b.Reservations, r)
		mark(r.ID, r.Mark)
	case e.Attempt != nil:
		r := &b.Reservations[e.Attempt.ID-1]
		r.Attempt, r.Mark, r.Chain, r.Releases = e.Attempt.Number, e.Attempt.Mark, e.Attempt.Chain, e.Attempt.Releases
		mark(r.ID, r.Mark)
	case e.Shown != nil:
		b.Reservations[e.Shown.ID-1].Releases = e.Shown.Releases
	case e.End != nil:
		r := &b.Reservations[e.End.ID-1]
		r.State, r.Held = e.End.State, e.End.Keeps
	}
}
