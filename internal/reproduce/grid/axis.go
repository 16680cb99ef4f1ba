package grid

import (
	"strings"
)

// Axis names a key of configurations that a figure varies. A row that names the axis stands for one point, and one
// run for each seed, at each value.
type Axis struct {
	// name of the axis in rows, and before the value of a point, as in "epsilon 4"
	Name  string `yaml:"name" limit:"filled"`
	Label string `yaml:"label"` // label below the axis; empty: the name
	// Key is the key that varies, as in privacy.epsilon. Empty: no run varies, and the axis picks an evaluation of
	// one run, whose name in the row has the axis in braces, as in "ratio {ratio}".
	Key    string    `yaml:"key"`
	On     bool      `yaml:"on"`                  // the key belongs to the runs that the row is about
	Values []float64 `yaml:"values" limit:"some"` // values in rising order
	Smoke  []float64 `yaml:"smoke"`               // values in size smoke; empty: all
	Quick  []float64 `yaml:"quick"`               // values in size quick; empty: all
	Log    bool      `yaml:"log"`                 // draw the axis with a logarithmic scale
	// Accounted draws the same points over their accounted epsilon too.
	Accounted bool `yaml:"accounted"`
}

// Picks reports whether the axis picks evaluations of a run.
func (a *Axis) Picks() bool { return a.Key == "" }

// in enters a value in the name of an evaluation.
func (a *Axis) in(evaluation, value string) string {
	return strings.ReplaceAll(evaluation, a.hole(), value)
}

// hole is what stands for the value of the axis in the name of an evaluation.
func (a *Axis) hole() string { return "{" + a.Name + "}" }

// Below returns what stands below the axis.
func (a *Axis) Below() string {
	if a.Label == "" {
		return a.Name
	}
	return a.Label
}

// At sets further keys at one value of a row's axis.
type At struct {
	Value float64  `yaml:"value"`
	Set   []string `yaml:"set"`   // keys to change in every size
	Quick []string `yaml:"quick"` // keys to change in size quick
}

// Point is what a row of a figure stands for at one value of an axis.
type Point struct {
	Axis    *Axis
	Value   float64
	Variant string   // of the row, without the value
	sets    []string // overrides of the task
	about   []string // overrides of the runs that the row is about
	quick   []string // overrides of size quick, of the task or of those runs
}
