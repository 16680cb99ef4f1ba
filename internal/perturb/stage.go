package perturb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/dataset/format"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Output is one of several files that appear together: its name on the stage, and its final path.
type Output struct{ Name, Path string }

// Outputs is a set of such files. The main file, which the others belong to, is the last.
type Outputs struct {
	Files   []Output
	Force   bool     // replace existing files
	Sources []string // files that are read: not even Force overwrites them
}

// main returns the path of the main file.
func (o Outputs) main() string { return o.Files[len(o.Files)-1].Path }

// Free fails, with a run.UsageError, if a file already exists or, with Force, if it is an input. Without Force it also
// fails on a set that an earlier process left half replaced.
func (o Outputs) Free() error {
	if !o.Force {
		halves, err := o.interrupted()
		if err != nil {
			return err
		}
		if len(halves) > 0 {
			return &run.UsageError{
				Message: fmt.Sprintf("a command before this one was stopped while it replaced the files of %s, or is "+
					"doing so now: they are incomplete, and what was there before is in %s", o.main(),
					strings.Join(halves, ", ")),
				Fix: fmt.Sprintf("move what begins with %q back from there to its name, or choose another --out, "+
					"or --force to write a new set and remove the folder", wasPrefix),
			}
		}
	}
	for _, x := range o.Files {
		for _, path := range o.Sources {
			if system.SamePath(path, x.Path) {
				return &run.UsageError{Message: x.Path + " is read by this run: it cannot be written too",
					Fix: "choose another --out"}
			}
		}
		info, err := os.Lstat(x.Path)
		switch {
		case err != nil:
		case info.IsDir():
			return &run.UsageError{Message: x.Path + " is a folder", Fix: "choose another --out"}
		case !info.Mode().IsRegular():
			return &run.UsageError{Message: x.Path + " is a link, a pipe or a device",
				Fix: "name a file: all files of a set get their names at once, which would replace it"}
		case !o.Force:
			return &run.UsageError{Message: x.Path + " is there already",
				Fix: "choose another --out, or --force to replace what is there"}
		}
	}
	return nil
}

// Stage is a folder beside the last of its outputs, in which all outputs are made. A process that
// is killed before Commit leaves the folder, .tmp-perturb-*, and nothing under the names of the
// files. The next stage beside it removes the folder.
type Stage struct {
	dir         string
	held        *system.Folder // its lock
	set         Outputs
	swept       []string // folders of dead processes that were removed
	interrupted []string // folders of earlier processes that were stopped half way
	rename      func(from, to string) error
	stuck       bool // the folder has old files that could not be put back, and must stay
}

// NewStage creates the folder, and removes those that killed processes left.
func NewStage(o Outputs) (*Stage, error) {
	halves, err := o.interrupted()
	if err != nil {
		return nil, err
	}
	swept, err := o.sweep()
	if err != nil {
		return nil, &format.WriteError{File: o.main(), Err: err}
	}
	dir, held, err := newFolder(filepath.Dir(o.main()))
	if err != nil {
		return nil, &format.WriteError{File: o.main(), Err: err}
	}
	return &Stage{dir: dir, held: held, set: o, swept: swept, interrupted: halves, rename: os.Rename}, nil
}

// Dir returns the folder, for other temporary files of the work.
func (s *Stage) Dir() string { return s.dir }

// Path returns the path at which an output is made.
func (s *Stage) Path(name string) string { return filepath.Join(s.dir, name) }

// Create writes a whole output that only its owner may read, since it has counts of true data.
func (s *Stage) Create(name string, write func(w io.Writer) error) error {
	return system.WritePrivate(s.Path(name), write)
}

// Commit gives the files their final names, with Force in place of existing ones; on failure it leaves the old files as
// they were. It removes and reports the folders of processes that were stopped while they replaced the same files.
func (s *Stage) Commit(p run.Progress) (err error) {
	if err := s.set.Free(); err != nil { // another run may have come first
		return err
	}
	if err := s.swap(); err != nil {
		return err
	}
	for _, dir := range s.swept {
		p.Phase(fmt.Sprintf("removed %s, which a command that was stopped had left", dir))
	}
	for _, dir := range s.interrupted {
		p.Phase(fmt.Sprintf("removed %s, which a command that was stopped while it replaced the files of %s had left",
			dir, s.set.main()))
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// Drop removes the folder with what is still in it. It keeps the folder if replaced files could not
// be put back, as the error of Commit said.
func (s *Stage) Drop() (err error) {
	if !s.stuck {
		err = os.RemoveAll(s.dir)
	}
	return errors.Join(err, s.held.Free())
}

// newFolder creates the folder of a stage in dir and takes the kernel's lock on it, which ends with the process. On a
// file system without locks it works without one: no process can then tell that another is alive, and all leave the
// folder alone.
func newFolder(dir string) (path string, held *system.Folder, err error) {
	for {
		if path, err = os.MkdirTemp(dir, stagePrefix+"*"); err != nil {
			return "", nil, err
		}
		// Another process may have found the folder before it was locked.
		held, err = system.TakeFolder(path)
		switch {
		case err == nil, system.CannotLock(err):
			return path, held, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, system.ErrBusy):
			return "", nil, errors.Join(err, os.Remove(path))
		}
	}
}

// sweep removes the folders that killed processes left beside the outputs, for any outputs, and returns them. It keeps
// a folder with a journal unless that is for these outputs and not half done, since the folder may hold the only copy
// of replaced files.
func (o Outputs) sweep() (removed []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(o.main()))
	if err != nil {
		return nil, nil // like interrupted: newFolder reports it
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

// sweepOne removes a folder that no process holds and that holds no only copy of a file.
func (o Outputs) sweepOne(dir string) (removed bool, err error) {
	held, err := system.TakeFolder(dir)
	if err != nil {
		return false, nil // gone, held, or another user's
	}
	defer held.Free()
	if others, half, err := o.inspect(dir); err != nil || others || half {
		return false, err
	}
	return true, os.RemoveAll(dir)
}
