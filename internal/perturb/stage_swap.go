package perturb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset/format"
	"privrec/internal/system"
)

// Names of a stage's folders and files while it replaces old files.
const (
	stagePrefix = ".tmp-perturb-"
	journalFile = "replaces" // JSON: the name of the output
	wasPrefix   = "was-"     // before the name of a file on the stage: the old file in its place
)

// journal names the set of files that a folder belongs to.
type journal struct {
	Out string `json:"out"` // in the folder that holds the stage
}

// swap gives the files of a stage their final names, in place of existing ones. The main output is removed first and
// placed last, so that it never stands beside a ledger or a report of another one. A process that dies in between
// leaves a folder with the old files and a journal, which interrupted finds.
func (s *Stage) swap() error {
	out := s.set.main()
	err := s.Create(journalFile,
		func(w io.Writer) error { return json.NewEncoder(w).Encode(journal{filepath.Base(out)}) })
	if err != nil {
		return &format.WriteError{File: out, Err: err}
	}
	var away, placed []Output
	for _, x := range slices.Backward(s.set.Files) {
		info, err := os.Lstat(x.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && (!s.set.Force || info.IsDir()):
			err = fs.ErrExist
		case err == nil:
			err = s.rename(x.Path, s.Path(wasPrefix+x.Name))
		}
		if err != nil {
			return s.undo(away, nil, &format.WriteError{File: x.Path, Err: err})
		}
		away = append(away, x)
	}
	for _, x := range s.set.Files {
		if err := s.rename(s.Path(x.Name), x.Path); err != nil {
			return s.undo(away, placed, &format.WriteError{File: x.Path, Err: err})
		}
		placed = append(placed, x)
	}
	return system.SyncDir(filepath.Dir(out))
}

// undo removes new files and puts old ones back, the output last.
func (s *Stage) undo(away, placed []Output, why error) error {
	for _, x := range slices.Backward(placed) {
		if err := os.Remove(x.Path); err != nil {
			s.stuck = true
			return errors.Join(why, fmt.Errorf("%s could not be removed again; what stood there is in %s: %w", x.Path,
				s.dir, err))
		}
	}
	for _, x := range slices.Backward(away) {
		if err := s.rename(s.Path(wasPrefix+x.Name), x.Path); err != nil {
			s.stuck = true
			return errors.Join(why, fmt.Errorf("what was in %s could not be put back and is in %s: %w", x.Path, s.dir,
				err))
		}
	}
	return why
}

// interrupted returns the folders beside an output in which a swap of it stopped half way: they hold some of the old
// files, or lack some of the new ones. A swap that had not begun, and one that had ended, left a whole set of files.
func (o Outputs) interrupted() (folders []string, err error) {
	out := o.main()
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil {
		return nil, nil // a folder that cannot be read cannot be written to: NewStage reports it
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), stagePrefix) {
			continue
		}
		dir := filepath.Join(filepath.Dir(out), e.Name())
		if _, half, err := o.inspect(dir); err != nil {
			return nil, err
		} else if half {
			folders = append(folders, dir)
		}
	}
	return folders, nil
}

// inspect reports whether a swap of other outputs began in a folder, and whether a swap of these stopped half way.
func (o Outputs) inspect(dir string) (others, half bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil // still at work, or given up before any name was changed
	}
	if err != nil {
		return false, false, err
	}
	var j journal
	if err := json.Unmarshal(b, &j); err != nil {
		return false, false, fmt.Errorf("%s: %w", filepath.Join(dir, journalFile), err)
	}
	if j.Out != filepath.Base(o.main()) {
		return true, false, nil
	}
	left, moved := 0, 0
	for _, x := range o.Files {
		if exists(filepath.Join(dir, x.Name)) {
			left++
		}
		if exists(filepath.Join(dir, wasPrefix+x.Name)) {
			moved++
		}
	}
	return false, left > 0 && (left < len(o.Files) || moved > 0), nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
