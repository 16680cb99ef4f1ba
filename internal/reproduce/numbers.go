package reproduce

import (
	"fmt"
	"math"

	"privrec/internal/report"
)

// numbers makes the table for programs of the cells, in percent with all digits. A table cell is
// empty where there is no number. A printed number is left out where ours are of level C or D or
// from generated data.
func numbers(cells []Cell) *report.Table {
	t := &report.Table{Name: "numbers", Columns: report.Columns("", "table", "profile", "data", "printed_data",
		"method", "setting", "metric", "level", "state",
		"paper", "ours_mean", "ours_sd", "ours_t95_low", "ours_t95_high", "seeds_done", "seeds", "delta",
		"floor_random", "floor_popularity",
		"claimed_epsilon", "accounted_epsilon", "epochs_run", "commit",
		"status", "margin", "margin_basis", "cause", "why", "evidence")}
	for i := range cells {
		c := &cells[i]
		value := func(x *float64) any { return number(c.inPercent(x)) }
		var paper any
		if c.comparable() {
			paper = value(c.Printed)
		}
		floor := func(name string) any {
			if f, ok := c.Floors[name]; ok {
				return value(&f)
			}
			return nil
		}
		t.Add(c.Grid, c.Profile, c.Taken, c.Data, c.Method, c.full(), c.Metric, c.Level, string(c.State),
			paper, value(c.Ours), value(c.SD), value(c.Low), value(c.High), c.Seeds, c.SeedsOf, value(c.Difference),
			floor("random"), floor("popularity"),
			pointed(c.ClaimedEpsilon), pointed(c.AccountedEpsilon), c.Epochs, c.Commits,
			c.Status, value(c.Margin), c.Basis, c.Cause, c.Why, c.Evidence)
	}
	return t
}

// number returns x, or nothing for no number.
func number(x float64) any {
	if math.IsNaN(x) {
		return nil
	}
	return x
}

// pointed returns the number that x points to, or nothing for nil.
func pointed(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// points makes the table of a figure on one data set: floors first, then a line for each point.
func (g *Grid) points(d *Data, rows []*summary, lines []*line) *report.Table {
	title := d.Printed
	if taken := rows[0].entry.name; taken != d.Name {
		title += ", replaced by the generated " + taken
	}
	t := &report.Table{Name: d.Name, Title: title + " (percent)", Columns: report.Columns("%.4g", "line", "axis",
		"value", "accounted epsilon")}
	for _, m := range g.Metrics {
		t.Columns = append(t.Columns, report.Columns("", m.Printed, fmt.Sprintf("%.0f %% over users", 100*confidence),
			fmt.Sprintf("%.0f %% over seeds", 100*confidence))...)
	}
	t.Columns = append(t.Columns, report.Columns("", "seeds")...)
	for _, f := range floors(rows) {
		cells := []any{f.label, "floor", nil, nil}
		for _, text := range f.cells {
			cells = append(cells, text, nil, nil)
		}
		t.Add(cells...)
	}
	for _, l := range lines {
		if l.data != d {
			continue
		}
		name := l.name
		for _, m := range l.rows {
			cells := []any{name, nil, nil, number(m.accounted())}
			if l.axis != nil {
				cells[1], cells[2] = l.axis.Name, m.value()
			}
			for i, c := range m.columns {
				cells = append(cells, m.ours(c), between(m.users[i].lo, m.users[i].hi), between(c.lo, c.hi))
			}
			t.Add(append(cells, m.seeds())...)
			name = ""
		}
	}
	return t
}

// between writes an interval, or nothing where there is none.
func between(lo, hi float64) any {
	if math.IsNaN(lo) {
		return nil
	}
	return decimals(lo, "") + " to " + decimals(hi, "")
}

// pointNumbers makes the table of a figure for programs: a line for each point and metric.
func (g *Grid) pointNumbers(lines []*line) *report.Table {
	t := &report.Table{Name: "figure", Columns: report.Columns("", "figure", "profile", "panel", "data", "line", "axis",
		"value", "unit", "claimed_epsilon", "accounted_epsilon",
		"metric", "level", "state", "mean", "users95_low", "users95_high", "seeds95_low", "seeds95_high", "seeds_done",
		"seeds")}
	for _, l := range lines {
		for _, m := range l.rows {
			row, level, axis, value, claimed := m.entry.row, "", "", math.NaN(), math.NaN()
			if l.axis != nil {
				axis, value = l.axis.Name, m.value()
			}
			if len(m.results) > 0 {
				level = m.level.String()
			}
			accounts, _ := m.accounts()
			for _, a := range accounts {
				if !math.IsNaN(a.claimed) && a.unit != featuresUnit {
					claimed = a.claimed
				}
			}
			for i, c := range m.columns {
				mean := math.NaN()
				if len(c.values) > 0 {
					mean = c.mean
				}
				u := m.users[i]
				t.Add(g.Name, m.entry.size, row.Panel, m.entry.name, l.name, axis, number(value), row.UnitOf,
					number(claimed), number(m.accounted()),
					g.Metrics[i].Name, level, string(m.status()), number(mean), number(u.lo), number(u.hi),
					number(c.lo), number(c.hi), len(c.values), len(m.runs))
			}
		}
	}
	return t
}
