package reproduce

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/config"
	"privrec/internal/metrics"
	"privrec/internal/printed"
	"privrec/internal/run"
	"privrec/internal/system"
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

	printed bool // without departures

	tasks  []run.Task
	files  files
	plans  *plans
	causes []*Cause // in the order in which they count
}

// Place says where the printed numbers stand.
type Place struct {
	Cite  string `yaml:"cite"`
	Where string `yaml:"where"`             // table, section or page
	About string `yaml:"about"`             // what the numbers mean: seeds, spread, how epochs were chosen
	Seeds int    `yaml:"seeds" limit:"0.."` // number of runs behind a printed mean; 0: not said
}

// Metric sets one column.
type Metric struct {
	Measure Measure `yaml:"-"`
	Name    string  `yaml:"metric"`  // name of the metric in the program
	Printed string  `yaml:"printed"` // heading of the column in the paper; a figure or study may leave it out
	// PrintedAs names the column by words of the transcription, as in {attribute: age}. Empty: by its heading.
	PrintedAs printed.Setting `yaml:"printed_as"`
	Lists     bool            `yaml:"lists"` // true: samples get several lists as an answer
}

// Measure is what a column shows: a metrics.Metric of rankings, a metrics.ClassMetric of
// predicted classes, a metrics.DetectMetric or metrics.GuessMetric of attacks, or a
// metrics.Statistic of data.
type Measure interface {
	String() string
	Definition() string
}

// measure reads the name of a column, of a grid with the given unit: a statistic where it counts,
// else with a cut-off a metric of a ranking, and without one the accuracy of slates or a metric of
// classes.
func measure(name, unit string) (Measure, error) {
	switch {
	case unit == count:
		return metrics.ParseStatistic(name)
	case name == metrics.Accuracy.String():
		return metrics.Accuracy, nil
	case strings.Contains(name, "@"):
		return metrics.Parse(name)
	}
	if m, err := metrics.ParseDetect(name); err == nil &&
		(strings.HasPrefix(m.Of, "member ") || strings.HasPrefix(m.Of, "edges ")) {
		return m, nil
	}
	if m, err := metrics.ParseGuess(name); err == nil && strings.HasPrefix(m.Of, "edges ") {
		return m, nil
	}
	return metrics.ParseClass(name)
}

// CheckMetric fails on a name that is no metric of results.
func CheckMetric(name string) error {
	_, err := measure(name, percent)
	return err
}

// definition says what the number means.
func (m Metric) definition() string {
	if r, ok := m.Measure.(metrics.Metric); ok && m.Lists {
		return r.ListsDefinition()
	}
	return m.Measure.Definition()
}

