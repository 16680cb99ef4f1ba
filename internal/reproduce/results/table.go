package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// Table is a finished table in all its forms. None of them holds a time or a machine.
type Table struct {
	Name     string           // of its files: grid and size
	Document *report.Document // for readers
	Numbers  *report.Table    // for programs: a line for each row and metric
	Accounts *report.Table    // for programs: a line for each row and unit of protection
	Points   *report.Table    // for programs, of a figure: a line for each point and metric; else nil
	Cells    []Cell           // every number with all that stands behind it

	grid *grid.Grid
	rows []*summary
}

// Make lays out the results of the runs.
func Make(g *grid.Grid, o roster.Options, entries []*grid.Entry, runs []*roster.Run) (*Table, error) {
	rows, err := summaries(g, entries, runs)
	if err != nil {
		return nil, err
	}
	t := &Table{Name: g.FileName(o.Size, o.Sets), grid: g, rows: rows}
	gains, err := gainsOf(g, rows)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(rows), gains...)
	if t.Cells, err = makeCells(g, all); err != nil {
		return nil, err
	}
	p, _, err := g.Size(o.Size, g.Rows[0].Setting)
	if err != nil {
		return nil, err
	}
	t.Document = &report.Document{
		Title:    g.Title,
		Subtitle: source(g) + fmt.Sprintf("size %s: %s", o.Size, p.About) + byHand(g.Own(o.Sets)),
		Level:    commonLevel(rows),
		Notes:    notesOf(g, o, rows),
	}
	var lines []*line
	if drawn(g) || len(g.Claims) > 0 {
		if lines, err = linesOf(g, rows); err != nil {
			return nil, err
		}
	}
	for i := range g.Data {
		of := rowsOf(all, &g.Data[i])
		switch {
		case len(of) == 0:
		case drawn(g):
			t.Document.Tables = append(t.Document.Tables, pointTable(g, &g.Data[i], of, lines))
		default:
			t.Document.Tables = append(t.Document.Tables, resultTable(g, &g.Data[i], of))
		}
	}
	if drawn(g) {
		t.Document.Charts, t.Points = chartsOf(g, t.Name, lines), pointNumberTable(lines)
	}
	if len(g.Claims) > 0 {
		r, err := claims.Judge(g.Paper, g.Claims, []*claims.Grid{withResults(g, lines)})
		if err != nil {
			return nil, err
		}
		t.Document.Tables = append(t.Document.Tables, r.Detail())
	}
	if causes := causeTable(g, rows); causes != nil {
		t.Document.Tables = append(t.Document.Tables, causes)
	}
	accounts, reasons := accountTable(g, rows)
	t.Accounts = accounts
	if len(accounts.Rows) > 0 {
		shown := *accounts
		for _, r := range reasons {
			shown.Notes = append(shown.Notes, r.What+": "+r.Why)
		}
		t.Document.Tables = append(t.Document.Tables, &shown)
	}
	t.Document.Tables = append(t.Document.Tables, runTable(g, rows))
	t.Numbers = numberTable(t.Cells)
	return t, nil
}

// source says where in which paper the numbers stand; of a study it says nothing.
func source(g *grid.Grid) (text string) {
	for _, s := range []string{g.Place.Cite, g.Place.Where} {
		if s != "" {
			text += s + "; "
		}
	}
	return text
}

// byHand says which keys the user changed.
func byHand(sets []string) string {
	if len(sets) == 0 {
		return ""
	}
	return "; changed by hand in every run: " + strings.Join(sets, ", ")
}

// commonLevel returns the level of all rows with results, or 0 where they differ or none
// has results.
func commonLevel(rows []*summary) dataset.Level {
	var level dataset.Level
	for _, s := range rows {
		if len(s.results) == 0 {
			continue
		}
		if level != 0 && level != s.level {
			return 0
		}
		level = s.level
	}
	return level
}

// rowsOf returns the rows on one data set.
func rowsOf(rows []*summary, d *grid.Data) (of []*summary) {
	for _, s := range rows {
		if s.entry.Data == d {
			of = append(of, s)
		}
	}
	return of
}

