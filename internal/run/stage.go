package run

import (
	"io"
	"os"
	"path/filepath"

	"privrec/internal/dataset"
)

// Output is one of several files that come to be together: its name on the stage, and
// where it goes.
type Output struct{ Name, Path string }

// FreeOutputs refuses to write over what is there, and with force over what is read.
func FreeOutputs(files []Output, force bool, sources ...string) error {
	for _, x := range files {
		for _, path := range sources {
			if sameName(path, x.Path) {
				return &UsageError{Message: x.Path + " is read by this run: it cannot be written too", Fix: "choose another --out"}
			}
		}
		info, err := os.Lstat(x.Path)
		switch {
		case err != nil:
		case info.IsDir():
			return &UsageError{Message: x.Path + " is a folder", Fix: "choose another --out"}
		case !force:
			return &UsageError{Message: x.Path + " is there already", Fix: "choose another --out, or --force to replace what is there"}
		}
	}
	return nil
}

// sameName is true of two names of a file that is there.
func sameName(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Stage is a folder beside the last of its outputs in which they come to be. A killed
// process leaves the folder, .tmp-perturb-*, and nothing under the names of the files.
type Stage struct {
	dir   string
	files []Output
}

// NewStage makes the folder.
func NewStage(files []Output) (*Stage, error) {
	out := files[len(files)-1].Path
	dir, err := os.MkdirTemp(filepath.Dir(out), ".tmp-perturb-*")
	if err != nil {
		return nil, &dataset.WriteError{File: out, Err: err}
	}
	return &Stage{dir, files}, nil
}

// Dir is the folder, for what else the work needs on disk.
func (s *Stage) Dir() string { return s.dir }

// Path is where the output of a name comes to be.
func (s *Stage) Path(name string) string { return filepath.Join(s.dir, name) }

// Create writes an output whole.
func (s *Stage) Create(name string, write func(w io.Writer) error) error {
	return WriteFile(s.Path(name), write)
}

// Commit gives the files their names, in the order in which NewStage was given them.
// Where one cannot have its own, those that have go again.
func (s *Stage) Commit() error {
	for i, x := range s.files {
		if err := os.Rename(s.Path(x.Name), x.Path); err != nil {
			for _, made := range s.files[:i] {
				os.Remove(made.Path) // the error to tell is the first
			}
			return &dataset.WriteError{File: x.Path, Err: err}
		}
	}
	return syncDir(filepath.Dir(s.dir))
}

// Drop removes the folder and what is still in it.
func (s *Stage) Drop() error { return os.RemoveAll(s.dir) }
