package roster

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/record"
	"privrec/internal/reproduce/grid"
	"privrec/internal/run"
)

// Run is one run of a table.
type Run struct {
	Method  string `json:"method"` // with its variant
	Data    string `json:"data"`   // the data set that is taken
	Seed    uint64 `json:"seed"`
	Dir     string `json:"dir"`
	Status  Status `json:"status"`
	Problem string `json:"problem,omitempty"` // why it failed or cannot begin, in one line
	Now     bool   `json:"-"`                 // this process finished it just now
	Score   string `json:"-"`                 // of a finished run: the table's first metric, with its level of evidence

	Entry  *grid.Entry `json:"-"` // of its row; of a run that others are about, what these are about
	Plan   run.Plan    `json:"-"` // of its configuration, but for its directory
	Part   int         `json:"-"` // that makes it, from 1; 0: there are no shards
	Start  run.Options `json:"-"` // that start it
	Before []*Run      `json:"-"` // runs that it is about, which are made before it
	Kept   bool        `json:"-"` // there is what was kept of it, and no model

	stale  string  // why what was kept of the run is not taken; "": it is, or nothing was kept
	result *Result // of a finished run; nil: not read yet
}

// In reports whether the process of a shard makes the run.
func (r *Run) In(s run.Shard) bool { return s.Of == 0 || r.Part == s.I }

// On names the data set that is taken and, where that is generated, the one that it stands
// for.
func (r *Run) On() string {
	if r.Entry == nil {
		return r.Data
	}
	return r.Entry.On()
}

// Task names what the run does.
func (r *Run) Task() string { return r.Entry.Task.String() }

// About returns the directories of the runs that it is about.
func (r *Run) About() (dirs []string) {
	for _, of := range r.Before {
		dirs = append(dirs, of.Dir)
	}
	if r.Entry.Finished != "" {
		dirs = append(dirs, r.Entry.Finished)
	}
	return dirs
}

// take points a run without a directory of its own to what was kept of it.
func (r *Run) take(from *record.Shelf) error {
	if _, err := run.ReadManifest(r.Dir); !errors.Is(err, fs.ErrNotExist) {
		return nil // Look says what is wrong with a directory that is there
	}
	dir, stale, ok, err := from.Find(filepath.Base(r.Dir))
	if err != nil || !ok {
		return err
	}
	if r.stale = stale; stale != "" {
		return nil
	}
	var about []string
	for _, of := range r.Before {
		about = append(about, filepath.Base(of.Dir))
	}
	r.Dir, r.Start, r.Kept = dir, r.Entry.Options(dir, r.Seed, about...), true
	return nil
}

// Look finds the status of a run from its directory, and returns its manifest.
func (r *Run) Look() (*run.Manifest, error) {
	p := run.Plan{Hash: r.Plan.Hash, Dir: r.Dir}
	if err := p.Look(); err != nil {
		return nil, err
	}
	switch p.State {
	case run.StateNew:
		if r.Status = ToDo; r.stale != "" {
			r.Status, r.Problem = Stale, r.stale
		}
	case run.StateResumable:
		r.Status = Resumable
	case run.StateBusy:
		r.Status = Elsewhere
	case run.StateDone:
		r.Status = Done
	case run.StateFinal:
		r.Status, r.Problem = Failed, oneLine(p.Manifest.Error)
	case run.StateForeign:
		return nil, &run.UsageError{Message: fmt.Sprintf("%s holds a run of another configuration", r.Dir),
			Fix: "choose another --out"}
	}
	return p.Manifest, nil
}

// Waits takes the status of a run from those that it is about, where one of them is not done.
// It reports whether it did.
func (r *Run) Waits() bool {
	for _, of := range r.Before {
		switch of.Status {
		case Done:
			continue
		case Failed, NoData, LeftOut:
			r.Status, r.Problem = of.Status, fmt.Sprintf("%s, which it is about: %s", of.Entry.Task, of.Problem)
		case Elsewhere:
			r.Status = Elsewhere
		}
		return true
	}
	return false
}

// Fail marks a run as failed, with its error and what can be done about it.
func (r *Run) Fail(err error) {
	r.Status, r.Problem = Failed, oneLine(err.Error())
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		r.Problem += " (" + h.Hint() + ")"
	}
}

// MarkMissing marks a run as one without data, and returns how to get them.
func MarkMissing(r *Run, err error) (hint string) {
	r.Status, r.Problem = NoData, oneLine(err.Error())
	var data *dataset.Error
	if errors.As(err, &data) && data.Hint != "" {
		hint = data.Hint
		r.Problem += "; " + hint
	}
	return hint
}

// oneLine joins the lines of an error for a table cell.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c == '\n' || c == '\r' }), "; ")
}

// newRun returns the run of a seed, and appends it to list after the runs that it is about. The
// directory of a run is named after task, hash of the configuration and seed, below out/runs.
func newRun(c *grid.Entry, list *[]*Run, out string, seed uint64) (*Run, error) {
	r := &Run{Method: c.Row.Label(), Data: c.Name, Seed: seed, Status: ToDo, Entry: c}
	var dirs []string
	for _, b := range c.About {
		of, err := newRun(b, list, out, seed)
		if err != nil {
			return nil, err
		}
		r.Before, dirs = append(r.Before, of), append(dirs, filepath.Base(of.Dir))
	}
	plan, err := c.Plan(seed, dirs...)
	if err != nil {
		return nil, err
	}
	r.Plan = plan
	of, err := c.Mark()
	if err != nil {
		return nil, err
	}
	r.Dir = filepath.Join(out, "runs", fmt.Sprintf("%s-%.12s%s-seed%d", strings.ReplaceAll(c.Task.String(), " ", "-"),
		plan.Hash, of, seed))
	r.Start = c.Options(r.Dir, seed, dirs...)
	*list = append(*list, r)
	return r, nil
}
