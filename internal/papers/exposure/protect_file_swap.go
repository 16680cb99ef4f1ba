package exposure

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

	"privrec/internal/dataset"
	"privrec/internal/run"
)

// What a swap keeps in the folder of its stage, besides the new files.
const (
	stagePrefix = ".tmp-perturb-" // how run.NewStage names folders
	journalFile = "replaces"      // JSON: the name of the output
	wasPrefix   = "was-"          // before the name of a file on the stage: what stood in its place
)

// journal names the set of files that a folder is for.
type journal struct {
	Out string `json:"out"` // in the folder's own folder
}

// swap gives the files of a stage their names, in place of those that are there. The
// output goes first and comes last: at no moment does it stand beside a ledger or a report
// of another one. Whoever dies in between leaves a folder with the old files and a journal,
// which interruptedSwap finds.
type swap struct {
	st     *run.Stage
	files  []run.Output // the output last
	force  bool
	rename func(from, to string) error

	stuck bool // old files are in the folder and could not be put back: it must stay
}

// commit makes the names those of the new files, or leaves the old ones as they were.
func (s *swap) commit() error {
	out := s.files[len(s.files)-1].Path
	err := s.st.Create(journalFile, func(w io.Writer) error { return json.NewEncoder(w).Encode(journal{filepath.Base(out)}) })
	if err != nil {
		return &dataset.WriteError{File: out, Err: err}
	}
	var away, placed []run.Output
	for _, x := range slices.Backward(s.files) {
		switch _, err = os.Lstat(x.Path); {
		case errors.Is(err, fs.ErrNotExist):
			err = nil
			continue
		case err == nil && !s.force:
			err = fs.ErrExist
		case err == nil:
			err = s.rename(x.Path, s.st.Path(wasPrefix+x.Name))
		}
		if err != nil {
			return s.undo(away, nil, &dataset.WriteError{File: x.Path, Err: err})
		}
		away = append(away, x)
	}
	for _, x := range s.files {
		if err := s.rename(s.st.Path(x.Name), x.Path); err != nil {
			return s.undo(away, placed, &dataset.WriteError{File: x.Path, Err: err})
		}
		placed = append(placed, x)
	}
	return syncFolder(filepath.Dir(out))
}

// undo takes new files away and puts old ones back, the output last.
func (s *swap) undo(away, placed []run.Output, why error) error {
	for _, x := range slices.Backward(placed) {
		if err := os.Remove(x.Path); err != nil {
			s.stuck = true
			return errors.Join(why, fmt.Errorf("%s could not be removed again; what stood there is in %s: %w", x.Path, s.st.Dir(), err))
		}
	}
	for _, x := range slices.Backward(away) {
		if err := s.rename(s.st.Path(wasPrefix+x.Name), x.Path); err != nil {
			s.stuck = true
			return errors.Join(why, fmt.Errorf("what was in %s could not be put back and is in %s: %w", x.Path, s.st.Dir(), err))
		}
	}
	return why
}

// syncFolder makes renames in a folder last.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// interruptedSwap are the folders beside an output in which a swap of it came to a halt
// half way: some of the old files are in there, or some of the new ones no longer. One that
// had not begun, and one that had come to its end, left a whole set of files.
func interruptedSwap(files []run.Output) (folders []string, err error) {
	out := files[len(files)-1].Path
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil {
		return nil, nil // a folder that cannot be read cannot be written to: NewStage says so
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), stagePrefix) {
			continue
		}
		dir := filepath.Join(filepath.Dir(out), e.Name())
		b, err := os.ReadFile(filepath.Join(dir, journalFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue // still at work, or given up before any name was touched
		}
		if err != nil {
			return nil, err
		}
		var j journal
		if err := json.Unmarshal(b, &j); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, journalFile), err)
		}
		if j.Out != filepath.Base(out) {
			continue
		}
		left, moved := 0, 0
		for _, x := range files {
			if there(filepath.Join(dir, x.Name)) {
				left++
			}
			if there(filepath.Join(dir, wasPrefix+x.Name)) {
				moved++
			}
		}
		if left > 0 && (left < len(files) || moved > 0) {
			folders = append(folders, dir)
		}
	}
	return folders, nil
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// freeOutputs is run.FreeOutputs, and refuses what a swap before this one left half done.
func freeOutputs(files []run.Output, o *PerturbOptions, sources []string) (halves []string, err error) {
	if halves, err = interruptedSwap(files); err != nil {
		return nil, err
	}
	if len(halves) > 0 && !o.Force {
		return nil, refuseOption(fmt.Sprintf("move what begins with %q back from there to its name, or choose another --out, or --force to write a new set and remove the folder", wasPrefix),
			"a command before this one was stopped while it replaced the files of %s, or is doing so now: they are incomplete, and what was there before is in %s", o.Out, strings.Join(halves, ", "))
	}
	return halves, run.FreeOutputs(files, o.Force, sources...)
}
