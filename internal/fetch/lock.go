package fetch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/system"
)

// Files that a fetch has in the folder of a set while it runs.
const (
	tempPrefix = ".fetch-" // unfinished files; the next fetch removes those of a process that was killed
	lockName   = ".fetch.lock"
	partExt    = ".part"
	stateExt   = ".json" // after partExt
)

// lock is the right to write the folder of a set: a kernel lock, which ends with its process in any case.
type lock struct{ f *os.File }

// acquire takes the lock of a folder, or fails if another process has it.
func acquire(folder string) (*lock, error) {
	f, err := system.TakeFile(filepath.Join(folder, lockName))
	switch {
	case errors.Is(err, system.ErrBusy):
		f.Close()
		return nil, &dataset.Error{File: folder, Msg: "another process is fetching into this folder",
			Hint: "wait for it or stop it"}
	case system.CannotLock(err):
		return nil, &dataset.Error{File: folder, Msg: "cannot lock", Err: err,
			Hint: "choose a --data on a file system with locks"}
	case err != nil:
		return nil, &dataset.Error{File: folder, Msg: "cannot write", Err: err, Hint: "choose a writable --data"}
	}
	return &lock{f}, nil
}

// release frees the folder. It removes the file first, while it still holds the lock.
func (l *lock) release() {
	os.Remove(l.f.Name())
	l.f.Close()
}

// sweep removes what killed fetches left behind, except downloads that can continue.
// The caller holds the lock.
func sweep(folder string) error {
	entries, err := os.ReadDir(folder)
	if err == nil {
		err = system.Sweep(folder)
	}
	if err != nil {
		return &dataset.Error{File: folder, Msg: "cannot read", Err: err}
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
				return &dataset.Error{File: folder, Msg: "cannot clean up", Err: err}
			}
		}
	}
	return nil
}
