package reproduce

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"privrec/internal/record"
	"privrec/internal/run"
	"privrec/internal/system"
)

// entry is what a row trains in one size of the table: one run for each seed.
type entry struct {
	row   *Row
	data  *Data
	name  string // name of the data set that is taken
	size  string // smoke, quick or full
	task  run.Task
	seeds []uint64
	base  run.Options // configuration and overrides, without seed and directory
	about []*entry    // of the runs that are made first, and that this one is about
	there string      // directory of a finished run that this one is about, made elsewhere; "": none
	end   string      // of the name of the evaluation that counts
	plans *plans      // of the grid
}

// on names the data set that is taken, and the one that it stands for.
func (c *entry) on() string {
	if c.name == c.data.Name {
		return c.name
	}
	return c.name + " for " + c.data.Printed
}

// entry returns what a row trains in a size. It joins the overrides of the row, the size,
// the row in that size, its value on an axis, and the user; the last one counts. Of the runs that the row is about
// it leaves out those of the size, which are the row's.
func (g *Grid) entry(r *Row, size string, sets []string) (*entry, error) {
	p, _, err := g.size(size, r.Setting)
	if err != nil {
		return nil, err
	}
	c := &entry{row: r, size: size, seeds: p.Seeds, end: r.Evaluation, plans: g.plans}
	if size == "smoke" && r.SmokeEvaluation != "" {
		c.end = r.SmokeEvaluation
	}
	for i := range g.Data {
		if g.Data[i].Name == r.Data {
			c.data = &g.Data[i]
		}
	}
	if c.name = c.data.Name; p.StandIn && !c.data.Any {
		c.name = c.data.StandIn
	}
	var point point
	if r.point != nil {
		point = *r.point
	}
	if at := &point.sets; size == "quick" {
		if point.axis != nil && point.axis.On {
			at = &point.about
		}
		*at = slices.Concat(*at, point.quick)
	}
	for _, s := range r.On {
		b := entry{row: r, data: c.data, name: c.name, size: size, seeds: c.seeds, plans: g.plans}
		if err := g.open(&b, s, size, nil, slices.Concat(point.about, sets)); err != nil {
			return nil, err
		}
		b.base.Sets = append([]string{"data.name=" + c.name}, b.base.Sets...)
		c.about = append(c.about, &b)
	}
	if err := g.open(c, r.Setting, size, slices.Concat(p.Set, p.Departures),
		slices.Concat(point.sets, sets)); err != nil {
		return nil, err
	}
	c.there = r.Finished
	if len(c.about) == 0 && c.there == "" { // else its data are those runs
		c.base.Sets = append([]string{"data.name=" + c.name}, c.base.Sets...)
	}
	return c, nil
}

// open finds the task and the configuration of a setting in a size.
func (g *Grid) open(c *entry, s Setting, size string, common, sets []string) (err error) {
	_, own, err := g.size(size, s)
	if err != nil {
		return err
	}
	if c.task, err = g.task(s.Task); err != nil {
		return err
	}
	if c.base, err = g.files.options(s.Config); err != nil {
		return err
	}
	c.base.Sets = slices.Concat(s.Set, common, own, sets)
	for _, s := range c.base.Sets {
		if key, _, _ := strings.Cut(s, "="); slices.Contains(gridKeys, strings.TrimSpace(key)) {
			return &run.UsageError{Message: fmt.Sprintf("override %s: the table sets %s itself", s,
				strings.TrimSpace(key)),
				Fix: "the grid sets data and seeds, and --out sets the folder"}
		}
	}
	return nil
}

// check lets the tasks check their configurations.
func (c *entry) check() error {
	dirs := make([]string, len(c.about))
	for i, b := range c.about {
		if err := b.check(); err != nil {
			return err
		}
		dirs[i] = "unused"
	}
	if len(dirs) > 1 && !aboutOf(c.task).List {
		return &run.UsageError{Message: fmt.Sprintf("on: %s is about one run, and %d are named", c.task, len(dirs)),
			Fix: "make a row of each"}
	}
	_, err := c.plan(c.seeds[0], dirs...)
	return err
}

// plans keeps configurations that were checked, so that rows and tables that share one check it
// once. The key has everything that a hash depends on.
type plans struct{ sync.Map }

// plan checks the configuration of a seed, about runs in directories. The plan is of no
// directory: its hash counts.
func (c *entry) plan(seed uint64, about ...string) (run.Plan, error) {
	o := c.options("unused", seed, about...)
	key := strings.Join(append([]string{c.task.String(), o.Config}, o.Sets...), "\x00")
	plan, _ := c.plans.LoadOrStore(key, sync.OnceValues(func() (run.Plan, error) { return c.task.Plan(o) }))
	return plan.(func() (run.Plan, error))()
}

// gridKeys are the keys that the grid itself sets for every run.
var gridKeys = []string{"data.name", "run.seed", "run.out", onRuns, onRun, onBeside}

// onRuns is the key of the runs that a task is about, and onRun that of tasks that are about one.
// They are named relative to the folder of runs, as onBeside says: a folder of runs can be moved or
// merged with another one.
const (
	onRuns   = "on.runs"
	onRun    = "on.run"
	onBeside = "on.beside"
)

// aboutOf returns the flag of a task that names the runs that it is about.
func aboutOf(t run.Task) run.Flag {
	for _, f := range t.Flags {
		if f.Name == "on" {
			return f
		}
	}
	return run.Flag{Key: onRuns, List: true}
}

