package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/rng"
	"privrec/internal/system"
)

// tempPrefix marks unfinished files. A process killed while writing leaves one behind; the next
// writer of the directory removes it.
const tempPrefix = ".tmp-"

// The modes of files and of run directories.
const (
	shown   fs.FileMode = 0o666 // what may be shown, to whom the user's umask lets read it
	private fs.FileMode = 0o600 // what holds rows, or was computed from them
	folder  fs.FileMode = 0o700 // of a run
)

// WriteFile writes what write produces to path, whole or not at all: it writes and syncs a
// temporary file in the same directory, renames it to path and syncs the directory. Who may read
// it is for the umask to say. A symbolic link stays, and the file that it names is written. What is
// no regular file, such as a pipe or a device, is written to as it is.
func WriteFile(path string, write func(w io.Writer) error) error {
	return writeFile(path, shown, write)
}

// WritePrivate does what WriteFile does, for a file that nobody but its owner may read: it holds
// rows, or what was computed from them.
func WritePrivate(path string, write func(w io.Writer) error) error {
	return writeFile(path, private, write)
}

func writeFile(path string, mode fs.FileMode, write func(w io.Writer) error) (err error) {
	to, err := linked(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if info, err := os.Stat(to); err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, info, write)
	}
	dir := filepath.Dir(to)
	f, err := createTemp(filepath.Join(dir, tempPrefix+filepath.Base(to)+"-"), mode)
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
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), to); err != nil {
		return err
	}
	return system.SyncDir(dir)
}

// mostLinks is how many symbolic links are followed, one after the other.
const mostLinks = 32

// linked returns the name of the file that is written in place of a path: that which a symbolic link names, also where
// there is none yet.
func linked(path string) (string, error) {
	for range mostLinks {
		to, err := os.Readlink(path)
		if err != nil { // no link
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("too many symbolic links")
}

// writeThrough writes to what is there and is no regular file.
func writeThrough(path string, is fs.FileInfo, write func(w io.Writer) error) error {
	if is.IsDir() {
		return fmt.Errorf("write %s: it is a folder", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	if err := write(f); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	return f.Close()
}

// createTemp makes a new file whose name begins with start and ends in digits. Unlike os.CreateTemp
// it leaves the mode to the umask.
func createTemp(start string, mode fs.FileMode) (f *os.File, err error) {
	names := rng.Crypto()
	for range 100 {
		f, err = os.OpenFile(fmt.Sprintf("%s%d", start, names.Uint64()), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
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
