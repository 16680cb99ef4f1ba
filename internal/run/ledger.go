package run

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ledgerFile is ledger.jsonl: append-only within a process, cut back to a
// checkpoint's length when a run is resumed, so that the events after it are
// recorded once and not twice.
type ledgerFile struct {
	path string
	f    *os.File
	w    *bufio.Writer
	size int64
}

// openLedger opens the ledger at its present length; fresh empties it.
func openLedger(path string, fresh bool) (*ledgerFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	l := &ledgerFile{path: path, f: f, w: bufio.NewWriter(f)}
	if fresh {
		err = l.cut(0)
	} else {
		l.size, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// Write appends; the bytes are durable after the next checkpoint.
func (l *ledgerFile) Write(p []byte) (int, error) {
	n, err := l.w.Write(p)
	l.size += int64(n)
	return n, err
}

// sync makes everything written so far durable and returns the length.
func (l *ledgerFile) sync() (int64, error) {
	if err := l.w.Flush(); err != nil {
		return 0, fmt.Errorf("ledger: %w", err)
	}
	if err := l.f.Sync(); err != nil {
		return 0, fmt.Errorf("ledger: %w", err)
	}
	return l.size, nil
}

// cut shortens the ledger to its first n bytes.
func (l *ledgerFile) cut(n int64) error {
	if err := l.w.Flush(); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if info, err := l.f.Stat(); err != nil {
		return fmt.Errorf("ledger: %w", err)
	} else if info.Size() < n {
		return fmt.Errorf("ledger %s has %d bytes where the checkpoint wants %d: it was cut or replaced", l.path, info.Size(), n)
	}
	if err := l.f.Truncate(n); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if _, err := l.f.Seek(n, io.SeekStart); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	l.size = n
	return nil
}

// close makes the ledger durable; an empty one is removed, a run without
// privacy events has none.
func (l *ledgerFile) close() error {
	n, err := l.sync()
	err = errors.Join(err, l.f.Close())
	if err == nil && n == 0 {
		if err = os.Remove(l.path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}
