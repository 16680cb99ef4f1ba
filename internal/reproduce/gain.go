package reproduce

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/config"
)

// Gain is a printed improvement of one row over another of the same data, in percent of the
// other. It is computed from the means of both and trains nothing.
type Gain struct {
	Data        string     `yaml:"data"`
	Method      string     `yaml:"method"`
	Setting     string     `yaml:"setting"`
	Over        string     `yaml:"over"`
	OverSetting string     `yaml:"over_setting"`
	Printed     []*float64 `yaml:"printed"`
}

// gainWhy is why a gain has no status of its own.
const gainWhy = "computed from two rows, whose numbers have their own status"

// row returns what stands for a gain among the rows of a table.
func (p Gain) row() Row {
	return Row{gain: true, Method: p.Method + " over " + p.Over, Data: p.Data, Printed: p.Printed, About: "computed from the means of the two rows, in percent of the second"}
}

// gainRows lists the gains as rows.
func (g *Grid) gainRows() (out []Row) {
	for _, p := range g.Gains {
		out = append(out, p.row())
	}
	return out
}

// find returns the index of a row, or -1.
func (g *Grid) find(method, setting, data string) int {
	return slices.IndexFunc(g.Rows, func(r Row) bool { return r.Method == method && r.Variant == setting && r.Data == data })
}

// checkGain reports what is wrong with a gain.
func (g *Grid) checkGain(v *config.Checker, i int) {
	p, at := g.Gains[i], func(key string) string { return fmt.Sprintf("gains.%d.%s", i, key) }
	v.Check(g.Unit == percent, at("printed"), "gains are percent, and the grid's unit is %s", g.Unit)
	v.Check(len(g.Axes) == 0, at("data"), "gains are of tables, and this grid has axes")
	v.Check(g.find(p.Method, p.Setting, p.Data) >= 0, at("method"), "no row %q with setting %q on %s", p.Method, p.Setting, p.Data)
	v.Check(g.find(p.Over, p.OverSetting, p.Data) >= 0, at("over"), "no row %q with setting %q on %s", p.Over, p.OverSetting, p.Data)
	v.Check(len(p.Printed) == len(g.Metrics), at("printed"), "%d printed numbers for %d metrics; write null where the paper prints none", len(p.Printed), len(g.Metrics))
}

// gains computes the gains from the rows. A gain has a result if both rows have one, and stands
// beside the printed number as the weaker of them does.
func (g *Grid) gains(rows []*summary) (out []*summary) {
	of := func(method, setting, data string) *summary {
		want := &g.Rows[g.find(method, setting, data)]
		return rows[slices.IndexFunc(rows, func(s *summary) bool { return s.entry.row == want })]
	}
	for _, p := range g.Gains {
		a, b := of(p.Method, p.Setting, p.Data), of(p.Over, p.OverSetting, p.Data)
		row, e := p.row(), *a.entry
		e.row, e.about = &row, nil
		s := &summary{entry: &e, level: max(a.level, b.level), unit: a.unit, runs: a.runs}
		if a.status() == Done {
			s.runs = b.runs
		}
		if len(a.results) > 0 && len(b.results) > 0 {
			fewer := a.results
			if len(b.results) < len(a.results) {
				fewer = b.results
			}
			for _, r := range fewer {
				s.results = append(s.results, &result{seed: r.seed, short: r.short, level: r.level})
			}
		}
		for k := range g.Metrics {
			c := column{lo: math.NaN(), hi: math.NaN(), paper: math.NaN(), delta: math.NaN(), mean: math.NaN(), floors: map[string]float64{}, stated: row.printed(k) != nil}
			x, y := a.columns[k], b.columns[k]
			if len(x.values) > 0 && len(y.values) > 0 && y.mean != 0 {
				c.mean = 100 * (x.mean/y.mean - 1)
				c.values = []float64{c.mean}
			}
			if printed := row.printed(k); printed != nil && (len(s.results) == 0 || !math.IsNaN(x.paper) && !math.IsNaN(y.paper)) && !s.standIn() {
				if c.paper = *printed; !math.IsNaN(x.delta) && !math.IsNaN(y.delta) {
					c.delta = c.mean - c.paper
				}
			}
			s.columns = append(s.columns, c)
		}
		out = append(out, s)
	}
	return out
}