// resultTable makes the table of one data set, in percent or counts and with the paper's headings: floors
// first, then for each method the printed numbers, ours and the difference.
func resultTable(g *grid.Grid, d *grid.Data, rows []*summary) *report.Table {
	title := d.Printed
	if taken := rows[0].entry.Name; taken != d.Name {
		title += ", replaced by the generated " + taken
	}
	first := "method"
	if title += " (percent)"; g.Unit == grid.UnitCount {
		title, first = strings.TrimSuffix(title, " (percent)"), "counted"
	}
	t := &report.Table{Name: d.Name, Title: title, Columns: report.Columns("%.2f", first, "numbers")}
	for _, m := range g.Metrics {
		t.Columns = append(t.Columns, report.Column{Name: m.Printed, Format: "%.2f"})
	}
	t.Columns = append(t.Columns, report.Columns("", "seeds")...)
	for _, f := range floorRows(rows) {
		line := []any{f.label, "floor"}
		for _, text := range f.cells {
			line = append(line, text)
		}
		t.Add(line...)
	}
	for _, s := range rows {
		label := s.entry.Row.Label()
		add := func(what string, cell func(metric int) string, seeds any) {
			line := []any{label, what}
			for i := range s.cells {
				line = append(line, cell(i))
			}
			t.Add(append(line, seeds)...)
			label = ""
		}
		if s.any((*Cell).paper) {
			add("paper", func(i int) string { return s.cells[i].text(s.cells[i].paper(), "") }, nil)
		}
		add("ours", s.ours, s.seeds())
		if s.any(func(c *Cell) *float64 { return c.Low }) {
			add(fmt.Sprintf("%.0f %% interval", 100*confidence), func(i int) string {
				c := &s.cells[i]
				return fmt.Sprintf("%s to %s (%v)", c.text(c.Low, ""), c.text(c.High, ""), s.level)
			}, nil)
		}
		if s.any(func(c *Cell) *float64 { return c.Difference }) {
			add("ours - paper", func(i int) string {
				c := &s.cells[i]
				if c.Difference == nil {
					return "-"
				}
				return fmt.Sprintf("%s (%v)", InText(c.Unit, s.mean(i)-c.inPercent(c.Printed), "+"), s.level)
			}, nil)
		}
		if slices.ContainsFunc(s.cells, func(c Cell) bool { return c.Status != "" }) {
			line := []any{label, "status"}
			for _, c := range s.cells {
				line = append(line, cmp.Or(c.Status, "-"))
			}
			t.Add(append(line, nil)...)
		}
	}
	return t
}

// accountTable makes the table of epsilons, claimed and accounted, and returns why some are
// infinite.
func accountTable(g *grid.Grid, rows []*summary) (*report.Table, []experiment.Open) {
	t := &report.Table{Name: "privacy",
		Title: "Epsilon of each unit: claimed, and accounted for the releases of the run (worst seed)",
		Columns: report.Columns("%.4g",
			"method", "data", "unit", "neighbours", "delta", "claimed", "accounted", "of the noise alone",
			"without bound")}
	var reasons []experiment.Open
	for _, s := range rows {
		lines, why := s.accounts()
		for _, l := range lines {
			t.Add(s.entry.Row.Label(), s.entry.On(), l.unit, l.neighbouring, number(l.delta), number(l.claimed),
				number(l.accounted), number(l.noise), strings.Join(l.open, ", "))
		}
		for _, u := range why {
			if !slices.Contains(reasons, u) {
				reasons = append(reasons, u)
			}
		}
	}
	return t, reasons
}

// runTable makes the table of the runs behind each row.
func runTable(g *grid.Grid, rows []*summary) *report.Table {
	t := &report.Table{Name: "runs", Title: "Runs", Columns: report.Columns("", "method", "data", "level", "profile",
		"seeds", "epochs run", "state", "commit")}
	for _, s := range rows {
		c := &s.cells[0]
		var seeds []string
		for _, r := range s.runs {
			seeds = append(seeds, fmt.Sprint(r.Seed))
		}
		t.Add(s.entry.Row.Label(), s.entry.On(), c.Level, c.Profile, strings.Join(seeds, ", "), c.Epochs,
			string(c.State), c.Commits)
	}
	t.Notes = []string{"epochs run: \"a + b\" is a training of a epochs that chose b, and a second one of b epochs " +
		"on all samples; seed by seed where seeds differ"}
	return t
}
