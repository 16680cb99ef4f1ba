package demo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"privrec/internal/run"
)

// discard removes what an earlier demo left in the directory, page and runs, so
// that this one starts afresh. What the demo did not make, and what another one
// is writing, is refused before anything is removed.
func discard(out string) error {
	var old []string
	for _, name := range []string{private, nonPrivate} {
		dir := filepath.Join(out, name)
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		m, err := run.ReadManifest(dir)
		if err != nil || m.Task != task {
			return taken(fmt.Sprintf("%s is there and is no run of the demo", dir))
		}
		if beingWritten(dir) {
			return taken(fmt.Sprintf("run directory %s is being written by another demo", dir))
		}
		old = append(old, dir)
	}
	page := filepath.Join(out, pageName)
	if _, err := os.Lstat(page); err == nil {
		if len(old) == 0 {
			return taken(fmt.Sprintf("%s is there and is no page of the demo", page))
		}
		old = append([]string{page}, old...) // first: a page without its runs would be taken for somebody's
	}
	for _, path := range old {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	return nil
}

func taken(message string) error {
	return &run.UsageError{Message: message, Fix: "choose another --out"}
}

// beingWritten reports whether a process holds the lock of a run directory.
func beingWritten(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return false
	}
	defer f.Close() // gives the lock back
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
