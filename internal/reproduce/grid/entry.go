package grid

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"privrec/internal/run"
	"privrec/internal/system"
)

// Entry is what a row trains in one size of the table: one run for each seed.
type Entry struct {
	Row        *Row
	Data       *Data
	Name       string // name of the data set that is taken
	Size       string // smoke, quick or full
	Task       run.Task
	Seeds      []uint64 // one run each
	About      []*Entry // of the runs that are made first, and that this one is about
	Finished   string   // directory of a finished run that this one is about, made elsewhere; "": none
	Evaluation string   // end of the name of the evaluation that counts; "": the first one

	base  run.Options // configuration and overrides, without seed and directory
	plans *plans      // of the grid
}

// On names the data set that is taken, and the one that it stands for.
func (c *Entry) On() string {
	if c.Name == c.Data.Name {
		return c.Name
	}
	return c.Name + " for " + c.Data.Printed
}

// Entry returns what a row trains in a size. It joins the overrides of the row, the size,
// the row in that size, its value on an axis, and the user; the last one counts. Of the runs that the row is about
// it leaves out those of the size, which are the row's.
func (g *Grid) Entry(r *Row, size string, sets []string) (*Entry, error) {
	p, _, err := g.Size(size, r.Setting)
	if err != nil {
		return nil, err
	}
	c := &Entry{Row: r, Size: size, Seeds: p.Seeds, Evaluation: r.Evaluation, plans: g.plans}
	if size == "smoke" && r.SmokeEvaluation != "" {
		c.Evaluation = r.SmokeEvaluation
	}
	for i := range g.Data {
		if g.Data[i].Name == r.Data {
			c.Data = &g.Data[i]
		}
	}
	if c.Name = c.Data.Name; p.StandIn && !c.Data.Any {
		c.Name = c.Data.StandIn
	}
	var point Point
	if r.Point != nil {
		point = *r.Point
	}
	if at := &point.sets; size == "quick" {
		if point.Axis != nil && point.Axis.On {
			at = &point.about
		}
		*at = slices.Concat(*at, point.quick)
	}
	for _, s := range r.On {
		b := Entry{Row: r, Data: c.Data, Name: c.Name, Size: size, Seeds: c.Seeds, plans: g.plans}
		if err := g.open(&b, s, size, nil, slices.Concat(point.about, sets)); err != nil {
			return nil, err
		}
		b.base.Sets = append([]string{"data.name=" + c.Name}, b.base.Sets...)
		c.About = append(c.About, &b)
	}
	if err := g.open(c, r.Setting, size, slices.Concat(p.Set, p.Departures),
		slices.Concat(point.sets, sets)); err != nil {
		return nil, err
	}
	c.Finished = r.Finished
	if len(c.About) == 0 && c.Finished == "" { // else its data are those runs
		c.base.Sets = append([]string{"data.name=" + c.Name}, c.base.Sets...)
	}
	return c, nil
}

// open finds the task and the configuration of a setting in a size.
func (g *Grid) open(c *Entry, s Setting, size string, common, sets []string) (err error) {
	_, own, err := g.Size(size, s)
	if err != nil {
		return err
	}
	if c.Task, err = g.task(s.Task); err != nil {
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
func (c *Entry) check() error {
	dirs := make([]string, len(c.About))
	for i, b := range c.About {
		if err := b.check(); err != nil {
			return err
		}
		dirs[i] = "unused"
	}
	if len(dirs) > 1 && !aboutOf(c.Task).List {
		return &run.UsageError{Message: fmt.Sprintf("on: %s is about one run, and %d are named", c.Task, len(dirs)),
			Fix: "make a row of each"}
	}
	_, err := c.Plan(c.Seeds[0], dirs...)
	return err
}

// Plan checks the configuration of a seed, about runs in directories. The plan is of no
// directory: its hash counts.
func (c *Entry) Plan(seed uint64, about ...string) (run.Plan, error) {
	o := c.Options("unused", seed, about...)
	key := strings.Join(append([]string{c.Task.String(), o.Config}, o.Sets...), "\x00")
	plan, _ := c.plans.LoadOrStore(key, sync.OnceValues(func() (run.Plan, error) { return c.Task.Plan(o) }))
	return plan.(func() (run.Plan, error))()
}

// gridKeys are the keys that the grid itself sets for every run.
var gridKeys = []string{"data.name", "run.seed", "run.out", OnRuns, OnRun, onBeside}

// OnRuns is the key of the runs that a task is about, and onRun that of tasks that are about one.
// They are named relative to the folder of runs, as onBeside says: a folder of runs can be moved or
// merged with another one.
const (
	OnRuns   = "on.runs"
	OnRun    = "on.run"
	onBeside = "on.beside"
)

// aboutOf returns the flag of a task that names the runs that it is about.
func aboutOf(t run.Task) run.Flag {
	for _, f := range t.Flags {
		if f.Name == "on" {
			return f
		}
	}
	return run.Flag{Key: OnRuns, List: true}
}

// Options returns the options of one run in a directory, about runs in directories.
func (c *Entry) Options(dir string, seed uint64, about ...string) run.Options {
	quoted, _ := json.Marshal(dir) // a string; JSON's quoting is YAML's too
	o := c.base
	o.NoiseSeed = run.NoiseSeedOf(seed)
	o.Sets = append(slices.Clone(c.base.Sets), fmt.Sprintf("run.seed=%d", seed), "run.out="+string(quoted))
	f := aboutOf(c.Task)
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
	case c.Finished != "":
		o.Sets = append(o.Sets, name([]string{c.Finished}))
	}
	return o
}

// Mark tells runs about a finished run that was made elsewhere from those about what was in the same
// directory before: another result there is another run.
func (c *Entry) Mark() (string, error) {
	if c.Finished == "" {
		return "", nil
	}
	b, err := system.ReadFile(filepath.Join(c.Finished, "metrics.json"), system.MostOfRun)
	if err != nil {
		return "", fmt.Errorf("the finished run in %s: %w", c.Finished, err)
	}
	return fmt.Sprintf("-of-%.4x", sha256.Sum256(b)), nil
}
