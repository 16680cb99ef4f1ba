package grid

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"privrec/internal/claims"
	"privrec/internal/config"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/run"
)

// Grid is one printed table or figure, or a study of our own: the runs behind it and, for a
// table, the numbers in it.
type Grid struct {
	Name  string `yaml:"name"`              // name of the files that are written: letters, digits, "-" and "."
	Paper string `yaml:"paper"`             // name of the paper on the command line; a study may have none
	Table int    `yaml:"table" limit:"0.."` // number of the table in the paper; 0: none
	// number of the figure in the paper; 0: none. A grid without table and figure is a study
	Figure  int            `yaml:"figure" limit:"0.."`
	Title   string         `yaml:"title" limit:"filled"`
	Place   Place          `yaml:"source"`
	Unit    string         `yaml:"unit"` // unit of the printed numbers: percent, share or count
	Metrics []Metric       `yaml:"metrics" limit:"some"`
	Data    []Data         `yaml:"data" limit:"some"`
	Sizes   Sizes          `yaml:"profiles"`
	Axes    []Axis         `yaml:"axes"` // axes along which rows vary; with one, or with a figure, the grid is drawn
	Rows    []Row          `yaml:"rows"`
	Counts  []Count        `yaml:"statistics"` // rows that count data and train nothing
	Gains   []Gain         `yaml:"gains"`      // printed improvements of rows over others
	Claims  []claims.Claim `yaml:"claims"`     // claims of a study; those of a paper are in a file of their own
	Notes   []string       `yaml:"notes"`

	// Unfit says in words why a run of a task cannot be about finished runs in directories, "" where
	// it can. Such a run is left out. Nil: all are made.
	Unfit func(task string, about []string) string `yaml:"-"`

	Causes []*Cause `yaml:"-"` // of differences, in the order in which they count

	printed bool // without departures

	doc   *config.Document // of its lines
	tasks []run.Task
	files files
	plans *plans
}

// Place says where the printed numbers stand.
type Place struct {
	Cite  string `yaml:"cite"`
	Where string `yaml:"where"`             // table, section or page
	About string `yaml:"about"`             // what the numbers mean: seeds, spread, how epochs were chosen
	Seeds int    `yaml:"seeds" limit:"0.."` // number of runs behind a printed mean; 0: not said
}

// Sizes lists the sizes in which the table can be made.
type Sizes struct {
	Smoke Size `yaml:"smoke"`
	Quick Size `yaml:"quick"`
	Full  Size `yaml:"full"`
}

// Size sets what a table of one size trains.
type Size struct {
	About   string   `yaml:"about"`    // what is cut short, as the table's notes say it
	StandIn bool     `yaml:"stand_in"` // use generated rows in place of real ones
	Seeds   []uint64 `yaml:"seeds"`
	Set     []string `yaml:"set"` // keys to change in every row, as in train.epochs=3
	// Departures lists keys to change in every row to save time, against the paper's setting; about says what they
	// keep of it. A table made as printed leaves them out.
	Departures []string `yaml:"departures"`
}

// SizeNames lists the sizes, the smallest first.
func SizeNames() []string { return []string{"smoke", "quick", "full"} }

// Size returns a size, and the overrides of a setting in it.
func (g *Grid) Size(name string, s Setting) (p Size, own []string, err error) {
	switch name {
	case "smoke":
		return g.Sizes.Smoke, s.Smoke, nil
	case "quick":
		return g.Sizes.Quick, s.Quick, nil
	case "full":
		return g.Sizes.Full, s.Full, nil
	}
	return p, nil, &run.UsageError{Message: fmt.Sprintf("unknown profile %q", name), Fix: phrase.Hint(name, SizeNames())}
}

// AsPrinted returns the grid without the departures of a size, where it has any: its rows train as the paper says, and
// its files have names of their own.
func (g *Grid) AsPrinted(size string) (printed *Grid, departs bool) {
	p := *g
	s := map[string]*Size{"smoke": &p.Sizes.Smoke, "quick": &p.Sizes.Quick, "full": &p.Sizes.Full}[size]
	if s == nil || len(s.Departures) == 0 {
		return g, false
	}
	p.printed, s.Departures = true, nil
	s.About = "each step as the paper says, in place of: " + s.About
	return &p, true
}

