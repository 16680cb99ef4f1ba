package system

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TempPrefix begins the names of unfinished files. A process that is killed while writing leaves one behind; Sweep
// removes it.
const TempPrefix = ".tmp-"

// The modes of files.
const (
	Shown   fs.FileMode = 0o666 // for files that others may read, as the user's umask allows
	Private fs.FileMode = 0o600 // for files with rows, or computed from them
)

// WriteFile writes the output of write to path, whole or not at all: it writes and syncs a temporary file in the same
// directory, renames it to path and syncs the directory. The umask decides who may read it. A symbolic link stays, and
// the file that it names is written. A path that is not a regular file, such as a pipe or a device, is written to
// directly.
func WriteFile(path string, write func(w io.Writer) error) error {
	return writeFile(path, Shown, write)
}

// WritePrivate writes a file like WriteFile that only its owner may read, because it holds rows, or was computed from
// them.
func WritePrivate(path string, write func(w io.Writer) error) error {
	return writeFile(path, Private, write)
}

func writeFile(path string, mode fs.FileMode, write func(w io.Writer) error) error {
	to, err := linked(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if info, err := os.Stat(to); err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, info, write)
	}
	temp, err := Stage(to, mode, write)
	if err == nil {
		if err = os.Rename(temp, to); err != nil {
			os.Remove(temp)
		} else {
			err = SyncDir(filepath.Dir(to))
		}
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return nil
}

// Stage writes and syncs a temporary file beside path, which the caller renames to path, and returns its name. On an
// error it leaves nothing behind.
func Stage(path string, mode fs.FileMode, write func(w io.Writer) error) (temp string, err error) {
	f, err := createTemp(filepath.Join(filepath.Dir(path), TempPrefix+filepath.Base(path)+"-"), mode)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// mostLinks is the largest number of symbolic links that are followed in a row.
const mostLinks = 32

// linked returns the name of the file to write for a path: the target of a symbolic link, even if there is no such file
// yet.
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

// writeThrough writes to an existing path that is not a regular file.
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

// mostTemps is the number of names tried for a temporary file. All are taken only if as many processes with the same
// number were killed.
const mostTemps = 10_000

// createTemp creates a new file whose name begins with start and ends in digits: the number of this process and one
// more. Unlike os.CreateTemp it leaves the mode to the umask.
func createTemp(start string, mode fs.FileMode) (f *os.File, err error) {
	for n := range mostTemps {
		f, err = os.OpenFile(fmt.Sprintf("%s%d%04d", start, os.Getpid(), n), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

// cause returns an error without the name of the temporary file, since the user asked for another one.
func cause(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe) && strings.Contains(pe.Path, TempPrefix):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}

// Unfinished reports whether a name is that of WriteFile's temporary files: the prefix, the name of the file and a
// number.
func Unfinished(name string) bool {
	name, ok := strings.CutPrefix(name, TempPrefix)
	at := strings.LastIndexByte(name, '-')
	return ok && at > 0 && at+1 < len(name) && strings.Trim(name[at+1:], "0123456789") == ""
}

// Sweep removes the temporary files of writers that were killed. The caller holds the lock of
// the directory.
func Sweep(dirs ...string) error {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && Unfinished(e.Name()) {
				if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
