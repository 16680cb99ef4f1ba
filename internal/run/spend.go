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
)

// ParentKey is the key of the budget that a run spends from, in configurations that have one.
const ParentKey = "privacy.parent"

// FromBudget is the part "privacy" of the configuration of a task that has no other key there.
type FromBudget struct {
	// Parent is the file of a budget that runs on the same data spend from; "": none.
	Parent string `yaml:"parent,omitempty"`
}

// spendsName names the file of a run directory that says which reservation of which budget is the run's.
const spendsName = "spends.json"

// spending is what a run spends from.
type spending struct {
	from string // file of the budget; "": none
	id   int    // of the reservation; 0: not reserved yet
}

// spendsFile is what spends.json holds.
type spendsFile struct {
	Budget      string `json:"budget"`
	Reservation int    `json:"reservation"`
}

// reserve reserves what the run will release at most in the budget that it spends from, before its first
// release. A run that goes on has its reservation already. It refuses a run whose account is infinite, one
// that cannot say what it will release, and one that would overdraw the budget.
func (e *Env) reserve(d privacy.Declaration) error {
	if e.spends.from == "" {
		return nil
	}
	if err := spendable(d, e.spends.from); err != nil {
		return err
	}
	path, err := filepath.Abs(e.spends.from)
	if err != nil {
		return fmt.Errorf("%s: %w", ParentKey, err)
	}
	r := e.reservation()
	was, err := e.readSpends()
	if err != nil {
		return err
	}
	err = budget.Change(path, func(b *budget.File) error {
		if was.Reservation != 0 && was.Budget == path {
			e.spends.id = was.Reservation
			return b.Continues(was.Reservation, r)
		}
		id, err := b.Reserve(r, d.Plan)
		e.spends.id = id
		return err
	})
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return &UsageError{Message: fmt.Sprintf("%s: %v", ParentKey, err), Fix: "make the budget first: privrec account budget create FILE"}
		}
		return err
	}
	return WriteFile(filepath.Join(e.Dir, spendsName), func(w io.Writer) error {
		text, err := json.Marshal(spendsFile{path, e.spends.id})
		if err == nil {
			_, err = w.Write(append(text, '\n'))
		}
		return err
	})
}

// spendable refuses a run that no budget covers.
func spendable(d privacy.Declaration, from string) error {
	if len(d.WithoutNoise) > 0 {
		var open []string
		for _, o := range d.WithoutNoise {
			open = append(open, o.What+" ("+o.Why+")")
		}
		return &budget.Refusal{Message: fmt.Sprintf("the run's epsilon is infinite, and nothing of it can be spent from the budget in %s; without noise: %s", from, strings.Join(open, ", ")),
			Fix: "leave out " + ParentKey + ", or take a setting whose account is finite"}
	}
	if d.Plan == nil {
		return &budget.Refusal{Message: fmt.Sprintf("the run cannot say beforehand what it will release, so nothing can be reserved of the budget in %s", from),
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

// readSpends reads which reservation is that of a run that goes on; zero for a run that begins.
func (e *Env) readSpends() (s spendsFile, err error) {
	if !e.Resume {
		return s, nil
	}
	b, err := os.ReadFile(filepath.Join(e.Dir, spendsName))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read %s: %w", filepath.Join(e.Dir, spendsName), err)
	}
	return s, nil
}

// settle says to the budget that the run is done, and what it released.
func (e *Env) settle() error {
	if e.spends.id == 0 {
		return nil
	}
	return budget.Change(e.spends.from, func(b *budget.File) error {
		return b.End(e.spends.id, e.ledger.Entries(), e.ledger.Holdings())
	})
}

// giveBack gives the reservation of a run back that ended before its first release. What was reserved by a
// run that released anything stays, also where its files are removed.
func (e *Env) giveBack() error {
	if e.spends.id == 0 || e.ledger == nil && e.Resume || e.ledger != nil && len(e.ledger.Entries()) > 0 {
		return nil
	}
	return budget.Change(e.spends.from, func(b *budget.File) error { return b.End(e.spends.id, nil, nil) })
}
