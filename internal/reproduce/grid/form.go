package grid

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/config"
	"privrec/internal/printed"
	"privrec/internal/protocol/statistics"
	"privrec/internal/run"
)

// What the file of a grid may say, without a look at the configurations that it names. Limits are those of its schema
// too.

var (
	gridName  = regexp.MustCompile(`^[A-Za-z0-9-][A-Za-z0-9.-]*$`)
	paperName = regexp.MustCompile(`^[A-Za-z0-9.-]*$`)
)

// Probe tries what the checks of grids say of their keys: of a table, a figure, a study, and a table that counts.
func Probe(tasks []run.Task) config.Probed {
	size, number := Size{About: "what is cut short", Seeds: []uint64{1}}, 0.5
	table := Grid{Name: "grid", Paper: "paper", Table: 1, Title: "title", Place: Place{Cite: "cite", Where: "where"},
		Unit:    UnitPercent,
		Metrics: []Metric{{Name: "Recall@20", Printed: "R@20"}},
		Data:    []Data{{Name: "ml-1m", Printed: "ML-1M", StandIn: "standin-tiny"}}, Sizes: Sizes{size, size, size}}
	trained := Setting{Task: "train bprmf", Config: "file.yaml"}
	row := Row{Method: "method", Data: "ml-1m", Setting: trained, On: []Setting{trained}, Printed: []*float64{&number},
		Spread: []*float64{&number}}
	table.Rows, table.Gains = []Row{row, row},
		[]Gain{{Method: "method", Over: "other", Data: "ml-1m", Printed: []*float64{&number}}}
	table.Rows[1].Method, table.Rows[1].Again = "other", true

	transcribed := table
	transcribed.Paper, transcribed.Table, transcribed.Rows = "dipsgnn", 2, slices.Clone(table.Rows)
	transcribed.Gains = []Gain{{Method: "DIPSGNN", Over: "EdgeRand", Data: "ml-1m"}}
	for i, method := range []string{"DIPSGNN", "EdgeRand"} {
		r := &transcribed.Rows[i]
		r.Method, r.PrintedAs, r.Printed, r.Spread, r.Again = method, printed.Setting{"eps1": "20"}, nil, nil, false
	}

	study := table
	study.Table, study.Gains, study.Paper, study.Place = 0, nil, "", Place{}
	study.Axes = []Axis{{Name: "epsilon", Key: "privacy.epsilon", Values: []float64{1, 2}, Smoke: []float64{1},
		Quick: []float64{1}, On: true}}
	varied := row
	varied.Axes, varied.Values, varied.At, varied.Printed, varied.Spread = []string{"epsilon"}, []float64{1, 2},
		[]At{{Value: 1}}, nil, nil
	study.Rows = []Row{varied}
	study.Claims = []claims.Claim{{ID: "id", Text: "text",
		Parts: []claims.Part{{Says: "above", Lines: []string{"method", "other"},
			Except: []claims.Exception{{Data: "ml-1m"}}}}}}
	figure := study
	figure.Paper, figure.Figure, figure.Place = table.Paper, 1, table.Place
	picked := varied
	picked.Values, picked.At, picked.Evaluation = nil, nil, "ratio {epsilon}"
	figure.Axes, figure.Rows = []Axis{{Name: "epsilon", Values: []float64{1, 2}, Log: true}}, []Row{picked}

	counted := table
	counted.Unit, counted.Rows, counted.Gains, counted.Metrics = UnitCount, nil, nil,
		[]Metric{{Name: "users", Printed: "users"}}
	counted.Counts = []Count{{Data: "ml-1m", Label: "the file as it is", Printed: []*float64{&number}}}
	countedThere := counted // in a transcription too
	countedThere.Paper, countedThere.Metrics = transcribed.Paper, []Metric{{Name: "users", Printed: "users"}}
	countedThere.Metrics[0].PrintedAs = printed.Setting{"column": "Users"}
	countedThere.Counts = []Count{{Data: "ml-1m", Label: "the file as it is", PrintedAs: printed.Setting{"table": "1"}}}
	return config.ProbeAll(func(v *config.Checker, g Grid) {
		g.Metrics, g.Data, g.Rows = slices.Clone(g.Metrics), slices.Clone(g.Data), slices.Clone(g.Rows)
		g.Gains, g.Claims = slices.Clone(g.Gains), slices.Clone(g.Claims)
		g.form(v, tasks)
	}, Grid{}, table, transcribed, study, figure, counted, countedThere)
}

// Form reports every problem of a grid by its line in doc, but for the configurations that it names and what its claims
// say of its rows. It gives names that are left out, and makes rows of what the grid counts.
func (g *Grid) Form(doc *config.Document, tasks []run.Task) error {
	v := config.NewChecker(doc)
	g.form(v, tasks)
	return v.Err()
}

