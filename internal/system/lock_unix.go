//go:build unix

package system

import (
	"errors"
	"os"
	"syscall"
)

func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
}

func lock(f *os.File, alone, wait bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how); {
		case err == syscall.EINTR:
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrBusy
		default:
			return err
		}
	}
}

// Folder holds the lock of a folder.
type Folder struct{ held *os.File }

// TakeFolder takes the lock of a folder. It returns an error that is [ErrBusy] if another process
// holds it, and one that is fs.ErrNotExist if the folder is gone.
func TakeFolder(path string) (*Folder, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	switch err = TryLock(f); {
	case err != nil && !errors.Is(err, ErrBusy):
		err = &LockError{path, err}
	case err == nil && !SameFile(f, path):
		err = &os.PathError{Op: "lock", Path: path, Err: os.ErrNotExist}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Folder{f}, nil
}

// Free releases the lock, whether or not the folder still exists. It does nothing for nil.
func (f *Folder) Free() error {
	if f == nil {
		return nil
	}
	return f.held.Close()
}
