package run

import (
	"errors"
	"fmt"
	"io/fs"
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
	if e.ledger != nil {
		return nil, errors.New("the ledger is open already")
	}
	if e.mode != running { // no files are written, so no one learns what was drawn
		l, err := privacy.NewLedger(noise)
		e.ledger = l
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
	if e.spends.id != 0 {
		if err := l.Limit(*d.Plan); err != nil {
			return nil, errors.Join(err, l.Leave())
		}
		e.watch(l)
	}
	if err := l.Declare(d); err != nil {
		return nil, errors.Join(err, l.Leave())
	}
	e.ledger, e.resumed = l, resumed
	e.warnRepeatable(d)
	return l, nil
}

// Once returns the ledger for releases that a run makes once, before its training. A new run gets its own ledger. A run
// that continues from a checkpoint gets a temporary one: the same keys give the same release again, so it is no second
// release.
func (e *Env) Once() (*privacy.Ledger, error) {
	if e.ledger == nil {
		return nil, errNoLedger
	}
	if !e.resumed {
		return e.ledger, nil
	}
	return privacy.NewLedger(e.ledger.Noise())
}

// errNoLedger is a fault of the program: a run must declare what it leaves unprotected before it writes
// anything.
var errNoLedger = errors.New(
	"a run cannot write files before it has opened its ledger and declared there what is not protected")

// stated fails unless the run has declared what it leaves unprotected. It syncs all releases so far to the
// ledger file.
func (e *Env) stated() error {
	if e.mode != running {
		return errWritesNothing
	}
	if e.ledger == nil {
		return errNoLedger
	}
	return e.ledger.Sync()
}

// openLedger creates the ledger, or resumes the one of the checkpoint.
func (e *Env) openLedger(noise privacy.Noise) (l *privacy.Ledger, resumed bool, err error) {
	path := filepath.Join(e.Dir, LedgerName)
	st, ok, err := e.ledgerState()
	if err != nil {
		return nil, false, err
	}
	if ok {
		if l, err = privacy.ResumeLedger(path, st, e.key); err != nil {
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
	if l, err = privacy.CreateLedger(path, noise, e.key); err != nil {
		return nil, false, err
	}
	if err := system.SyncDir(e.Dir); err != nil { // or a crash of the machine could lose the file
		return nil, false, errors.Join(fmt.Errorf("ledger: %w", err), l.Leave())
	}
	return l, false, nil
}

// lists reports whether a file may hold a ledger with releases. A ledger that was cut in its first line lists none.
func (e *Env) lists(path string) bool {
	_, err := privacy.Reading{Key: e.key, Unfinished: true}.File(path)
	return err == nil || errors.Is(err, privacy.ErrNoKey) || errors.Is(err, privacy.ErrWrongKey) ||
		errors.Is(err, privacy.ErrUnkeyed)
}

// releasedForGood reports whether a ledger lists releases that a repeated run would make a second time, because their
// noise has no seed. It returns true for a ledger that cannot be read with this key. A last line that a kill cut off
// does not hide the lines before it.
func releasedForGood(path string, k *privacy.Key) bool {
	x, err := privacy.Reading{Key: k}.Extent(path)
	if err != nil {
		return errors.Is(err, privacy.ErrNoKey) || errors.Is(err, privacy.ErrWrongKey) ||
			errors.Is(err, privacy.ErrUnkeyed)
	}
	return x.Noise == privacy.Secure && x.Releases > 0
}

// ReleasedForGood reports whether an earlier attempt of the run made releases that cannot be drawn again, according to
// its ledger. The run must then use the results of those releases.
func (e *Env) ReleasedForGood() bool {
	return e.Resume && releasedForGood(filepath.Join(e.Dir, LedgerName), e.key)
}

// ReleasedOf reports the same as ReleasedForGood, for the releases of one purpose.
func (e *Env) ReleasedOf(purpose string) bool {
	if !e.ReleasedForGood() {
		return false
	}
	l, err := privacy.Reading{Key: e.key, Unfinished: true}.File(filepath.Join(e.Dir, LedgerName))
	if err != nil {
		return true
	}
	return slices.ContainsFunc(l.Entries(), func(x privacy.Entry) bool { return x.Purpose == purpose })
}

// otherKey adds advice to the error of a ledger that cannot be continued.
func otherKey(err error) error {
	switch {
	case errors.Is(err, privacy.ErrNoKey), errors.Is(err, privacy.ErrWrongKey):
		return &UsageError{Message: err.Error(),
			Fix: "resume with the key file that the run began with: --ledger-key FILE"}
	case errors.Is(err, privacy.ErrUnkeyed):
		return &UsageError{Message: err.Error(), Fix: "resume without --ledger-key, or start again with another --out"}
	}
	return WithHint(err, "the ledger was changed after the checkpoint, or is of another program; start again with "+
		"another --out")
}

// show writes all releases so far to the ledger file. Callers call it before anything made from them becomes visible.
// The lines survive a crash of the program, but not always one of the machine. After an error the ledger refuses all
// further releases, and results of those before must not be shown.
func (e *Env) show() error {
	if e.ledger == nil {
		return nil
	}
	return e.ledger.Show()
}

// closeLedger closes the ledger of a run that is done and returns its closing line for the manifest. It leaves
// the ledger of an unfinished run open.
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

// released reports whether a ledger lists releases. It returns true for a ledger that cannot be read.
func released(path string, k *privacy.Key) bool {
	l, err := privacy.Reading{Key: k, Unfinished: true}.File(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return err != nil || len(l.Entries()) > 0
}
