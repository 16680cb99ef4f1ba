package results

import (
	"fmt"
	"math"

	"privrec/internal/report"
	"privrec/internal/reproduce/grid"
)

// pointTable makes the table of a figure on one data set: floors first, then a line for each point.
func pointTable(g *grid.Grid, d *grid.Data, rows []*summary, lines []*line) *report.Table {
	title := d.Printed
	if taken := rows[0].entry.Name; taken != d.Name {
		title += ", replaced by the generated " + taken
	}
	t := &report.Table{Name: d.Name, Title: title + " (percent)", Columns: report.Columns("%.4g", "line", "axis",
		"value", "accounted epsilon")}
	for _, m := range g.Metrics {
		t.Columns = append(t.Columns, report.Columns("", m.Printed, fmt.Sprintf("%.0f %% over users", 100*confidence),
			fmt.Sprintf("%.0f %% over seeds", 100*confidence))...)
	}
	t.Columns = append(t.Columns, report.Columns("", "seeds")...)
	for _, f := range floorRows(rows) {
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
			cells := []any{name, nil, nil, pointed(m.cells[0].AccountedEpsilon)}
			if l.axis != nil {
				cells[1], cells[2] = l.axis.Name, m.value()
			}
			for i := range m.cells {
				c := &m.cells[i]
				cells = append(cells, m.ours(i), between(m.users[i].lo, m.users[i].hi),
					between(c.inPercent(c.Low), c.inPercent(c.High)))
			}
			t.Add(append(cells, m.seeds())...)
			name = ""
		}
	}
	return t
}

// pointNumberTable makes the table of a figure for programs: a line for each point and metric.
func pointNumberTable(lines []*line) *report.Table {
	t := &report.Table{Name: "figure", Columns: report.Columns("", "figure", "profile", "panel", "data", "line", "axis",
		"value", "unit", "claimed_epsilon", "accounted_epsilon",
		"metric", "level", "state", "mean", "users95_low", "users95_high", "seeds95_low", "seeds95_high", "seeds_done",
		"seeds")}
	for _, l := range lines {
		for _, m := range l.rows {
			row, claimed := m.entry.Row, math.NaN()
			accounts, _ := m.accounts()
			for _, a := range accounts {
				if !math.IsNaN(a.claimed) && a.unit != featuresUnit {
					claimed = a.claimed
				}
			}
			for i := range m.cells {
				c, u := &m.cells[i], m.users[i]
				value := func(x *float64) any { return number(c.inPercent(x)) }
				t.Add(c.Grid, c.Profile, row.Panel, c.Taken, l.name, c.Axis, pointed(c.At), row.UnitOf,
					number(claimed), pointed(c.AccountedEpsilon), c.Metric, c.Level, string(c.State),
					number(m.mean(i)), number(u.lo), number(u.hi), value(c.Low), value(c.High), len(m.values[i]), c.SeedsOf)
			}
		}
	}
	return t
}
