package system

import (
	"errors"
	"os"
)

// ErrBusy is returned if another process holds a lock.
var ErrBusy = errors.New("another process holds the lock")

// LockError is the error for a file system that has no locks, or none left.
type LockError struct {
	Path string
	Err  error
}

// Error returns a message with the name of the file.
func (e *LockError) Error() string { return "lock " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the system's error.
func (e *LockError) Unwrap() error { return e.Err }

// CannotLock reports whether err says that a file could be opened but not locked, although no other process holds its
// lock.
func CannotLock(err error) bool {
	var no *LockError
	return errors.As(err, &no)
}

// Lock waits until no other process holds the lock of an open file, and takes it. The lock ends
// when the file is closed, or with the process. The file must be writable on Windows.
func Lock(f *os.File) error { return lock(f, true, true) }

// Share waits until no other process holds the lock alone, and shares it with others that read.
func Share(f *os.File) error { return lock(f, false, true) }

// TryLock takes the lock of an open file, or returns an error that is [ErrBusy] if another
// process holds it.
func TryLock(f *os.File) error { return lock(f, true, false) }

// SameFile reports whether path still names the open file f.
func SameFile(f *os.File, path string) bool {
	a, err1 := f.Stat()
	b, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// TakeFile opens the lock file of a path, creating it if it is missing, and takes its lock. If another process holds
// the lock, it returns an error that is [ErrBusy], and the open file. The holder may remove the file before it closes
// it.
func TakeFile(path string) (*os.File, error) {
	for {
		f, err := openLock(path)
		if err != nil {
			return nil, err
		}
		switch err := TryLock(f); {
		case errors.Is(err, ErrBusy):
			return f, err
		case err != nil:
			return nil, errors.Join(&LockError{path, err}, f.Close())
		}
		// The last holder may have removed the file between our open and our lock; then another
		// process can hold a lock on a new file.
		if SameFile(f, path) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// SamePath reports whether two paths lead to one existing file or folder.
func SamePath(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
