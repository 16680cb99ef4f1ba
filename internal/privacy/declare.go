package privacy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// What a run leaves unprotected is on file before it releases anything, under this
// name of a period and for this purpose.
const (
	declaredPeriod  = "before the run"
	declaredPurpose = "unprotected"
)

// Declaration is what a run says of its privacy before it releases anything.
type Declaration struct {
	Open   []Unprotected // everything that the run can leave unprotected
	Public []Assumption  // what its guarantees take as public
}

// covers reports whether the open items make the epsilon of a unit infinite.
func (d *Declaration) covers(u Unit) bool {
	for _, o := range d.Open {
		if o.Unit == "" || o.Unit == u {
			return true
		}
	}
	return false
}

// Declare states, before the first release, what the run leaves unprotected and what
// its guarantees take as public. It writes a line for each at once, durably,
// whatever period is open. From then on Record refuses an Unprotected event about a
// unit that no open item is about: a ledger read at any moment is infinite where the
// finished one is.
//
// A new ledger takes a declaration before anything is recorded. A ledger that is
// resumed takes it again, and gets the lines that it lacks.
func (l *Ledger) Declare(d Declaration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	if err := l.declare(d); err != nil {
		return fmt.Errorf("ledger: declare what is open: %w", err)
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
	public, open := slices.Clone(l.public), slices.Clone(l.entries)
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
	for _, o := range d.Open {
		e := Entry{Period: declaredPeriod, Purpose: declaredPurpose, Count: 1, Event: o}
		if slices.Contains(open, e) {
			continue
		}
		body, err := e.marshal()
		if err := s.add(line{entry: e}, body, err); err != nil {
			return err
		}
		open = append(open, e)
	}
	if err := l.insert(s); err != nil {
		return err
	}
	if err := l.sync(); err != nil {
		return err
	}
	l.declared = &Declaration{Open: slices.Clone(d.Open), Public: slices.Clone(d.Public)}
	return nil
}

// insert settles the lines of a declaration. Where they are not on file yet, the lines
// that a run before this one wrote after its checkpoint stay behind them, under new checks;
// its closing line does not, which counts what was there.
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
		body := append(bytes.Clone(x.text[:len(x.text)-len(x.chain)-len(chainKey)-len("\"}\n")]), '}')
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
	return nil
}

// declaredFor refuses an event of which a part is unprotected, on a ledger whose run
// has declared what is, and did not declare that.
func (l *Ledger) declaredFor(e Event) error {
	if l.declared == nil {
		return nil
	}
	if u, open := Opened(e); open && !l.declared.covers(u.Unit) {
		return fmt.Errorf("%q is unprotected, and the run did not declare that before its first release", u.What)
	}
	for _, part := range parts(e) {
		if err := l.declaredFor(part); err != nil {
			return err
		}
	}
	return nil
}
