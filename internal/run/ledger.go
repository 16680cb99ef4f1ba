package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/privacy"
)

// Ledger opens ledger.jsonl, where every mechanism of the run records what it
// releases. It belongs to the run: checkpoints store its state, a resumed run
// gets it back cut to the moment of the checkpoint, and it is closed with the
// run. Later calls return the same ledger.
func (e *Env) Ledger(noise privacy.Noise) (*privacy.Ledger, error) {
	if e.ledger != nil {
		if e.ledger.Noise() != noise {
			return nil, fmt.Errorf("ledger is open for %q already", e.ledger.Noise())
		}
		return e.ledger, nil
	}
	path := filepath.Join(e.Dir, "ledger.jsonl")
	st, ok, err := e.ledgerState()
	if err != nil {
		return nil, err
	}
	if ok {
		if e.ledger, err = privacy.ResumeLedger(path, st); err != nil {
			return nil, WithHint(err, "the ledger was changed after the checkpoint; start again with another --out")
		}
		if e.ledger.Noise() != noise {
			return nil, fmt.Errorf("ledger %s is of %q, this run makes %q", path, e.ledger.Noise(), noise)
		}
		return e.ledger, nil
	}
	// No checkpoint to go on from: what an earlier attempt recorded is void.
	if err := removeIfThere(path); err != nil {
		return nil, err
	}
	if e.ledger, err = privacy.CreateLedger(path, noise); err != nil {
		return nil, err
	}
	if err := syncDir(e.Dir); err != nil { // or a crash of the machine could lose the file
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return e.ledger, nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
