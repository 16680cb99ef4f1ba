package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Hold makes dir and its parents and takes its lock, for what writes a directory
// of its own around several runs. A second holder gets the error of a second
// writer. release gives it free, and removes what was made and is still empty.
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

// Discard removes run directories, with all that is in them, so that others can
// take their place: those that are there and whose manifest carries the note. One
// that is not such a run, or that a process is writing, is refused before anything
// is removed. What a run leaves that was killed before its manifest stood is no
// hindrance to the next one and stays.
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
		if _, err := carries(dir, note); err != nil { // now that nobody else can change it
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

// carries reports whether dir is a run whose manifest has the note; false when
// there is nothing, or only what a killed process left.
func carries(dir, note string) (bool, error) {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	foreign := &UsageError{Message: fmt.Sprintf("%s is there and is no run %s", dir, note), Fix: another}
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

// empty removes what is in a run directory, the manifest last: as long as it
// stands, the rest is known to be ours.
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
