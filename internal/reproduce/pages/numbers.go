package pages

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/report"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
)

// numbers makes the tables of all numbers of a table or figure, one for each data set with a number: the
// paper's, ours, and how they stand to each other. Sentences that several cells share stand below
// the table, under a number.
func (m *Made) numbers(run func(name string) string) []report.Part {
	var data []string
	for i := range m.Cells {
		data = phrase.AppendNew(data, m.Cells[i].Data+"\x00"+m.Cells[i].Taken)
	}
	var out []report.Part
	for _, key := range data {
		var of []*results.Cell
		for i := range m.Cells {
			if c := &m.Cells[i]; c.Data+"\x00"+c.Taken == key {
				of = append(of, c)
			}
		}
		if slices.ContainsFunc(of, func(c *results.Cell) bool { return c.Printed != nil || c.Ours != nil }) {
			out = append(out, m.table(of, run))
		}
	}
	return out
}

// table makes the table of some cells on the same data.
func (m *Made) table(cells []*results.Cell, run func(name string) string) *report.Table {
	first := cells[0]
	t := &report.Table{Name: m.Name + "-" + first.Taken, Title: first.Data, Sorts: true}
	if taken := first.Taken; taken != "" && !strings.EqualFold(taken, first.Data) {
		t.Title += ", here " + taken
	}
	t.Title += " (" + first.Unit + ")"
	curves := slices.ContainsFunc(cells, func(c *results.Cell) bool { return c.At != nil })
	t.Columns = report.Columns("", "method", "metric")
	if curves {
		t.Columns = append(t.Columns, report.Columns("%.4g", "at")...)
	}
	format := "%.2f"
	if first.Unit == "share" {
		format = "%.4f"
	}
	t.Columns = append(t.Columns, report.Columns(format, "paper", "ours")...)
	t.Columns = append(t.Columns, report.Columns("%+"+format[1:], "difference")...)
	rest := []string{"95 % interval", "status", "cause", "best floor", "floor", "level", "seeds", "epochs"}
	t.Columns = append(t.Columns, report.Columns(format, rest...)...)
	t.Columns = append(t.Columns, report.Columns("%.4g", "claimed epsilon", "accounted epsilon", "run")...)
	var notes []string
	for _, c := range cells {
		row := []any{label(c), c.Heading}
		if curves {
			row = append(row, value(c.At))
		}
		var interval, runs any
		if c.Low != nil && c.High != nil {
			interval = fmt.Sprintf(format+" to "+format, *c.Low, *c.High)
		}
		if len(c.Runs) > 0 {
			runs = report.Link{Text: "run", To: run(c.Runs[0])}
		}
		seeds := fmt.Sprint(c.Seeds)
		if c.Seeds < c.SeedsOf {
			seeds = fmt.Sprintf("%d of %d", c.Seeds, c.SeedsOf)
		}
		t.Add(append(row, whole(c.Printed), whole(c.Ours), value(c.Difference), interval, status(c), because(c, &notes),
			whole(c.Floor), c.FloorName, c.Level, seeds, c.Epochs,
			value(c.ClaimedEpsilon), value(c.AccountedEpsilon), runs)...)
	}
	dropEmpty(t, "paper", "ours", "status")
	for i, n := range notes {
		t.Notes = append(t.Notes, fmt.Sprintf("(%d) %s", i+1, n))
	}
	return t
}

// dropEmpty removes columns without anything in them, but for some.
func dropEmpty(t *report.Table, keep ...string) {
	for c := len(t.Columns) - 1; c >= 0; c-- {
		if slices.Contains(keep, t.Columns[c].Name) ||
			slices.ContainsFunc(t.Rows, func(r []any) bool { return r[c] != nil && r[c] != "" }) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, c, c+1)
		for i := range t.Rows {
			t.Rows[i] = slices.Delete(t.Rows[i], c, c+1)
		}
	}
}

// label returns the method with its setting.
func label(c *results.Cell) string {
	if c.Setting == "" {
		return c.Method
	}
	return c.Method + " (" + c.Setting + ")"
}

// value returns a number, or nothing.
func value(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// whole returns a number, or nothing. A large one without a fraction, such as a count, is an integer.
func whole(x *float64) any {
	if x != nil && *x >= 1000 && *x == math.Trunc(*x) && *x < 1<<53 {
		return int(*x)
	}
	return value(x)
}

// states are words for runs without a result.
var states = map[roster.Status]string{
	roster.ToDo: "not run", roster.Resumable: "not finished", roster.Running: "not finished",
	roster.Elsewhere: "not finished",
	roster.NoData:    "data missing", roster.Failed: "failed", roster.Done: "no result",
	roster.Stale: "stale",
}

// status shows how a cell stands, or why it is empty.
func status(c *results.Cell) any {
	switch {
	case c.Status != "":
		return report.Tag{Text: c.Status, Kind: kinds[c.Status]}
	case c.Printed == nil && c.Ours != nil:
		return report.Tag{Text: "not printed", Kind: report.Neutral}
	case c.Ours == nil:
		return report.Tag{Text: states[c.State], Kind: report.Neutral}
	}
	return report.Tag{Text: "not compared", Kind: report.Neutral}
}

// because names the cause of a difference, and the number of its sentence below the table. It leaves
// out what the status says already.
func because(c *results.Cell, notes *[]string) any {
	if c.Why == "" || c.Status == "" && (c.Printed == nil || c.Why == states[c.State]) {
		if c.Cause == "" {
			return nil
		}
		return c.Cause
	}
	at := slices.Index(*notes, c.Why)
	if at < 0 {
		at, *notes = len(*notes), append(*notes, c.Why)
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%d)", c.Cause, at+1))
}