// Data names one data set of the table.
type Data struct {
	Name    string `yaml:"name"`     // registered name
	Printed string `yaml:"printed"`  // name that the paper prints; a figure or study may leave it out
	StandIn string `yaml:"stand_in"` // stand-in to use in sizes without real data
	// Any marks the data of finished runs that were made elsewhere, which may be any: no size takes
	// others in their place.
	Any bool `yaml:"-"`
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

// Row sets one method on one data set.
type Row struct {
	Method  string `yaml:"method" limit:"filled"` // name of the method in the paper
	Variant string `yaml:"setting"`               // tells rows of one method apart; empty if there is only one
	About   string `yaml:"about"`                 // a sentence on the row for the table's notes
	Data    string `yaml:"data"`                  // a data set of the grid
	// Evaluation says which evaluation counts, by the end of its name, as in "test noise
	// on". Empty: the first.
	Evaluation string `yaml:"evaluation"`
	// SmokeEvaluation takes the place of evaluation in size smoke, if generated data name theirs otherwise. Empty:
	// evaluation.
	SmokeEvaluation string `yaml:"smoke_evaluation"`
	Setting         `yaml:",inline"`
	// On lists the runs that the row's task needs, such as those that it attacks. They are made first, with the same
	// seed and on the same data. The task gets their directories as the key on.runs.
	On []Setting `yaml:"on"`
	// Finished is the directory of a finished run, made elsewhere, that the row's task is about in
	// place of On.
	Finished string `yaml:"-"`
	// Place is where the row stands in the document of a program that made the grid. Empty: in rows.
	Place string `yaml:"-"`
	// Axes lists the axes that the row varies, one at a time. Empty: a single result, which a figure draws as a
	// level. key replaces the key of the only axis, values its values.
	Axes   []string  `yaml:"axes"`
	Key    string    `yaml:"key"`
	Values []float64 `yaml:"values"`
	At     []At      `yaml:"at"`
	// title of the panels that show the row; a level without one is in all panels of its data
	Panel string `yaml:"panel"`
	// UnitOf is the unit of privacy whose accounted epsilon counts, as "user" or "edge". Empty: the
	// worst.
	UnitOf string `yaml:"unit"`
	// Printed has a number for each metric, null where the paper prints none, and is [] where it prints none of the
	// row. Left out, the numbers are those of the paper's transcription.
	Printed []*float64 `yaml:"printed"`
	// PrintedAs names the row by words of the transcription, if its own differ: table (0 for a sentence), data,
	// method, and what tells its setting from those of other rows, as in {method: Mean, K: 5}.
	PrintedAs printed.Setting `yaml:"printed_as"`
	// Again marks a row as another reading of the same line of the paper as an earlier row of the same data. Its
	// printed numbers are not counted twice.
	Again bool `yaml:"again"`
	// standard deviations over the paper's runs, one for each metric; empty: none printed
	Spread []*float64 `yaml:"spread"`

	point *point // nil but for a row at one value of an axis
	line  string // then the label of the row
	gain  bool   // computed from two other rows
}

// printed returns the printed number of a metric, or nil.
func (r *Row) printed(metric int) *float64 {
	if len(r.Printed) == 0 {
		return nil
	}
	return r.Printed[metric]
}

// Setting names a task and its configuration, in every size of the table.
type Setting struct {
	Task   string   `yaml:"task"`   // task to run, as in "train dipsgnn"
	Config string   `yaml:"config"` // configuration file, relative to the grid's
	Set    []string `yaml:"set"`    // keys to change in every size
	Smoke  []string `yaml:"smoke"`  // keys to change in size smoke, and likewise below
	Quick  []string `yaml:"quick"`
	Full   []string `yaml:"full"`
}

// Label returns the method with its variant.
func (r *Row) Label() string {
	if r.Variant == "" {
		return r.Method
	}
	return r.Method + " (" + r.Variant + ")"
}

// SizeNames lists the sizes, the smallest first.
func SizeNames() []string { return []string{"smoke", "quick", "full"} }

// size returns a size, and the overrides of a setting in it.
func (g *Grid) size(name string, s Setting) (p Size, own []string, err error) {
	switch name {
	case "smoke":
		return g.Sizes.Smoke, s.Smoke, nil
	case "quick":
		return g.Sizes.Quick, s.Quick, nil
	case "full":
		return g.Sizes.Full, s.Full, nil
	}
	return p, nil, &run.UsageError{Message: fmt.Sprintf("unknown profile %q", name), Fix: suggest(name, SizeNames())}
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

// Load reads a grid file. Configurations are found relative to it.
func Load(file string, tasks []run.Task) (*Grid, error) {
	g, doc, err := config.Load(file, nil, Grid{})
	if err != nil {
		return nil, err
	}
	return g.check(doc, tasks, files{dir: filepath.Dir(file)}, &plans{})
}

// In checks grids that a program made of another document, which has the same sizes and data.
// file is where it was read, in a tree, or on the disk where tree is nil. Configurations are found
// relative to it.
func In(doc *config.Document, tree fs.FS, file string, tasks []run.Task, grids ...Grid) ([]*Grid, error) {
	dir := filepath.Dir(file)
	if tree != nil {
		dir = path.Dir(file)
	}
	checked := &plans{}
	out := make([]*Grid, len(grids))
	for i, g := range grids {
		var err error
		if out[i], err = g.check(doc, tasks, files{tree, dir}, checked); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parse reads a grid of a tree.
func parse(tree fs.FS, name string, tasks []run.Task, checked *plans) (*Grid, error) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, fmt.Errorf("grid: %w", err)
	}
	g, doc, err := config.Parse(builtIn+name, text, nil, Grid{})
	if err != nil {
		return nil, err
	}
	return g.check(doc, tasks, files{tree, path.Dir(name)}, checked)
}

// BuiltIn returns the grids of papers' tables and figures in a tree, in the order of their
// names: those in the folder "tables", and in the folder "studies" those named after a figure,
// as in "dipsgnn-figure3.yaml". They have the causes of the folder "causes".
func BuiltIn(tree fs.FS, tasks []run.Task) ([]*Grid, error) {
	var names []string
	for _, glob := range []string{"tables/*.yaml", "studies/*-figure*.yaml"} {
		found, err := fs.Glob(tree, glob)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	out := make([]*Grid, len(names))
	checked := &plans{}
	err := system.Together(len(names), func(i int) (err error) {
		out[i], err = parse(tree, names[i], tasks, checked)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := explain(tree, out, true); err != nil {
		return nil, err
	}
	return out, attach(tree, out)
}

// check reports every problem of a grid by its line, and lets the task of every row check
// its configuration.
func (g Grid) check(doc *config.Document, tasks []run.Task, f files, checked *plans) (*Grid, error) {
	g.files, g.plans = f, checked
	if err := g.Form(doc, tasks); err != nil {
		return nil, err
	}
	v := config.NewChecker(doc)
	g.checkConfigs(v)
	for i := range g.Claims {
		claims.Check(v, fmt.Sprintf("claims.%d", i), &g.Claims[i], g.subject())
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	return &g, nil
}

// nameDefaults gives what no paper prints its own name: metrics, data, and percent.
func (g *Grid) nameDefaults() {
	if g.Unit == "" {
		g.Unit = percent
	}
	for i := range g.Metrics {
		if m := &g.Metrics[i]; m.Printed == "" {
			m.Printed = m.Name
		}
	}
	for i := range g.Data {
		if d := &g.Data[i]; d.Printed == "" {
			d.Printed = d.Name
		}
	}
}

const (
	percent = "percent"
	share   = "share"
	count   = "count" // of data, in the unit of the statistic
)

// place is the key of a row in its document.
func (g *Grid) place(row int) string {
	if p := g.Rows[row].Place; p != "" {
		return p
	}
	return fmt.Sprintf("rows.%d", row)
}

// methodKey returns the key of a row's method by that of the row: where data are counted, it says what is counted.
func methodKey(row string) string {
	if strings.HasPrefix(row, "statistics.") {
		return row + ".counted"
	}
	return row + ".method"
}

// repeats reports whether another row has the row's printed numbers, and has them first.
func (r *Row) repeats(o Row) bool {
	same := func(a, b *float64) bool { return a == nil || b != nil && *a == *b }
	return !o.Again && o.Data == r.Data && slices.EqualFunc(r.Printed, o.Printed, same) &&
		slices.ContainsFunc(r.Printed, func(p *float64) bool { return p != nil })
}

// checkConfigs lets the task of every row, and those of the runs that it is about, check
// their configurations in every size.
func (g *Grid) checkConfigs(v *config.Checker) {
	bad := map[string]bool{} // rows with a problem: their other sizes and points have it too
	for _, name := range SizeNames() {
		for _, r := range g.rows(name) {
			if bad[r.Line()+" "+r.Data] {
				continue
			}
			c, err := g.entry(r, name, nil)
			if err == nil {
				err = c.check()
			}
			if err == nil {
				continue
			}
			bad[r.Line()+" "+r.Data] = true
			at := g.place(slices.IndexFunc(g.Rows,
				func(o Row) bool { return o.Label() == r.Line() && o.Data == r.Data }))
			var one *config.Error
			if errors.As(err, &one) && one.Set != "" {
				v.Check(false, at, "size %s sets %s: %s", name, one.Set, one.Message)
			} else {
				v.Check(false, at+".config", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
			}
		}
	}
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
