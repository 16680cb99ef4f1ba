package reproduce

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/run"
)

// Table is a finished table in all its forms. None of them holds a time or a machine.
type Table struct {
	Name     string           // of its files: grid and size
	Document *report.Document // for readers
	Numbers  *report.Table    // for programs: a line for each row and metric
	Accounts *report.Table    // for programs: a line for each row and unit of protection
	Points   *report.Table    // for programs, of a figure: a line for each point and metric; else nil
	Cells    []Cell           // every number with all that stands behind it

	grid *Grid
	rows []*summary
}

// FileName returns the name of the files of the grid's table in a size, without their endings. sets are the user's
// overrides.
func (g *Grid) FileName(size string, sets []string) string {
	name := g.Name + "-" + size
	if g.printed {
		name += "-as-printed"
	}
	if sets = g.own(sets); len(sets) > 0 { // a changed table must not replace the table as it is meant
		name += fmt.Sprintf("-changed-%.3x", sha256.Sum256([]byte(strings.Join(sets, "\n"))))
	}
	return name
}

// table lays out the results of the runs.
func (g *Grid) table(o Options, entries []*entry, runs []*Run) (*Table, error) {
	rows, err := g.summaries(entries, runs)
	if err != nil {
		return nil, err
	}
	t := &Table{Name: g.FileName(o.Size, o.Sets), grid: g, rows: rows}
	all := append(slices.Clone(rows), g.gains(rows)...)
	if t.Cells, err = g.cells(all); err != nil {
		return nil, err
	}
	p, _, err := g.size(o.Size, g.Rows[0].Setting)
	if err != nil {
		return nil, err
	}
	t.Document = &report.Document{
		Title:    g.Title,
		Subtitle: g.from() + fmt.Sprintf("size %s: %s", o.Size, p.About) + byHand(g.own(o.Sets)),
		Level:    commonLevel(rows),
		Notes:    g.notes(o, rows),
	}
	var lines []*line
	if g.drawn() || len(g.Claims) > 0 {
		if lines, err = g.lines(rows); err != nil {
			return nil, err
		}
	}
	for i := range g.Data {
		of := rowsOf(all, &g.Data[i])
		switch {
		case len(of) == 0:
		case g.drawn():
			t.Document.Tables = append(t.Document.Tables, g.points(&g.Data[i], of, lines))
		default:
			t.Document.Tables = append(t.Document.Tables, g.results(&g.Data[i], of))
		}
	}
	if g.drawn() {
		t.Document.Charts, t.Points = g.charts(t.Name, lines), g.pointNumbers(lines)
	}
	if len(g.Claims) > 0 {
		r, err := claims.Judge(g.Paper, g.Claims, []*claims.Grid{g.withResults(lines)})
		if err != nil {
			return nil, err
		}
		t.Document.Tables = append(t.Document.Tables, r.Detail())
	}
	if causes := g.causeTable(rows); causes != nil {
		t.Document.Tables = append(t.Document.Tables, causes)
	}
	accounts, reasons := g.accounts(rows)
	t.Accounts = accounts
	if len(accounts.Rows) > 0 {
		shown := *accounts
		for _, r := range reasons {
			shown.Notes = append(shown.Notes, r.What+": "+r.Why)
		}
		t.Document.Tables = append(t.Document.Tables, &shown)
	}
	t.Document.Tables = append(t.Document.Tables, g.runTable(rows))
	t.Numbers = numbers(t.Cells)
	return t, nil
}

