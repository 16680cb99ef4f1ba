package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Hold makes dir and its parents and takes its lock, for a caller that keeps several runs in one directory. A second
// holder gets the same error as a second writer of a run. release frees the lock and removes the new directories that
// are still empty.
func Hold(dir string) (release func() error, err error) {
	made, err := makeDir(dir)
	if err != nil {
		return nil, err
	}
	l, err := acquire(dir)
	if err != nil {
		removeEmpty(made)
		return nil, err
	}
	return func() error {
		err := l.release()
		removeEmpty(made)
		return err
	}, nil
}

// Discard removes the run directories whose manifest has the note, with all their files, so
// that others can take their place. If one of dirs is another run, or a process is writing it,
// Discard fails before it removes anything. Leftovers of a run killed before it wrote its
// manifest stay, since they do not hinder the next run.
func Discard(note string, dirs ...string) (err error) {
	held := map[string]*lock{}
	defer func() {
		for _, l := range held {
			err = errors.Join(err, l.release())
		}
	}()
	for _, dir := range dirs {
		ours, err := carries(dir, note)
		if err != nil {
			return err
		}
		if !ours {
			continue
		}
		l, err := acquire(dir)
		if err != nil {
			return err
		}
		held[dir] = l
		if _, err := carries(dir, note); err != nil { // now that no other process can change it
			return err
		}
	}
	for _, dir := range dirs {
		if held[dir] == nil {
			continue
		}
		if err := empty(dir); err != nil {
			return fmt.Errorf("discard %s: %w", dir, err)
		}
		l := held[dir]
		delete(held, dir)
		if err := errors.Join(l.release(), os.Remove(dir)); err != nil {
			return fmt.Errorf("discard %s: %w", dir, err)
		}
	}
	return nil
}

// carries reports whether dir is a run whose manifest has the note. It returns false when dir
// does not exist or holds only leftovers of a killed process.
func carries(dir, note string) (bool, error) {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	foreign := &UsageError{Message: fmt.Sprintf("%s exists and is not a run %s", dir, note), Fix: another}
	if err != nil || !info.IsDir() {
		return false, foreign
	}
	c, err := inspect(dir, nil)
	switch {
	case err != nil, c.config, c.manifest != nil && !slices.Contains(c.manifest.Notes, note):
		return false, foreign
	}
	return c.manifest != nil, nil
}

// empty removes the files of a run directory, the manifest last: until then the directory is
// known to be a run's.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == manifestName || e.Name() == lockName {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return removeIfThere(filepath.Join(dir, manifestName))
}