// options returns the options of one run in a directory, about runs in directories.
func (c *entry) options(dir string, seed uint64, about ...string) run.Options {
	quoted, _ := json.Marshal(dir) // a string; JSON's quoting is YAML's too
	o := c.base
	o.NoiseSeed = run.NoiseSeedOf(seed)
	o.Sets = append(slices.Clone(c.base.Sets), fmt.Sprintf("run.seed=%d", seed), "run.out="+string(quoted))
	f := aboutOf(c.task)
	name := func(dirs []string) string {
		var list []byte // of strings
		if list, _ = json.Marshal(dirs); !f.List {
			list, _ = json.Marshal(dirs[0])
		}
		return f.Key + "=" + string(list)
	}
	switch {
	case len(about) > 0:
		o.Sets = append(o.Sets, name(about), onBeside+"=true")
	case c.there != "":
		o.Sets = append(o.Sets, name([]string{c.there}))
	}
	return o
}

// run returns the run of a seed, and appends it to list after the runs that it is about. The
// directory of a run is named after task, hash of the configuration and seed, below out/runs.
func (c *entry) run(list *[]*Run, out string, seed uint64) (*Run, error) {
	r := &Run{Method: c.row.Label(), Data: c.name, Seed: seed, Status: ToDo, entry: c}
	var dirs []string
	for _, b := range c.about {
		of, err := b.run(list, out, seed)
		if err != nil {
			return nil, err
		}
		r.about, dirs = append(r.about, of), append(dirs, filepath.Base(of.Dir))
	}
	plan, err := c.plan(seed, dirs...)
	if err != nil {
		return nil, err
	}
	r.plan = plan
	of, err := c.mark()
	if err != nil {
		return nil, err
	}
	r.Dir = filepath.Join(out, "runs", fmt.Sprintf("%s-%.12s%s-seed%d", strings.ReplaceAll(c.task.String(), " ", "-"),
		plan.Hash, of, seed))
	r.options = c.options(r.Dir, seed, dirs...)
	*list = append(*list, r)
	return r, nil
}

// mark tells runs about a finished run that was made elsewhere from those about what was in the same
// directory before: another result there is another run.
func (c *entry) mark() (string, error) {
	if c.there == "" {
		return "", nil
	}
	b, err := system.ReadFile(filepath.Join(c.there, "metrics.json"), system.MostOfRun)
	if err != nil {
		return "", fmt.Errorf("the finished run in %s: %w", c.there, err)
	}
	return fmt.Sprintf("-of-%.4x", sha256.Sum256(b)), nil
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
	plan    run.Plan // of its configuration, but for its directory
	shard   int      // that makes it, from 1; 0: there are no shards
	options run.Options
	about   []*Run  // made before
	kept    bool    // there is what was kept of it, and no model
	stale   string  // why what was kept of the run is not taken; "": it is, or nothing was kept
	result  *result // of a finished run; nil: not read yet
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
	LeftOut   Status = "left out" // it cannot be about the run that it would be about
	Stale     Status = "stale"    // a later change moved the results that were recorded
)

// Task names what the run does.
func (r *Run) Task() string { return r.entry.task.String() }

// About returns the directories of the runs that it is about.
func (r *Run) About() (dirs []string) {
	for _, of := range r.about {
		dirs = append(dirs, of.Dir)
	}
	if r.entry.there != "" {
		dirs = append(dirs, r.entry.there)
	}
	return dirs
}

// runs lists a table's runs row by row, and seed by seed within a row. A run follows those
// that it is about.
func (g *Grid) runs(o Options) (entries []*entry, runs []*Run, err error) {
	sets := g.own(o.Sets)
	if o.Workers > 0 {
		sets = append(slices.Clone(sets), fmt.Sprintf("run.workers=%d", o.Workers))
	}
	for i := range g.Rows {
		size := g.sizeOf(&g.Rows[i], o)
		for _, r := range g.pointsOf(&g.Rows[i], size) {
			c, err := g.entry(r, size, sets)
			if err != nil {
				return nil, nil, err
			}
			entries = append(entries, c)
			for _, seed := range c.seeds {
				if _, err := c.run(&runs, o.Out, seed); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	if o.Records != nil {
		for _, r := range runs { // each after those that it is about
			if err := r.take(o.Records); err != nil {
				return nil, nil, err
			}
		}
	}
	return entries, runs, nil
}

// take points a run without a directory of its own to what was kept of it.
func (r *Run) take(from *record.Shelf) error {
	if _, err := run.ReadManifest(r.Dir); !errors.Is(err, fs.ErrNotExist) {
		return nil // look says what is wrong with a directory that is there
	}
	dir, stale, ok, err := from.Find(filepath.Base(r.Dir))
	if err != nil || !ok {
		return err
	}
	if r.stale = stale; stale != "" {
		return nil
	}
	var about []string
	for _, of := range r.about {
		about = append(about, filepath.Base(of.Dir))
	}
	r.Dir, r.options, r.kept = dir, r.entry.options(dir, r.Seed, about...), true
	return nil
}

// look finds the status of a run from its directory, and returns its manifest.
func (r *Run) look() (*run.Manifest, error) {
	p := run.Plan{Hash: r.plan.Hash, Dir: r.Dir}
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

// waits takes the status of a run from those that it is about, where one of them is not done.
// It reports whether it did.
func (r *Run) waits() bool {
	for _, of := range r.about {
		switch of.Status {
		case Done:
			continue
		case Failed, NoData, LeftOut:
			r.Status, r.Problem = of.Status, fmt.Sprintf("%s, which it is about: %s", of.entry.task, of.Problem)
		case Elsewhere:
			r.Status = Elsewhere
		}
		return true
	}
	return false
}

// oneLine joins the lines of an error for a table cell.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c == '\n' || c == '\r' }), "; ")
}