// from says where in which paper the numbers stand; of a study it says nothing.
func (g *Grid) from() (text string) {
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
func rowsOf(rows []*summary, d *Data) (of []*summary) {
	for _, s := range rows {
		if s.entry.data == d {
			of = append(of, s)
		}
	}
	return of
}

// results makes the table of one data set, in percent or counts and with the paper's headings: floors
// first, then for each method the printed numbers, ours and the difference.
func (g *Grid) results(d *Data, rows []*summary) *report.Table {
	title := d.Printed
	if taken := rows[0].entry.name; taken != d.Name {
		title += ", replaced by the generated " + taken
	}
	first := "method"
	if title += " (percent)"; g.Unit == count {
		title, first = strings.TrimSuffix(title, " (percent)"), "counted"
	}
	t := &report.Table{Name: d.Name, Title: title, Columns: report.Columns("%.2f", first, "numbers")}
	for _, m := range g.Metrics {
		t.Columns = append(t.Columns, report.Column{Name: m.Printed, Format: "%.2f"})
	}
	t.Columns = append(t.Columns, report.Columns("", "seeds")...)
	for _, f := range floors(rows) {
		line := []any{f.label, "floor"}
		for _, text := range f.cells {
			line = append(line, text)
		}
		t.Add(line...)
	}
	for _, s := range rows {
		label := s.entry.row.Label()
		add := func(what string, cell func(c column) string, seeds any) {
			line := []any{label, what}
			for _, c := range s.columns {
				line = append(line, cell(c))
			}
			t.Add(append(line, seeds)...)
			label = ""
		}
		if s.any(func(c column) float64 { return c.paper }) {
			add("paper", func(c column) string { return s.text(c.paper, "") }, nil)
		}
		add("ours", s.ours, s.seeds())
		if s.any(func(c column) float64 { return c.lo }) {
			add(fmt.Sprintf("%.0f %% interval", 100*confidence), func(c column) string {
				return fmt.Sprintf("%s to %s (%v)", s.text(c.lo, ""), s.text(c.hi, ""), s.level)
			}, nil)
		}
		if s.any(func(c column) float64 { return c.delta }) {
			add("ours - paper", func(c column) string {
				if math.IsNaN(c.delta) {
					return "-"
				}
				return fmt.Sprintf("%s (%v)", s.text(c.delta, "+"), s.level)
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

// ours writes our result for a table cell: mean, spread and level of evidence, or why there
// is none.
func (s *summary) ours(c column) string {
	switch len(c.values) {
	case 0:
		switch {
		case len(s.results) > 0 && c.stated:
			return notInData
		case len(s.results) > 0:
			return "-"
		}
		return string(s.status())
	case 1:
		return fmt.Sprintf("%s (%v)", s.text(c.mean, ""), s.level)
	}
	return fmt.Sprintf("%s ± %s (%v)", s.text(c.mean, ""), s.text(c.sd, ""), s.level)
}

// any reports whether some column has a number there.
func (s *summary) any(of func(column) float64) bool {
	return slices.ContainsFunc(s.columns, func(c column) bool { return !math.IsNaN(of(c)) })
}

// decimals writes a number with two decimals, as the papers do, and "-" for no number.
func decimals(x float64, sign string) string {
	if math.IsNaN(x) {
		return "-"
	}
	text := fmt.Sprintf("%"+sign+".2f", x)
	if strings.Trim(text, "+-0.") == "" {
		return "0.00"
	}
	return text
}

// accounts makes the table of epsilons, claimed and accounted, and returns why some are
// infinite.
func (g *Grid) accounts(rows []*summary) (*report.Table, []experiment.Open) {
	t := &report.Table{Name: "privacy",
		Title: "Epsilon of each unit: claimed, and accounted for the releases of the run (worst seed)",
		Columns: report.Columns("%.4g",
			"method", "data", "unit", "neighbours", "delta", "claimed", "accounted", "of the noise alone",
			"without bound")}
	var reasons []experiment.Open
	for _, s := range rows {
		lines, why := s.accounts()
		for _, l := range lines {
			t.Add(s.entry.row.Label(), s.entry.on(), l.unit, l.neighbouring, number(l.delta), number(l.claimed),
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
func (g *Grid) runTable(rows []*summary) *report.Table {
	t := &report.Table{Name: "runs", Title: "Runs", Columns: report.Columns("", "method", "data", "level", "profile",
		"seeds", "epochs run", "state", "commit")}
	for _, s := range rows {
		level := ""
		if s.level != 0 {
			level = s.level.String()
		}
		var seeds []string
		for _, r := range s.runs {
			seeds = append(seeds, fmt.Sprint(r.Seed))
		}
		t.Add(s.entry.row.Label(), s.entry.on(), level, s.entry.size, strings.Join(seeds, ", "), s.epochs(),
			string(s.status()), s.commits())
	}
	t.Notes = []string{"epochs run: \"a + b\" is a training of a epochs that chose b, and a second one of b epochs " +
		"on all samples; seed by seed where seeds differ"}
	return t
}

// notes says what the numbers mean and what is missing.
func (g *Grid) notes(o Options, rows []*summary) []string {
	var out []string
	printed, withheld, spread, noisy := false, false, false, false
	levels := map[dataset.Level]bool{}
	for _, s := range rows {
		if len(s.results) > 0 {
			levels[s.level] = true
		}
		printed = printed || s.any(func(c column) float64 { return c.paper })
		withheld = withheld || len(s.results) > 0 && !report.AllowsDelta(s.level) && (g.Unit != count || s.standIn())
		spread = spread || len(s.results) > 1
		noisy = noisy || len(s.results) > 0 && s.entry.task.Noisy
	}
	if noisy {
		out = append(out, run.Remade)
	}
	if printed {
		out = append(out, "paper: "+g.Place.Where+": "+g.Place.About)
	}
	var cells []Cell
	for _, s := range rows {
		cells = append(cells, s.cells...)
	}
	if n := CountStatuses(cells); n.Printed > 0 {
		out = append(out, n.String())
		if n.Match+n.WithinNoise+n.Differs+n.NotReproducible > 0 {
			out = append(out, StatusMeaning)
		}
	}
	if withheld {
		out = append(out, "no printed number stands beside results of level C or D: they say nothing about the paper's")
	}
	if len(levels) > 1 {
		for _, l := range []dataset.Level{dataset.LevelA, dataset.LevelB, dataset.LevelC, dataset.LevelD} {
			if levels[l] {
				out = append(out, fmt.Sprintf("level %v: %s", l, l.Meaning()))
			}
		}
	}
	if spread {
		out = append(out, fmt.Sprintf("a ± b: mean and sample standard deviation over the seeds; from three seeds "+
			"on, Student's interval for the mean at %.0f %%", 100*confidence))
	}
	for _, m := range g.Metrics {
		definition := m.definition()
		if m.Printed != m.Name {
			definition = m.Printed + " is " + definition
		}
		out = append(out, definition)
	}
	out = append(out, g.steps(rows)...)
	out = append(out, g.replaced(o, rows)...)
	out = append(out, g.aboutRows(rows)...)
	for _, s := range rows {
		for _, r := range s.runs {
			line := fmt.Sprintf("%s on %s, seed %d: %s", r.Method, r.On(), r.Seed, r.Status)
			switch {
			case r.Status == Done:
				continue
			case r.Status == NoData:
				line = "data missing: " + r.Problem
			case r.Problem != "":
				line += ": " + r.Problem
			}
			out = appendNew(out, line)
		}
	}
	return append(out, g.Notes...)
}

// aboutRows says how each row was made. Rows with the same text share a line.
func (g *Grid) aboutRows(rows []*summary) (out []string) {
	var lines []string
	who := map[string][]string{}
	for _, s := range rows {
		line := s.entry.row.About
		for k, b := range s.entry.about {
			made := fmt.Sprintf("on the run of %s under %s, made first with the same seed", b.task,
				path.Base(s.entry.row.On[k].Config))
			line = strings.TrimPrefix(line+"; "+made, "; ")
		}
		if short := s.short(); short != "" && s.any(func(c column) float64 { return c.paper }) {
			line = strings.TrimPrefix(line+"; no difference from the paper's numbers is taken: "+short, "; ")
		}
		if setting := s.standing(); setting != "" {
			line = strings.TrimPrefix(line+"; ran with "+setting, "; ")
		}
		if line == "" {
			continue
		}
		label := s.entry.row.Line()
		if len(g.Data) > 1 {
			label += " on " + s.entry.data.Printed
		}
		if len(who[line]) == 0 {
			lines = append(lines, line)
		}
		who[line] = appendNew(who[line], label)
	}
	for _, line := range lines {
		out = append(out, strings.Join(who[line], ", ")+": "+line)
	}
	return out
}
