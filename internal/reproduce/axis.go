package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/config"
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

// picks reports whether the axis picks evaluations of a run.
func (a *Axis) picks() bool { return a.Key == "" }

// in enters a value in the name of an evaluation.
func (a *Axis) in(evaluation, value string) string {
	return strings.ReplaceAll(evaluation, a.hole(), value)
}

// hole is what stands for the value of the axis in the name of an evaluation.
func (a *Axis) hole() string { return "{" + a.Name + "}" }

// label returns what stands below the axis.
func (a *Axis) label() string {
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

// point is what a row of a figure stands for at one value of an axis.
type point struct {
	axis    *Axis
	value   float64
	setting string   // of the row, without the value
	sets    []string // overrides of the task
	about   []string // overrides of the runs that the row is about
	quick   []string // overrides of size quick, of the task or of those runs
}

// Line returns the method with its variant, without the value of a point.
func (r *Row) Line() string {
	if r.line != "" {
		return r.line
	}
	return r.Label()
}

// rows lists the rows of a size. A row with axes is there once for each of their values.
func (g *Grid) rows(size string) (out []*Row) {
	for i := range g.Rows {
		out = append(out, g.pointsOf(&g.Rows[i], size)...)
	}
	return out
}

// pointsOf returns a row once for each value of its axes, or the row itself without any.
func (g *Grid) pointsOf(r *Row, size string) (out []*Row) {
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
	p, key, word := &point{axis: a, value: v, setting: r.Variant}, a.Key, strconv.FormatFloat(v, 'g', -1, 64)
	if r.Key != "" {
		key = r.Key
	}
	set := []string{key + "=" + word}
	if a.picks() {
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
	if a.picks() {
		own.Evaluation, own.SmokeEvaluation = a.in(r.Evaluation, word), a.in(r.SmokeEvaluation, word)
	}
	own.point, own.line = p, r.Label()
	own.Variant = strings.TrimPrefix(r.Variant+", "+a.Name+" "+word, ", ")
	return &own
}

// checkAxes reports what is wrong with the axes of a grid.
func (g *Grid) checkAxes(v *config.Checker) {
	for i := range g.Axes {
		a, at := &g.Axes[i], func(key string) string { return fmt.Sprintf("axes.%d.%s", i, key) }
		v.CheckAs(g.axis(a.Name) == a, at("name"), "no axis is there twice", "%s is there already", a.Name)
		checkValues(v, at("values"), a.Values, a.Log)
		checkValues(v, at("smoke"), a.Smoke, a.Log)
		checkValues(v, at("quick"), a.Quick, a.Log)
	}
}

// checkValues reports values that are no numbers of an axis, or not in rising order.
func checkValues(v *config.Checker, at string, values []float64, log bool) {
	for i, x := range values {
		key := fmt.Sprintf("%s.%d", at, i)
		v.Check(!math.IsNaN(x) && !math.IsInf(x, 0), key, "must be finite, got %v", x)
		v.Check(!log || x > 0, key, "must be positive on a logarithmic axis, got %v", x)
		v.Check(i == 0 || x > values[i-1], key, "must be larger than the value before, got %v after %v", x,
			values[max(i, 1)-1])
	}
}

// checkPoints reports what is wrong with the axes that a row names.
func (g *Grid) checkPoints(v *config.Checker, r *Row, at func(key string) string) {
	for k, name := range r.Axes {
		v.CheckAs(g.axis(name) != nil, at(fmt.Sprintf("axes.%d", k)), "must be among the grid's axes",
			"%q is not among the grid's axes", name)
		v.CheckAs(!slices.Contains(r.Axes[:k], name), at(fmt.Sprintf("axes.%d", k)), "no axis is there twice",
			"%s is there already", name)
	}
	v.Check(len(r.Axes) == 1 || r.Key == "" && len(r.Values) == 0 && len(r.At) == 0, at("axes"),
		"a row with its own key, values or overrides at points must name one axis, got %d", len(r.Axes))
	if len(r.Axes) == 0 {
		return
	}
	a := g.axis(r.Axes[0])
	if a == nil {
		return
	}
	if a.picks() {
		v.CheckAs(len(r.Axes) == 1 && r.Key == "" && strings.Contains(r.Evaluation, a.hole()), at("evaluation"),
			"must hold the name of an axis without a key in braces, and no other axis",
			"must hold %s, since the axis has no key and picks an evaluation", a.hole())
	}
	v.CheckAs(!a.On || len(r.On) > 0, at("axes"), "an axis of runs that a row is about is for rows that are about some",
		"%s is a key of runs that a row is about, and this row is about none", a.Name)
	checkValues(v, at("values"), r.Values, a.Log)
	for k, p := range r.At {
		v.CheckAs(slices.Contains(slices.Concat(r.Values, a.Values, a.Smoke, a.Quick), p.Value),
			at(fmt.Sprintf("at.%d.value", k)), "must be among the values of the axis",
			"%v is not among the values of %s", p.Value, a.Name)
	}
}
