package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/privacy"
)

// LedgerName is the ledger of a run directory.
const LedgerName = "ledger.jsonl"

// Ledger opens ledger.jsonl, where every mechanism of the run records what it
// releases, and declares there what the run can leave unprotected. Both come first:
// a run keeps nothing before, and an unprotected event that was not declared is
// refused later. So a run that is stopped anywhere has a ledger that says what the
// finished one would.
//
// The ledger belongs to the run: checkpoints store its state, a resumed run gets
// it back as of the moment of the checkpoint, and it is closed when the run is done. A run
// that was begun by a program that declared nothing gets the declaration here.
func (e *Env) Ledger(noise privacy.Noise, d privacy.Declaration) (*privacy.Ledger, error) {
	if e.ledger != nil {
		return nil, errors.New("the ledger is open already")
	}
	if e.mode != running { // nothing is shown: no file says what was drawn
		l, err := privacy.NewLedger(noise)
		e.ledger = l
		return l, err
	}
	l, resumed, err := e.openLedger(noise)
	if err != nil {
		return nil, err
	}
	if err := l.Declare(d); err != nil {
		return nil, errors.Join(err, l.Leave())
	}
	e.ledger, e.released = l, resumed
	return l, nil
}

// Once is the ledger for what a run releases once, before its training: that of the
// run. In a run that goes on from a checkpoint it is another one, which nobody keeps:
// the same keys give the same release again, and that is not another one.
func (e *Env) Once() (*privacy.Ledger, error) {
	if e.ledger == nil {
		return nil, errNoLedger
	}
	if !e.released {
		return e.ledger, nil
	}
	return privacy.NewLedger(e.ledger.Noise())
}

// errNoLedger is about the program: what to say of its privacy comes before anything
// that a run keeps.
var errNoLedger = errors.New("nothing is kept before the run has opened its ledger, and declared there what is not protected")

// stated fails unless the run has said what it leaves unprotected. It puts every
// release so far on file.
func (e *Env) stated() error {
	if e.mode != running {
		return errWritesNothing
	}
	if e.ledger == nil {
		return errNoLedger
	}
	return e.ledger.Sync()
}

// openLedger creates the ledger, or resumes that of the checkpoint.
func (e *Env) openLedger(noise privacy.Noise) (l *privacy.Ledger, resumed bool, err error) {
	path := filepath.Join(e.Dir, LedgerName)
	st, ok, err := e.ledgerState()
	if err != nil {
		return nil, false, err
	}
	if ok {
		if l, err = privacy.ResumeKeyedLedger(path, st, e.key); err != nil {
			return nil, false, otherKey(err)
		}
		if l.Noise() != noise {
			return nil, false, errors.Join(fmt.Errorf("ledger %s is of %q, this run makes %q", path, l.Noise(), noise), l.Leave())
		}
		return l, true, nil
	}
	// No checkpoint to go on from: an earlier attempt is gone over again. What it shows
	// stays on file until then.
	if e.Resume {
		l, err = privacy.RestartLedger(path, noise, e.key)
		if err == nil {
			return l, false, nil
		}
		if e.lists(path) {
			return nil, false, otherKey(err)
		}
	}
	if err := removeIfThere(path); err != nil {
		return nil, false, err
	}
	if l, err = privacy.CreateKeyedLedger(path, noise, e.key); err != nil {
		return nil, false, err
	}
	if err := SyncDir(e.Dir); err != nil { // or a crash of the machine could lose the file
		return nil, false, errors.Join(fmt.Errorf("ledger: %w", err), l.Leave())
	}
	return l, false, nil
}

// lists reports whether a file is a ledger, which may list releases: one that was cut in
// its first line lists none.
func (e *Env) lists(path string) bool {
	_, err := privacy.Reading{Key: e.key, Unfinished: true}.File(path)
	return err == nil || errors.Is(err, privacy.ErrNoKey) || errors.Is(err, privacy.ErrWrongKey) || errors.Is(err, privacy.ErrUnkeyed)
}

// otherKey says what to do about a ledger that cannot be gone on with.
func otherKey(err error) error {
	switch {
	case errors.Is(err, privacy.ErrNoKey), errors.Is(err, privacy.ErrWrongKey):
		return &UsageError{Message: err.Error(), Fix: "resume with the key file that the run began with: --ledger-key FILE"}
	case errors.Is(err, privacy.ErrUnkeyed):
		return &UsageError{Message: err.Error(), Fix: "resume without --ledger-key, or start again with another --out"}
	}
	return WithHint(err, "the ledger was changed after the checkpoint, or is of another program; start again with another --out")
}

// show puts every release so far on file, before it shows on the way: a crash of the
// whole machine may lose the lines, that of the program does not. An error stays with the ledger, which takes no
// release after it.
func (e *Env) show() {
	if e.ledger != nil {
		e.ledger.Show()
	}
}

// closeLedger closes the ledger of a run that is done, and returns what the manifest
// repeats of it; one of a run that is not done it leaves open.
func (e *Env) closeLedger(done bool) (*privacy.Seal, error) {
	if e.ledger == nil {
		return nil, nil
	}
	if !done {
		return nil, e.ledger.Leave()
	}
	if err := e.ledger.Close(); err != nil {
		return nil, err
	}
	s, _ := e.ledger.Seal()
	return &s, nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
