package pages

import (
	"fmt"
	"strings"

	"privrec/internal/report"
	"privrec/internal/reproduce"
)

// Summary makes one page of everything: what holds, the claims of every paper with their verdicts, and every
// printed number beside ours. It also returns that as a document, for Markdown. record returns the address of
// what was kept of a run.
func (s *Set) Summary(record func(name string) string) (*report.Page, *report.Document, error) {
	papers, _, err := s.papers()
	if err != nil {
		return nil, nil, err
	}
	for _, p := range papers {
		p.within = true
	}
	page := s.holds(papers)
	d := &report.Document{Title: page.Title, Subtitle: page.Subtitle}
	d.Facts = append(d.Facts, report.Fact{Label: "all papers", Value: page.Conclusion})
	for _, p := range papers {
		d.Facts = append(d.Facts, report.Fact{Label: p.title, Value: p.conclusion()})
	}
	for _, part := range page.Parts {
		if section, ok := part.(report.Section); ok {
			d.Tables = append(d.Tables, tables(section, section.Title)...)
		}
	}
	for _, p := range papers {
		section := report.Section{ID: p.name, Title: p.title}
		section.Parts = []report.Part{report.Prose{p.cite + "."}, report.Prose{p.conclusion()}}
		if p.claims != nil {
			of := verdicts(p.claims)
			section.Parts = append(section.Parts, of.Parts...)
			d.Tables = append(d.Tables, tables(of, p.title+": claims")...)
		}
		page.Parts = append(page.Parts, section)
		for i := range p.made {
			of, has := p.made[i].compared(record)
			if !has {
				continue
			}
			page.Parts = append(page.Parts, of)
			d.Tables = append(d.Tables, tables(of, p.title+", "+of.Title)...)
		}
	}
	if of, has := s.departures(record); has {
		page.Parts = append(page.Parts, of)
		d.Tables = append(d.Tables, tables(of, of.Title)...)
	}
	return page, d, nil
}

// Conclusion says in a sentence how all printed numbers and claims stand.
func (s *Set) Conclusion() (string, error) {
	papers, _, err := s.papers()
	if err != nil {
		return "", err
	}
	return s.holds(papers).Conclusion, nil
}

// compared makes the part of a table with printed numbers, or of a figure with results.
func (m *Made) compared(record func(name string) string) (s report.Section, has bool) {
	t := count(m.Cells)
	if t.printed == 0 && t.filled == 0 {
		return s, false
	}
	s = report.Section{ID: m.Name, Title: m.title()}
	s.Parts = append(s.Parts, report.Prose{capital(t.sentence()) + "; " +
		fmt.Sprintf("%d of %s finished.", m.Finished(), things(len(m.Runs), "run", "runs"))})
	s.Parts = append(s.Parts, m.numbers(record)...)
	return s, true
}

// title returns the heading of a table: its number in the paper and its title.
func (m *Made) title() string {
	if m.Grid.Table == 0 && m.Grid.Figure == 0 {
		return m.Document.Title
	}
	return strings.ToUpper(m.number()[:1]) + m.number()[1:] + ": " + m.Document.Title
}

// tables returns the tables of a section, with headings that say where they belong.
func tables(s report.Section, title string) (out []*report.Table) {
	for _, part := range s.Parts {
		if t, ok := part.(*report.Table); ok {
			headed := *t
			headed.Title = strings.TrimSuffix(title+"; "+t.Title, "; ")
			out = append(out, &headed)
		}
	}
	return out
}

// departures sets rows that were trained by the paper's own steps beside those of the tables, which departed from them.
// A run that stands in rows of several tables is shown in the first. has is false where no row has both.
func (s *Set) departures(record func(name string) string) (of report.Section, has bool) {
	t := &report.Table{Name: "departures", Columns: report.Columns("", "table", "data", "method", "metric")}
	t.Columns = append(t.Columns, report.Columns("%.4g", "paper", "its steps", "ours")...)
	t.Columns = append(t.Columns, report.Columns("%+.4f", "difference")...)
	t.Columns = append(t.Columns, report.Columns("", "epochs, its steps", "epochs, ours", "seeds")...)
	t.Columns = append(t.Columns, report.Columns("", "run, its steps", "run, ours")...)
	type result struct {
		run, metric string
		ours        float64
	}
	shown := map[result]bool{}
	link := func(c *reproduce.Cell) report.Link { return report.Link{Text: "run", To: record(c.Runs[0])} }
	for i := range s.Printed {
		for j := range s.Printed[i].Cells {
			its := &s.Printed[i].Cells[j]
			ours := s.cell(its)
			if its.Ours == nil || ours == nil || ours.Ours == nil {
				continue
			}
			r := result{its.Runs[0], its.Metric, *its.Ours}
			if shown[r] {
				continue
			}
			shown[r] = true
			d := *ours.Ours - *its.Ours
			t.Add(its.Grid, its.Data, label(its), its.Heading, whole(its.Printed), whole(its.Ours), whole(ours.Ours), d,
				its.Epochs, ours.Epochs, fmt.Sprintf("%d and %d", its.Seeds, ours.Seeds), link(its), link(ours))
		}
	}
	of = report.Section{ID: t.Name, Title: "Steps of the papers beside fewer and larger ones"}
	of.Parts = []report.Part{report.Prose{"Where a paper's own steps take days, size full trains the same model in " +
		"fewer and " +
		"larger steps, and its rows say so. These rows were trained both ways, each to its end."}, t}
	return of, len(t.Rows) > 0
}

// cell returns the cell of the tables that is of the same row and metric as another, nil where there is none.
func (s *Set) cell(of *reproduce.Cell) *reproduce.Cell {
	for i := range s.Made {
		for j := range s.Made[i].Cells {
			c := &s.Made[i].Cells[j]
			if c.Grid == of.Grid && c.Data == of.Data && label(c) == label(of) && c.Metric == of.Metric && c.At == nil {
				return c
			}
		}
	}
	return nil
}
