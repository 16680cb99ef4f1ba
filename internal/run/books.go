package run

import (
	"errors"
	"io/fs"

	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
)

// books holds the ledger of a run, its key, and the budget that pays for its releases.
type books struct {
	ledger  *privacy.Ledger // nil until asked for
	resumed bool            // the ledger continues from a checkpoint
	key     *privacy.Key    // of the ledger; nil: none
	spends  spending        // from a budget that the run shares with others
}

// spending identifies the reservation that a run spends from.
type spending struct {
	from string       // file of the budget; "": none
	file *budget.File // once the run has a reservation there
	id   int          // of the reservation; 0: not reserved yet
	mark string       // of this attempt at it
}

// watch reports every release to the budget before anything made from it is shown.
func (s spending) watch(l *privacy.Ledger) {
	l.Watch(s.file.Reservations[s.id-1].Releases, func(n int64) error {
		return s.file.Change(func(b *budget.File) error { return b.Shows(s.id, s.mark, n) })
	})
}

// end tells the budget what the run released and holds.
func (s spending) end(released []privacy.Entry, held []privacy.Holding) error {
	return s.file.Change(func(b *budget.File) error { return b.End(s.id, s.mark, released, held) })
}

// errNoLedger is a fault of the program: a run must declare what it leaves unprotected before it writes
// anything.
var errNoLedger = errors.New(
	"a run cannot write files before it has opened its ledger and declared there what is not protected")

// stated fails unless the run has declared what it leaves unprotected. It syncs all releases so far to the
// ledger file.
func (b *books) stated() error {
	if b.ledger == nil {
		return errNoLedger
	}
	return b.ledger.Sync()
}

// show writes all releases so far to the ledger file. Callers call it before anything made from them becomes visible.
// The lines survive a crash of the program, but not always one of the machine. After an error the ledger refuses all
// further releases, and results of those before must not be shown.
func (b *books) show() error {
	if b.ledger == nil {
		return nil
	}
	return b.ledger.Show()
}

// close closes the ledger of a run that is done and returns its closing line for the manifest. It leaves
// the ledger of an unfinished run open.
func (b *books) close(done bool) (*privacy.Seal, error) {
	if b.ledger == nil {
		return nil, nil
	}
	if !done {
		return nil, b.ledger.Leave()
	}
	if err := b.ledger.Close(); err != nil {
		return nil, err
	}
	s, _ := b.ledger.Seal()
	return &s, nil
}

// settle tells the budget that the run is done and how much it released. The manifest says so first: a run killed in
// between is done, and settles when it is resumed.
func (b *books) settle() error {
	if b.spends.id == 0 {
		return nil
	}
	return WithHint(b.spends.end(b.ledger.Entries(), b.ledger.Holdings()), "the run is done and its result is kept; "+
		"the budget still holds what the run reserved")
}

// giveBack returns the reservation of a run that ended before its first release. A run that released anything keeps its
// reservation, even if its files are removed. A resumed run whose ledger is not open yet may have released something.
func (b *books) giveBack(resumed bool) error {
	if b.spends.id == 0 || b.ledger == nil && resumed || b.ledger != nil && len(b.ledger.Entries()) > 0 {
		return nil
	}
	return b.spends.end(nil, nil)
}

// lists reports whether a file may hold a ledger with releases. A ledger that was cut in its first line lists none.
func (b *books) lists(path string) bool {
	_, err := privacy.Reading{Key: b.key, Unfinished: true}.File(path)
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

// released reports whether a ledger lists releases. It returns true for a ledger that cannot be read.
func released(path string, k *privacy.Key) bool {
	l, err := privacy.Reading{Key: k, Unfinished: true}.File(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return err != nil || len(l.Entries()) > 0
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
