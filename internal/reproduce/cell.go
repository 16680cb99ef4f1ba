package reproduce

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/run"
)

// cell is what a row trains under a profile: one run a seed.
type cell struct {
	row   *Row
	data  *Data
	name  string // of the data set that is really taken
	task  run.Task
	seeds []uint64
	base  run.Options // configuration and overrides, without seed and place
}

// on names the data that were taken, and what they stand for.
func (c *cell) on() string {
	if c.name == c.data.Name {
		return c.name
	}
	return c.name + " for " + c.data.Printed
}

// cell puts the overrides of a row together: data, row, profile, the row under
// the profile, the user's; the last one counts.
func (g *Grid) cell(r *Row, profile string, sets []string) (*cell, error) {
	p, own, err := g.profile(profile, r)
	if err != nil {
		return nil, err
	}
	c := &cell{row: r, seeds: p.Seeds}
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
		if key, _, _ := strings.Cut(s, "="); slices.Contains(fixed, strings.TrimSpace(key)) {
			return nil, &run.UsageError{Message: fmt.Sprintf("override %s: the table sets %s itself", s, strings.TrimSpace(key)),
				Fix: "data and seeds belong to the grid, the place to --out"}
		}
	}
	c.base.Sets = append([]string{"data.name=" + c.name}, given...)
	return c, nil
}

// fixed are the keys that tell the runs of a table apart.
var fixed = []string{"data.name", "run.seed", "run.out"}

// at is the options of one run in a directory.
func (c *cell) at(dir string, seed uint64) run.Options {
	quoted, _ := json.Marshal(dir) // a string; JSON's quoting is YAML's too
	o := c.base
	o.Sets = append(slices.Clone(c.base.Sets), fmt.Sprintf("run.seed=%d", seed), "run.out="+string(quoted))
	return o
}

// Run is one run of a table.
type Run struct {
	Method  string `json:"method"` // with its setting
	Data    string `json:"data"`   // that is really taken
	Seed    uint64 `json:"seed"`
	Dir     string `json:"dir"`
	Status  Status `json:"status"`
	Problem string `json:"problem,omitempty"` // why it failed or cannot begin, a line
	Now     bool   `json:"-"`                 // it was brought to its end just now
	Score   string `json:"-"`                 // of a finished run, the table's first metric with its level of evidence

	cell    *cell
	options run.Options
}

// On names the data that are taken and, where they are generated, what they stand for.
func (r *Run) On() string {
	if r.cell == nil {
		return r.Data
	}
	return r.cell.on()
}

// Status is how a run of a table stands.
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

// runs lists a table's runs in its own order: row by row, seed by seed. Each gets
// a directory named after task, configuration hash and seed below out/runs.
func (g *Grid) runs(o Options) (cells []*cell, runs []*Run, err error) {
	sets := o.Sets
	if o.Workers > 0 {
		sets = append(slices.Clone(sets), fmt.Sprintf("run.workers=%d", o.Workers))
	}
	for i := range g.Rows {
		c, err := g.cell(&g.Rows[i], o.Profile, sets)
		if err != nil {
			return nil, nil, err
		}
		cells = append(cells, c)
		for _, seed := range c.seeds {
			plan, err := c.task.Plan(c.at("unused", seed))
			if err != nil {
				return nil, nil, err
			}
			dir := filepath.Join(o.Out, "runs", fmt.Sprintf("%s-%.12s-seed%d", strings.ReplaceAll(c.task.String(), " ", "-"), plan.Hash, seed))
			runs = append(runs, &Run{Method: c.row.Label(), Data: c.name, Seed: seed, Dir: dir, Status: ToDo, cell: c, options: c.at(dir, seed)})
		}
	}
	return cells, runs, nil
}

// look finds out how a run stands from its directory, and what its manifest says.
func (r *Run) look() (*run.Manifest, error) {
	p, err := r.cell.task.Plan(r.options)
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

// oneLine joins the lines of an error for a cell of a table.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c == '\n' || c == '\r' }), "; ")
}
