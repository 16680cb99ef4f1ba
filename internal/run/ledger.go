package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/system"
)

// Ledger opens ledger.jsonl, where every mechanism of the run records its releases, and declares what the run
// can leave unprotected. Both come first: a run writes nothing before, and the ledger later refuses an
// unprotected event that was not declared. So the ledger of a run that stops at any moment says of unprotected
// data all that the finished one would.
//
// The ledger belongs to the run: checkpoints store its state, a resumed run gets it back as it was at the
// checkpoint, and it is closed when the run is done. A run that an older program began without a declaration
// gets it here.
//
// A run that spends from a budget reserves there what it will release at most (Declaration.Plan), before
// anything else. The ledger then refuses every release beyond that.
func (e *Env) Ledger(noise privacy.Noise, d privacy.Declaration) (*privacy.Ledger, error) {
	if e.books.ledger != nil {
		return nil, errors.New("the ledger is open already")
	}
	if !e.Writes() { // no files are written, so no one learns what was drawn
		l, err := privacy.NewLedger(noise)
		e.books.ledger = l
		return l, err
	}
	if noise == privacy.Secure {
		e.manifest.Secure = true // also where a key of the task asks for it, and not run.secure
		if err := e.Note(secureNote(e.manifest.Seed)); err != nil {
			return nil, err
		}
		d = e.continued(d)
	}
	if err := e.reserve(d); err != nil {
		return nil, err
	}
	l, resumed, err := e.openLedger(noise)
	if err != nil {
		return nil, err
	}
	if e.books.spends.id != 0 {
		if err := l.Limit(*d.Plan); err != nil {
			return nil, errors.Join(err, l.Leave())
		}
		e.books.spends.watch(l)
	}
	if err := l.Declare(d); err != nil {
		return nil, errors.Join(err, l.Leave())
	}
	e.books.ledger, e.books.resumed = l, resumed
	e.warnRepeatable(d)
	return l, nil
}

// Once returns the ledger for releases that a run makes once, before its training. A new run gets its own ledger. A run
// that continues from a checkpoint gets a temporary one: the same keys give the same release again, so it is no second
// release.
func (e *Env) Once() (*privacy.Ledger, error) {
	if e.books.ledger == nil {
		return nil, errNoLedger
	}
	if !e.books.resumed {
		return e.books.ledger, nil
	}
	return privacy.NewLedger(e.books.ledger.Noise())
}

// openLedger creates the ledger, or resumes the one of the checkpoint.
func (e *Env) openLedger(noise privacy.Noise) (l *privacy.Ledger, resumed bool, err error) {
	path := filepath.Join(e.Dir, LedgerName)
	st, ok, err := e.ledgerState()
	if err != nil {
		return nil, false, err
	}
	if ok {
		if l, err = privacy.ResumeLedger(path, st, e.books.key); err != nil {
			return nil, false, otherKey(err)
		}
		if l.Noise() != noise {
			return nil, false, errors.Join(fmt.Errorf("ledger %s has noise %q, but this run draws %q", path, l.Noise(),
				noise), l.Leave())
		}
		return l, true, nil
	}
	// Without a checkpoint the run repeats an earlier attempt from its beginning. The releases of that attempt
	// stay in the file until then.
	if e.Resume {
		l, err = privacy.RestartLedger(path, noise, e.books.key)
		if err == nil {
			return l, false, nil
		}
		if e.books.lists(path) {
			return nil, false, otherKey(err)
		}
	}
	if err := removeIfThere(path); err != nil {
		return nil, false, err
	}
	if l, err = privacy.CreateLedger(path, noise, e.books.key); err != nil {
		return nil, false, err
	}
	if err := system.SyncDir(e.Dir); err != nil { // or a crash of the machine could lose the file
		return nil, false, errors.Join(fmt.Errorf("ledger: %w", err), l.Leave())
	}
	return l, false, nil
}

// ReleasedForGood reports whether an earlier attempt of the run made releases that cannot be drawn again, according to
// its ledger. The run must then use the results of those releases.
func (e *Env) ReleasedForGood() bool {
	return e.Resume && releasedForGood(filepath.Join(e.Dir, LedgerName), e.books.key)
}

// ReleasedOf reports the same as ReleasedForGood, for the releases of one purpose.
func (e *Env) ReleasedOf(purpose string) bool {
	if !e.ReleasedForGood() {
		return false
	}
	l, err := privacy.Reading{Key: e.books.key, Unfinished: true}.File(filepath.Join(e.Dir, LedgerName))
	if err != nil {
		return true
	}
	return slices.ContainsFunc(l.Entries(), func(x privacy.Entry) bool { return x.Purpose == purpose })
}