// FileName returns the name of the files of the grid's table in a size, without their endings. sets are the user's
// overrides.
func (g *Grid) FileName(size string, sets []string) string {
	name := g.Name + "-" + size
	if g.printed {
		name += "-as-printed"
	}
	if sets = g.Own(sets); len(sets) > 0 { // a changed table must not replace the table as it is meant
		name += fmt.Sprintf("-changed-%.3x", sha256.Sum256([]byte(strings.Join(sets, "\n"))))
	}
	return name
}

// number writes the number of a table or figure as in "table 2".
func (g *Grid) number() string {
	if g.Figure != 0 {
		return "figure " + strconv.Itoa(g.Figure)
	}
	return "table " + strconv.Itoa(g.Table)
}

// Command writes the command that makes a grid.
func (g *Grid) Command() string {
	return fmt.Sprintf("privrec reproduce %s --%s", g.Paper, g.number())
}

// rows lists the rows of a size. A row with axes is there once for each of their values.
func (g *Grid) rows(size string) (out []*Row) {
	for i := range g.Rows {
		out = append(out, g.PointsOf(&g.Rows[i], size)...)
	}
	return out
}

// PointsOf returns a row once for each value of its axes, or the row itself without any.
func (g *Grid) PointsOf(r *Row, size string) (out []*Row) {
	if len(r.Axes) == 0 {
		return []*Row{r}
	}
	for _, name := range r.Axes {
		a := g.axis(name)
		for _, v := range r.values(a, size) {
			out = append(out, r.at(a, v))
		}
	}
	return out
}

// axis returns the axis of a name, or nil.
func (g *Grid) axis(name string) *Axis {
	for i := range g.Axes {
		if g.Axes[i].Name == name {
			return &g.Axes[i]
		}
	}
	return nil
}

// GainRows lists the gains as rows.
func (g *Grid) GainRows() (out []Row) {
	for _, p := range g.Gains {
		out = append(out, p.Row())
	}
	return out
}

// Find returns the index of a row, or -1.
func (g *Grid) Find(method, setting, data string) int {
	return slices.IndexFunc(g.Rows,
		func(r Row) bool { return r.Method == method && r.Variant == setting && r.Data == data })
}

// place is the key of a row in its document.
func (g *Grid) place(row int) string {
	if p := g.Rows[row].Place; p != "" {
		return p
	}
	return fmt.Sprintf("rows.%d", row)
}

// Scale returns what a result is multiplied by to be shown: shares are shown in percent, counts
// as they are.
func (g *Grid) Scale() float64 {
	if g.Unit == UnitCount {
		return 1
	}
	return 100
}

// task returns the task of a name.
func (g *Grid) task(name string) (run.Task, error) {
	var known []string
	for _, t := range g.tasks {
		if t.String() == name {
			return t, nil
		}
		known = append(known, t.String())
	}
	return run.Task{}, fmt.Errorf("unknown task %q; known are %s", name, strings.Join(known, ", "))
}

// Own returns the user's overrides that are for this grid. A grid that counts trains nothing, so
// it leaves out those of keys that only other tasks have, as train.epochs; a key that no task has
// stays, and is an error.
func (g *Grid) Own(sets []string) (out []string) {
	if g.Unit != UnitCount {
		return sets
	}
	has := func(t run.Task, key string) bool {
		return slices.ContainsFunc(t.Keys(), func(k config.Key) bool { return k.Path == key })
	}
	for _, s := range sets {
		key, _, _ := strings.Cut(s, "=")
		key = strings.TrimSpace(key)
		mine, others := false, false
		for _, t := range g.tasks {
			if t.String() == counting {
				mine = mine || has(t, key)
			} else {
				others = others || has(t, key)
			}
		}
		if mine || !others {
			out = append(out, s)
		}
	}
	return out
}

// files is where a grid's configurations are: a tree in memory, or the disk.
type files struct {
	tree fs.FS  // nil: the disk
	dir  string // of the grid
}

// options names the configuration of a row for a run.
func (f files) options(name string) (run.Options, error) {
	if name == "" { // the task's defaults
		return run.Options{}, nil
	}
	if f.tree == nil {
		return run.Options{Config: filepath.Join(f.dir, filepath.FromSlash(name))}, nil
	}
	name = path.Join(f.dir, name)
	text, err := fs.ReadFile(f.tree, name)
	if err != nil {
		return run.Options{}, fmt.Errorf("%s: not among the built-in configurations", name)
	}
	return run.Options{Config: builtIn + name, Text: text}, nil
}

// builtIn marks the names of configurations that come with the program.
const builtIn = "built-in configs/"

// plans keeps configurations that were checked, so that rows and tables that share one check it
// once. The key has everything that a hash depends on.
type plans struct{ sync.Map }