// form is Form, into a checker.
func (g *Grid) form(v *config.Checker, tasks []run.Task) {
	v.Declared(g)
	g.tasks = append(slices.Clip(tasks), statistics.Task())
	v.Matches("name", g.Name, gridName, "letters, digits, - and .")
	study := g.Table == 0 && g.Figure == 0
	v.Matches("paper", g.Paper, paperName, "letters, digits, - and .")
	if !study {
		v.NotEmpty("paper", g.Paper)
	}
	v.Check(g.Table == 0 || g.Figure == 0, "figure", "must not be there beside table")
	if !study {
		v.NotEmpty("source.cite", g.Place.Cite)
		v.Limited(config.FilledLimit(), g.Place.Where != "", "source.where",
			"must say where in the paper the numbers stand")
	}
	units := config.OneOfLimit(UnitPercent, UnitShare, UnitCount)
	if g.Table == 0 {
		g.nameDefaults()
		units = config.OrLimit(units, "")
	}
	v.Limited(units, slices.Contains(units.Words, g.Unit), "unit", "must be %s, %s or %s, got %q", UnitPercent, UnitShare,
		UnitCount, g.Unit)
	g.countRows(v)
	g.checkMetrics(v)
	g.checkData(v)
	g.checkSizes(v)
	g.checkAxes(v)
	g.transcribe(v)
	if len(g.Counts) == 0 {
		v.Some("rows", len(g.Rows))
	}
	for i := range g.Rows {
		g.checkRow(v, i)
	}
	for i := range g.Gains {
		g.checkGain(v, i)
	}
	for i := range g.Claims {
		claims.CheckForm(v, fmt.Sprintf("claims.%d", i), &g.Claims[i], g.Name)
	}
}

