package grid

import (
	"slices"
	"strconv"
	"strings"

	"privrec/internal/printed"
)

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

	// Point is where on an axis the row stands. Nil: it stands for a single result.
	Point *Point `yaml:"-"`
	// Computed marks what is computed from two other rows, and not from runs of its own.
	Computed bool `yaml:"-"`

	line string // label of the row of a point
}

// PrintedNumber returns the printed number of a metric, or nil.
func (r *Row) PrintedNumber(metric int) *float64 {
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

// Line returns the method with its variant, without the value of a point.
func (r *Row) Line() string {
	if r.line != "" {
		return r.line
	}
	return r.Label()
}

// values returns the values of an axis that a row takes in a size.
func (r *Row) values(a *Axis, size string) []float64 {
	switch {
	case size == "smoke" && len(a.Smoke) > 0:
		return a.Smoke
	case size == "quick" && len(a.Quick) > 0:
		return a.Quick
	case len(r.Values) > 0:
		return r.Values
	}
	return a.Values
}

// at returns the row at a value of an axis.
func (r *Row) at(a *Axis, v float64) *Row {
	p, key, word := &Point{Axis: a, Value: v, Variant: r.Variant}, a.Key, strconv.FormatFloat(v, 'g', -1, 64)
	if r.Key != "" {
		key = r.Key
	}
	set := []string{key + "=" + word}
	if a.Picks() {
		set = nil
	}
	for _, at := range r.At {
		if at.Value == v {
			set, p.quick = append(set, at.Set...), at.Quick
		}
	}
	if a.On {
		p.about = set
	} else {
		p.sets = set
	}
	own := *r
	if a.Picks() {
		own.Evaluation, own.SmokeEvaluation = a.in(r.Evaluation, word), a.in(r.SmokeEvaluation, word)
	}
	own.Point, own.line = p, r.Label()
	own.Variant = strings.TrimPrefix(r.Variant+", "+a.Name+" "+word, ", ")
	return &own
}

// Numbers returns how many numbers the paper prints in a row, none where an earlier row has them.
func (r *Row) Numbers() (n int) {
	for _, p := range r.Printed {
		if p != nil && !r.Again {
			n++
		}
	}
	return n
}

// Repeats reports whether another row has the row's printed numbers, and has them first.
func (r *Row) Repeats(o Row) bool {
	same := func(a, b *float64) bool { return a == nil || b != nil && *a == *b }
	return !o.Again && o.Data == r.Data && slices.EqualFunc(r.Printed, o.Printed, same) &&
		slices.ContainsFunc(r.Printed, func(p *float64) bool { return p != nil })
}

// methodKey returns the key of a row's method by that of the row: where data are counted, it says what is counted.
func methodKey(row string) string {
	if strings.HasPrefix(row, "statistics.") {
		return row + ".counted"
	}
	return row + ".method"
}
