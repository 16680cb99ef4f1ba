package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
	"privrec/internal/system"
)

// ParentKey is the configuration key of the budget that a run spends from.
const ParentKey = "privacy.parent"

// FromBudget sets the budget that several runs share.
type FromBudget struct {
	// Parent names the file of a budget from which all runs on the same data spend; "": none.
	Parent string `yaml:"parent,omitempty"`
}

// spendsFile holds the content of spends.json. It is durable before the budget knows Next. A run killed in between is
// recognised by one of the two marks, whichever the budget has.
type spendsFile struct {
	Budget      string `json:"budget"`
	Reservation int    `json:"reservation"`
	Mark        string `json:"mark,omitempty"` // of the attempt before; "": this one is the first
	Next        string `json:"next,omitempty"` // of this attempt; "": the program that wrote the file had no marks
}

// reserve reserves all that the run will release in its budget, before its first release. A resumed run has its
// reservation already and takes the next attempt at it. reserve refuses a run with an infinite account, one that cannot
// say what it will release, one that would overdraw the budget, and one that was resumed elsewhere.
func (e *Env) reserve(d privacy.Declaration) error {
	if e.books.spends.from == "" {
		return nil
	}
	if err := spendable(d, e.books.spends.from); err != nil {
		return err
	}
	path, err := filepath.Abs(e.books.spends.from)
	if err != nil {
		return fmt.Errorf("%s: %w", ParentKey, err)
	}
	r := e.reservation()
	r.Mark = budget.NewMark()
	was, standing, err := e.standing(path)
	if err != nil {
		return err
	}
	err = budget.Change(path, func(b *budget.File) error {
		id := b.Of(standing, r)
		if id != 0 && elsewhere(was, path) {
			return &budget.Refusal{Cause: budget.ErrElsewhere,
				Message: fmt.Sprintf("the run spends from the budget in %s, and %s is a copy of it: "+
					"what is released here would be paid there", was, path),
				Fix: "go on in the folder that was copied, or remove the copy of the budget " +
					"and make a new one, which pays for the whole run"}
		}
		if id != 0 && b.Reservations[id-1].State != budget.Nothing {
			err := b.Continue(id, r, standing, d.Plan, func(mark string) error {
				return e.writeSpends(spendsFile{path, id, mark, r.Mark})
			})
			e.books.spends = spending{e.books.spends.from, b, id, r.Mark}
			return err
		}
		// What an attempt was given back, or never got, is reserved now.
		if err := e.writeSpends(spendsFile{path, len(b.Reservations) + 1, "", r.Mark}); err != nil {
			return err
		}
		id, err := b.Reserve(r, d.Plan)
		e.books.spends = spending{e.books.spends.from, b, id, r.Mark}
		return err
	})
	if err != nil {
		e.books.spends = spending{from: e.books.spends.from}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &UsageError{Message: fmt.Sprintf("%s: %v", ParentKey, err),
			Fix: "make the budget first: privrec account budget create FILE"}
	}
	return err
}

// standing returns the budget that a resumed run spent from, and what its directory says of earlier attempts; zero for
// a new run.
func (e *Env) standing(path string) (from string, s budget.Standing, err error) {
	was, err := e.readSpends()
	if err != nil || was == (spendsFile{}) {
		return "", s, err
	}
	s.Marks = []string{was.Mark, was.Next}
	if was.Budget == path {
		s.ID = was.Reservation
	}
	if s.Ledger, err = (privacy.Reading{Key: e.books.key}).Extent(filepath.Join(e.Dir, LedgerName)); err != nil {
		return "", s, otherKey(err)
	}
	st, ok, err := e.ledgerState()
	switch {
	case ok:
		s.Continue = st.Chain
	case len(s.Ledger.Checks) > 0:
		s.Continue = s.Ledger.Checks[0] // the beginning
	}
	return was.Budget, s, err
}

// elsewhere reports whether a budget that a run spent from is still there, and is another file than path.
func elsewhere(was, path string) bool {
	a, err := os.Stat(was)
	if err != nil { // it was moved
		return false
	}
	b, err := os.Stat(path)
	return err == nil && !os.SameFile(a, b)
}

func (e *Env) writeSpends(s spendsFile) error {
	return system.WritePrivate(filepath.Join(e.Dir, spendsName), func(w io.Writer) error {
		text, err := json.Marshal(s)
		if err == nil {
			_, err = w.Write(append(text, '\n'))
		}
		return err
	})
}

// spendable returns an error for a run that no budget can cover.
func spendable(d privacy.Declaration, from string) error {
	if len(d.WithoutNoise) > 0 {
		var open []string
		for _, o := range d.WithoutNoise {
			open = append(open, o.What+" ("+o.Why+")")
		}
		return &budget.Refusal{Message: fmt.Sprintf("the run's epsilon is infinite, and nothing of it can be "+
			"spent from the budget in %s; without noise: %s", from, strings.Join(open, ", ")),
			Fix: "leave out " + ParentKey + ", or take a setting whose account is finite"}
	}
	if d.Plan == nil {
		return &budget.Refusal{Message: fmt.Sprintf("the run cannot say beforehand what it will release, so "+
			"nothing can be reserved of the budget in %s", from),
			Fix: "leave out " + ParentKey}
	}
	return nil
}

// reservation describes the run to a budget.
func (e *Env) reservation() budget.Reservation {
	dir, err := filepath.Abs(e.Dir)
	if err != nil {
		dir = e.Dir
	}
	r := budget.Reservation{Run: dir, Task: e.manifest.Task, Config: e.manifest.ConfigHash}
	if len(e.manifest.Data) > 0 {
		r.Data, r.SHA256 = e.manifest.Data[0].Name, e.manifest.Data[0].SHA256
	}
	return r
}

// readSpends reads the reservation of a resumed run; zero for a new run.
func (e *Env) readSpends() (s spendsFile, err error) {
	if !e.Resume {
		return s, nil
	}
	return readSpends(e.Dir)
}

// readSpends reads spends.json of a directory; zero if there is none.
func readSpends(dir string) (s spendsFile, err error) {
	path := filepath.Join(dir, spendsName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read %s: %w", path, err)
	}
	return s, nil
}

// settleDone settles a run that is done but may be unsettled because the process was killed in between. It does nothing
// if another attempt holds the reservation or the budget is gone.
func settleDone(dir string, k *privacy.Key) error {
	was, err := readSpends(dir)
	if err != nil || was.Next == "" {
		return err
	}
	l, err := privacy.Reading{Key: k}.File(filepath.Join(dir, LedgerName))
	if err != nil {
		return err
	}
	err = budget.Change(was.Budget, func(b *budget.File) error {
		id := b.Of(budget.Standing{Marks: []string{was.Next}}, budget.Reservation{})
		if id == 0 {
			return nil
		}
		return b.End(id, was.Next, l.Entries(), l.Holdings())
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, budget.ErrElsewhere) {
		return nil
	}
	return err
}
