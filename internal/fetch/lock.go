package fetch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"privrec/internal/dataset"
)

// The files that a fetch has in the folder of a set while it runs.
const (
	tempPrefix = ".fetch-" // unfinished files; the next fetch removes those of a process that was killed
	lockName   = ".fetch.lock"
	partExt    = ".part"
	stateExt   = ".json" // after partExt
)

// lock is the right to write the folder of a set: a kernel lock, which ends with its process in
// any case.
type lock struct{ f *os.File }

// acquire takes the lock of a folder, or fails if another process has it.
func acquire(folder string) (*lock, error) {
	path := filepath.Join(folder, lockName)
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, &dataset.Error{File: folder, Msg: "cannot write", Err: err, Hint: "choose a writable --data"}
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, &dataset.Error{File: folder, Msg: "another process is fetching into this folder", Hint: "wait for it or stop it"}
			}
			return nil, &dataset.Error{File: folder, Msg: "cannot lock", Err: err, Hint: "choose a --data on a file system with locks"}
		}
		// The last holder may have removed the file between our open and our lock.
		a, err1 := f.Stat()
		b, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(a, b) {
			return &lock{f}, nil
		}
		f.Close()
	}
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
