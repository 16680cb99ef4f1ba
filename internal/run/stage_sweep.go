package run

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// newFolder makes the folder of a stage in dir and holds the kernel's lock on it, which
// ends with the process whatever kills it. Where the file system has no locks it makes
// do without: then no other process can tell either, and all leave the folder alone.
func newFolder(dir string) (path string, held *os.File, err error) {
	for {
		if path, err = os.MkdirTemp(dir, stagePrefix+"*"); err != nil {
			return "", nil, err
		}
		if held, err = os.Open(path); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return "", nil, errors.Join(err, os.Remove(path))
		}
		// Another process may have found the folder before it was locked.
		if !errors.Is(flock(held), syscall.EWOULDBLOCK) && sameFile(held, path) {
			return path, held, nil
		}
		if err := held.Close(); err != nil {
			return "", nil, err
		}
	}
}

func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// sweep removes the folders beside the outputs that killed processes left, of whatever
// outputs, and returns them. One with a journal stays unless it is of this output and
// not half way: files that it replaced may be in there and nowhere else.
func (o Outputs) sweep() (removed []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(o.main()))
	if err != nil {
		return nil, nil // as in halves: newFolder says so
	}
	for _, e := range entries {
		dir := filepath.Join(filepath.Dir(o.main()), e.Name())
		if !e.IsDir() || !strings.HasPrefix(e.Name(), stagePrefix) {
			continue
		}
		ok, err := o.sweepOne(dir)
		if err != nil {
			return removed, err
		}
		if ok {
			removed = append(removed, dir)
		}
	}
	return removed, nil
}

// sweepOne removes a folder that no process holds and that has nothing to lose.
func (o Outputs) sweepOne(dir string) (removed bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return false, nil // gone, or another user's
	}
	defer f.Close()
	if flock(f) != nil || !sameFile(f, dir) {
		return false, nil
	}
	if others, half, err := o.look(dir); err != nil || others || half {
		return false, err
	}
	return true, os.RemoveAll(dir)
}
