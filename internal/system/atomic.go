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

// TempPrefix begins the names of unfinished files. A process killed while writing leaves one behind; Sweep removes it.
const TempPrefix = ".tmp-"

// The modes of files.
const (
	Shown   fs.FileMode = 0o666 // what may be shown, to whom the user's umask lets read it
	Private fs.FileMode = 0o600 // what holds rows, or was computed from them
)

// WriteFile writes what write produces to path, whole or not at all: it writes and syncs a
// temporary file in the same directory, renames it to path and syncs the directory. Who may read
// it is for the umask to say. A symbolic link stays, and the file that it names is written. What is
// no regular file, such as a pipe or a device, is written to as it is.
func WriteFile(path string, write func(w io.Writer) error) error {
	return writeFile(path, Shown, write)
}

// WritePrivate does what WriteFile does, for a file that nobody but its owner may read: it holds
// rows, or what was computed from them.
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

// mostTemps is how many names a temporary file is tried under. All of them are there where a process of the same
// number was killed as often.
const mostTemps = 10_000

// createTemp makes a new file whose name begins with start and ends in digits: the number of this process and one more.
// Unlike os.CreateTemp it leaves the mode to the umask.
func createTemp(start string, mode fs.FileMode) (f *os.File, err error) {
	for n := range mostTemps {
		f, err = os.OpenFile(fmt.Sprintf("%s%d%04d", start, os.Getpid(), n), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
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
	case errors.As(err, &pe) && strings.Contains(pe.Path, TempPrefix):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}

// Unfinished reports whether WriteFile gave a file its name: the prefix, the name of the file
// and a number.
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
