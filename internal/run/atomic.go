package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/system"
)

// tempPrefix marks unfinished files. A process killed while writing leaves one behind; the next
// writer of the directory removes it.
const tempPrefix = ".tmp-"

// WriteFile writes what write produces to path, whole or not at all: it writes and syncs a
// temporary file in the same directory, renames it to path and syncs the directory.
func WriteFile(path string, write func(w io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, tempPrefix+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, cause(err))
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return system.SyncDir(dir)
}

// cause removes the name of the temporary file from an error: the user asked for another one.
func cause(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe) && strings.Contains(pe.Path, tempPrefix):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}

// unfinished reports whether WriteFile gave a file its name: the prefix, the name of the file
// and a number.
func unfinished(name string) bool {
	name, ok := strings.CutPrefix(name, tempPrefix)
	at := strings.LastIndexByte(name, '-')
	return ok && at > 0 && at+1 < len(name) && strings.Trim(name[at+1:], "0123456789") == ""
}

// sweep removes the temporary files of writers that were killed. The caller holds the lock of
// the directory.
func sweep(dirs ...string) error {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && unfinished(e.Name()) {
				if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
