package privacy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// A declaration writes its entries before the first release, with this name of a period and this purpose.
const (
	declaredPeriod  = "before the run"
	declaredPurpose = "unprotected"
)

// Declaration holds what a run states about its privacy before it releases anything.
type Declaration struct {
	WithoutNoise []Unprotected // everything that the run may leave unprotected
	Public       []Assumption  // what its guarantees take as public
	// Plan lists the most that the run will release; nil if the run cannot say so beforehand. Only a run with a plan
	// can spend from a budget that it shares with others. It is not written to the ledger.
	Plan *Plan
}

// covers reports whether the declaration already makes the epsilon of unit u infinite.
func (d *Declaration) covers(u Unit) bool {
	for _, o := range d.WithoutNoise {
		if o.Unit == "" || o.Unit == u {
			return true
		}
	}
	return false
}

// Declare records, before the first release, what the run leaves unprotected and what its guarantees take as public. It
// writes and syncs a line for each at once, whatever the period. From then on Record refuses an Unprotected event about
// a unit that the declaration does not cover. So a ledger whose epsilon is infinite at the end shows an infinite
// epsilon at every moment before.
//
// A new ledger takes a declaration before anything is recorded. A resumed ledger takes it again, and adds the lines
// that are missing.
func (l *Ledger) Declare(d Declaration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	if err := l.declare(d); err != nil {
		return fmt.Errorf("ledger: declare what is unprotected: %w", err)
	}
	return nil
}

func (l *Ledger) declare(d Declaration) error {
	if l.declared != nil {
		return errors.New("that was done already")
	}
	if !l.resumed && len(l.entries)+len(l.pending) > 0 {
		return errors.New("there are releases already")
	}
	s := sealing{key: l.head.key, chain: l.chain}
	public, entries := slices.Clone(l.public), slices.Clone(l.entries)
	for _, a := range d.Public {
		if slices.Contains(public, a) {
			continue
		}
		body, err := a.marshal()
		if err := s.add(line{public: &a}, body, err); err != nil {
			return err
		}
		public = append(public, a)
	}
	for _, o := range d.WithoutNoise {
		e := Entry{Period: declaredPeriod, Purpose: declaredPurpose, Count: 1, Event: o}
		if slices.Contains(entries, e) {
			continue
		}
		body, err := e.marshal()
		if err := s.add(line{entry: e}, body, err); err != nil {
			return err
		}
		entries = append(entries, e)
	}
	if err := l.insert(s); err != nil {
		return err
	}
	if err := l.sync(); err != nil {
		return err
	}
	l.declared = &Declaration{WithoutNoise: slices.Clone(d.WithoutNoise), Public: slices.Clone(d.Public)}
	return nil
}

// insert writes the lines of a declaration. Lines that an earlier run wrote after its checkpoint are kept behind them,
// with new checksums, unless the declaration was on file already. A closing line among them is dropped, because it
// counts too few entries.
func (l *Ledger) insert(s sealing) error {
	there := len(s.lines) <= len(l.rest)
	for i, x := range s.lines {
		there = there && bytes.Equal(x.text, l.rest[i].text)
	}
	if there || len(s.lines) == 0 {
		return l.settle(s.lines)
	}
	moved := sealing{key: s.key, chain: s.chain}
	for _, x := range l.rest {
		if x.end {
			continue
		}
		body, _ := s.key.form().Body(x.text) // it was read before, so it has a checksum
		if err := moved.add(x, body, nil); err != nil {
			return err
		}
	}
	var text []byte
	for _, x := range append(slices.Clone(s.lines), moved.lines...) {
		text = append(text, x.text...)
	}
	if err := l.write(text); err != nil {
		return err
	}
	l.rest = moved.lines
	for _, x := range s.lines {
		l.take(x)
	}
	return l.watched()
}

// declaredFor returns an error for an event with an unprotected part that the run's declaration does not cover. It
// accepts every event if the run declared nothing.
func (l *Ledger) declaredFor(e Event) error {
	if l.declared == nil {
		return nil
	}
	if u, open := AsUnprotected(e); open && !l.declared.covers(u.Unit) {
		return fmt.Errorf("%q is unprotected, and the run did not declare that before its first release", u.What)
	}
	for _, inner := range nested(e) {
		if err := l.declaredFor(inner); err != nil {
			return err
		}
	}
	return nil
}

// Assumptions returns what the run declared as public, in the order of the declaration.
func (l *Ledger) Assumptions() []Assumption {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.public)
}