// nameDefaults gives what no paper prints its own name: metrics, data, and percent.
func (g *Grid) nameDefaults() {
	if g.Unit == "" {
		g.Unit = UnitPercent
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

// checkMetrics reports columns that measure nothing, or that are there twice.
func (g *Grid) checkMetrics(v *config.Checker) {
	for i := range g.Metrics {
		at := fmt.Sprintf("metrics.%d.metric", i)
		if !v.NotEmpty(at, g.Metrics[i].Name) {
			continue
		}
		m, err := measure(g.Metrics[i].Name, g.Unit)
		if !v.CheckAs(err == nil, at,
			"must be a metric, such as Recall@20, micro F1 gender or AUC member users; where the unit is count, a "+
				"statistic of data", "%v", err) {
			continue
		}
		g.Metrics[i].Measure = m
		twice := slices.ContainsFunc(g.Metrics[:i], func(o Metric) bool { return o.Measure == m })
		v.CheckAs(!twice, at, "no metric is there twice", "%v is there already", m)
		v.Check(g.Metrics[i].Printed != "", fmt.Sprintf("metrics.%d.printed", i),
			"must be the paper's heading of the column")
	}
}

// checkData reports data that are not known, or not what they stand for.
func (g *Grid) checkData(v *config.Checker) {
	for i, d := range g.Data {
		if d.Any {
			continue
		}
		name, standIn := fmt.Sprintf("data.%d.name", i), fmt.Sprintf("data.%d.stand_in", i)
		if v.NotEmpty(name, d.Name) {
			made, err := KnownData(d.Name)
			v.CheckAs(err == nil, name, "must be a data set that is registered", "%v", err)
			v.CheckAs(err != nil || !made, name, "must not be a stand-in", "%s is a stand-in", d.Name)
		}
		if v.NotEmpty(standIn, d.StandIn) {
			made, err := KnownData(d.StandIn)
			v.CheckAs(err == nil, standIn, "must be a data set that is registered", "%v", err)
			v.CheckAs(err != nil || made, standIn, "must be a stand-in", "%s is not a stand-in", d.StandIn)
		}
		v.Check(d.Printed != "", fmt.Sprintf("data.%d.printed", i), "must be the paper's name of the data")
		twice := slices.ContainsFunc(g.Data[:i], func(o Data) bool { return o.Name == d.Name })
		v.CheckAs(!twice, name, "no data set is there twice", "%s is there already", d.Name)
	}
}

// checkSizes reports sizes without seeds, or that do not say what they leave out.
func (g *Grid) checkSizes(v *config.Checker) {
	for i, p := range []Size{g.Sizes.Smoke, g.Sizes.Quick, g.Sizes.Full} {
		at := "profiles." + SizeNames()[i]
		v.Some(at+".seeds", len(p.Seeds))
		v.Limited(config.FilledLimit(), p.About != "", at+".about", "must say what it leaves out")
		for j, s := range p.Seeds {
			v.CheckAs(!slices.Contains(p.Seeds[:j], s), fmt.Sprintf("%s.seeds.%d", at, j), "no seed is there twice",
				"seed %d is there already", s)
		}
	}
}

// countRows makes rows of what the grid counts.
func (g *Grid) countRows(v *config.Checker) {
	v.Check(len(g.Counts) == 0 || len(g.Rows) == 0, "statistics", "must not be there beside rows")
	v.Check(len(g.Counts) == 0 == (g.Unit != UnitCount), "statistics",
		"a grid has statistics if its unit is %s, and no others", UnitCount)
	for i, c := range g.Counts {
		r := Row{Method: c.Label, About: c.About, Data: c.Data, Evaluation: c.Step, SmokeEvaluation: c.SmokeStep,
			Place: fmt.Sprintf("statistics.%d", i), Printed: c.Printed, PrintedAs: c.PrintedAs, Again: c.Again,
			Setting: Setting{Task: counting, Set: c.Set, Smoke: c.Smoke}}
		if c.Recipe != "" {
			r.Set = append([]string{"data.recipe=" + c.Recipe}, c.Set...)
		}
		g.Rows = append(g.Rows, r)
	}
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

// checkRow reports what is wrong with a row.
func (g *Grid) checkRow(v *config.Checker, i int) {
	r, at := &g.Rows[i], func(key string) string { return g.place(i) + "." + key }
	method := methodKey(g.place(i))
	v.CheckAs(slices.ContainsFunc(g.Data, func(d Data) bool { return d.Name == r.Data }), at("data"),
		"must be among the grid's data", "%q is not among the grid's data", r.Data)
	g.checkSetting(v, r.Setting, at)
	for k, s := range r.On {
		g.checkSetting(v, s, func(key string) string { return at(fmt.Sprintf("on.%d.%s", k, key)) })
	}
	g.checkPoints(v, r, at)
	none := len(r.Printed) == 0 && (g.Table == 0 || r.Printed != nil)
	v.CheckAs(none || len(r.Printed) == len(g.Metrics), at("printed"),
		"must be a number, or null, for each metric, or [] for none",
		"%d printed numbers for %d metrics; write null where the paper prints none", len(r.Printed), len(g.Metrics))
	v.CheckAs(!r.Again || slices.ContainsFunc(g.Rows[:i], r.Repeats), at("again"),
		"must follow a row of the data with these printed numbers", "no earlier row of %s has these printed numbers",
		r.Data)
	v.CheckAs(len(r.Spread) == len(r.Printed) || len(r.Spread) == 0, at("spread"),
		"must be as many as there are printed numbers", "%d printed deviations for %d printed numbers", len(r.Spread),
		len(r.Printed))
	for j := range i {
		o := &g.Rows[j]
		v.CheckAs(o.Label() != r.Label() || o.Data != r.Data, method,
			"rows of one method on the same data must differ in the key setting",
			"%s on %s is row %d already; the key setting tells two rows apart", r.Label(), r.Data, j+1)
	}
}

// checkSetting reports a task that is not known, and a setting without a configuration. An attack may have its
// defaults.
func (g *Grid) checkSetting(v *config.Checker, s Setting, at func(key string) string) {
	var known []string
	for _, t := range g.tasks {
		known = append(known, t.String())
	}
	_, err := g.task(s.Task)
	v.Limited(config.OneOfLimit(known...), err == nil, at("task"), "%v", err)
	if s.Task != counting && !strings.HasPrefix(s.Task, "attack ") {
		v.Limited(config.FilledLimit(), s.Config != "", at("config"), "must name a file")
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
	if a.Picks() {
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

// checkGain reports what is wrong with a gain.
func (g *Grid) checkGain(v *config.Checker, i int) {
	p, at := g.Gains[i], func(key string) string { return fmt.Sprintf("gains.%d.%s", i, key) }
	v.CheckAs(g.Unit == UnitPercent, at("printed"), "gains are percent, and so is the unit of their grid",
		"gains are percent, and the grid's unit is %s", g.Unit)
	v.Check(len(g.Axes) == 0, at("data"), "gains are of tables, and this grid has axes")
	v.CheckAs(g.Find(p.Method, p.Setting, p.Data) >= 0, at("method"), "must be a row on the same data",
		"no row %q with setting %q on %s", p.Method, p.Setting, p.Data)
	v.CheckAs(g.Find(p.Over, p.OverSetting, p.Data) >= 0, at("over"), "must be a row on the same data",
		"no row %q with setting %q on %s", p.Over, p.OverSetting, p.Data)
	v.CheckAs(len(p.Printed) == len(g.Metrics), at("printed"), "must be a number, or null, for each metric",
		"%d printed numbers for %d metrics; write null where the paper prints none", len(p.Printed), len(g.Metrics))
}
