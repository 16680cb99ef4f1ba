package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/run"
	"privrec/internal/system"
)

// releasedFolder names the folder of what was released.
const releasedFolder = "released"

// Released is what a stream released after a step. It is public.
type Released struct {
	Statement
	Counts []float64 // of all items
	Matrix []float64 // on and above the diagonal, row after row; of the catalogue's Rows
	Catalogue
}

// Statement says of which stream and step a release is.
type Statement struct {
	ID   string `json:"id"`
	Step int    `json:"step"`          // from 1
	Day  string `json:"day,omitempty"` // the latest of its rows, if one was stated
	Settings
}

// released returns a release of the current step, without numbers.
func (f *Folder) released() *Released {
	return &Released{Statement: Statement{ID: f.ID, Step: f.now.Step, Settings: f.Settings}, Catalogue: *f.Catalogue}
}

// path returns the file of a release.
func (f *Folder) path(step int) string {
	return filepath.Join(f.Dir, releasedFolder, fmt.Sprintf("%05d.safetensors", step))
}

// write writes a release.
func (f *Folder) write(r *Released) error {
	statement, err := json.Marshal(r.Statement)
	if err != nil {
		return err
	}
	ids, err := json.Marshal(r.IDs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(f.Dir, releasedFolder), 0o700); err != nil {
		return err
	}
	rows := make([]int64, len(r.Rows))
	for k, i := range r.Rows {
		rows[k] = int64(i)
	}
	tensors := []run.NamedTensor{{Name: "counts", Shape: []int{len(r.Counts)}, Data: r.Counts},
		{Name: "items", Shape: []int{len(rows)}, Data: rows},
		{Name: "weights", Shape: []int{len(rows)}, Data: r.Weights},
		{Name: "matrix", Shape: []int{len(r.Matrix)}, Data: r.Matrix}}
	return system.WriteFile(f.path(r.Step), func(w io.Writer) error {
		return run.WriteSafetensors(w, tensors,
			map[string]string{"stream": string(statement), "catalogue": string(ids)})
	})
}

// Read reads a release: a file, or the last one of a stream's folder.
func Read(path string) (*Released, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		entries, err := os.ReadDir(filepath.Join(path, releasedFolder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		last := ""
		for _, e := range entries { // by ascending names
			if n := e.Name(); strings.HasSuffix(n, ".safetensors") && !system.Unfinished(n) {
				last = n
			}
		}
		if last == "" {
			return nil, run.Usagef("privrec stream release makes one", "the stream in %s has no release", path)
		}
		path = filepath.Join(path, releasedFolder, last)
	}
	tensors, meta, err := run.ReadSafetensors(path)
	if err != nil {
		return nil, fmt.Errorf("read a release: %w", err)
	}
	bad := func(what any) error { return fmt.Errorf("read a release: %s: %v", path, what) }
	r := &Released{}
	if err := json.Unmarshal([]byte(meta["stream"]), &r.Statement); err != nil {
		return nil, bad("it is not of a stream")
	}
	if err := json.Unmarshal([]byte(meta["catalogue"]), &r.IDs); err != nil {
		return nil, bad(err)
	}
	for _, t := range tensors {
		switch data := t.Data.(type) {
		case []int64:
			for _, i := range data {
				r.Rows = append(r.Rows, int32(i))
			}
		case []float64:
			switch t.Name {
			case "counts":
				r.Counts = data
			case "weights":
				r.Weights = data
			case "matrix":
				r.Matrix = data
			}
		}
	}
	if err := r.Settings.Check(); err != nil {
		return nil, bad(err)
	}
	if m := len(r.Rows); len(r.Weights) != m || len(r.Matrix) != m*(m+1)/2 || len(r.Counts) != len(r.IDs) ||
		r.Step < 1 || r.Step > r.Horizon {
		return nil, bad("its numbers do not fit together")
	}
	if err := r.Catalogue.Check(); err != nil {
		return nil, bad(err)
	}
	return r, nil
}
