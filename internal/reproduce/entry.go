package reproduce

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/run"
)

// entry is what a row trains in one size of the table: one run for each seed.
type entry struct {
	row   *Row
	data  *Data
	name  string // name of the data set that is taken
	task  run.Task
	seeds []uint64
	base  run.Options // configuration and overrides, without seed and directory
}

// on names the data set that is taken, and the one that it stands for.
func (c *entry) on() string {
	if c.name == c.data.Name {
		return c.name
	}
	return c.name + " for " + c.data.Printed
}

// entry returns what a row trains in a size. It joins the overrides of the data, the row,
// the size, the row in that size, and the user; the last one counts.
func (g *Grid) entry(r *Row, size string, sets []string) (*entry, error) {
	p, own, err := g.size(size, r)
	if err != nil {
		return nil, err
	}
	c := &entry{row: r, seeds: p.Seeds}
	for i := range g.Data {
		if g.Data[i].Name == r.Data {
			c.data = &g.Data[i]
		}
	}
	if c.name = c.data.Name; p.StandIn {
		c.name = c.data.StandIn
	}
	if c.task, err = g.task(r); err != nil {
		return nil, err
	}
	if c.base, err = g.files.options(r.Config); err != nil {
		return nil, err
	}
	given := slices.Concat(r.Set, p.Set, own, sets)
	for _, s := range given {
		if key, _, _ := strings.Cut(s, "="); slices.Contains(gridKeys, strings.TrimSpace(key)) {
			return nil, &run.UsageError{Message: fmt.Sprintf("override %s: the table sets %s itself", s, strings.TrimSpace(key)),
				Fix: "the grid sets data and seeds, and --out sets the folder"}
		}
	}
	c.base.Sets = append([]string{"data.name=" + c.name}, given...)
	return c, nil
}

// gridKeys are the keys that the grid itself sets for every run.
var gridKeys = []string{"data.name", "run.seed", "run.out"}

// options returns the options of one run in a directory.
func (c *entry) options(dir string, seed uint64) run.Options {
	quoted, _ := json.Marshal(dir) // a string; JSON's quoting is YAML's too
	o := c.base
	o.Sets = append(slices.Clone(c.base.Sets), fmt.Sprintf("run.seed=%d", seed), "run.out="+string(quoted))
	return o
}

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

	entry   *entry
	options run.Options
}

// On names the data set that is taken and, where that is generated, the one that it stands
// for.
func (r *Run) On() string {
	if r.entry == nil {
		return r.Data
	}
	return r.entry.on()
}

// Status says how far a run of a table is.
type Status string

// The statuses of a run.
const (
	ToDo      Status = "to do"
	Resumable Status = "resumable"
	Running   Status = "running"           // by this process
	Elsewhere Status = "running elsewhere" // by another one
	Done      Status = "done"
	Failed    Status = "failed"
	NoData    Status = "data missing"
)

// runs lists a table's runs row by row, and seed by seed within a row. The directory of a
// run is named after task, hash of the configuration and seed, below out/runs.
func (g *Grid) runs(o Options) (entries []*entry, runs []*Run, err error) {
	sets := o.Sets
	if o.Workers > 0 {
		sets = append(slices.Clone(sets), fmt.Sprintf("run.workers=%d", o.Workers))
	}
	for i := range g.Rows {
		c, err := g.entry(&g.Rows[i], o.Size, sets)
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, c)
		for _, seed := range c.seeds {
			plan, err := c.task.Plan(c.options("unused", seed))
			if err != nil {
				return nil, nil, err
			}
			dir := filepath.Join(o.Out, "runs", fmt.Sprintf("%s-%.12s-seed%d", strings.ReplaceAll(c.task.String(), " ", "-"), plan.Hash, seed))
			runs = append(runs, &Run{Method: c.row.Label(), Data: c.name, Seed: seed, Dir: dir, Status: ToDo, entry: c, options: c.options(dir, seed)})
		}
	}
	return entries, runs, nil
}

// look finds the status of a run from its directory, and returns its manifest.
func (r *Run) look() (*run.Manifest, error) {
	p, err := r.entry.task.Plan(r.options)
	if err != nil {
		return nil, err
	}
	switch p.State {
	case run.StateNew:
		r.Status = ToDo
	case run.StateResumable:
		r.Status = Resumable
	case run.StateBusy:
		r.Status = Elsewhere
	case run.StateDone:
		r.Status = Done
	case run.StateFinal:
		r.Status, r.Problem = Failed, oneLine(p.Manifest.Error)
	case run.StateForeign:
		return nil, &run.UsageError{Message: fmt.Sprintf("%s holds a run of another configuration", r.Dir), Fix: "choose another --out"}
	}
	return p.Manifest, nil
}

// oneLine joins the lines of an error for a table cell.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c == '\n' || c == '\r' }), "; ")
}
