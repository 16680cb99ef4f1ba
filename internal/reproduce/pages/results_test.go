package pages

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/configs"
	"privrec/internal/papers"
	"privrec/internal/record"
	"privrec/internal/report"
	"privrec/internal/reproduce"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
)

var update = flag.Bool("update", false, "write docs/results/index.html and index.md")

// The page of everything is made from kept runs alone, and fails here when a number in it, a verdict or a record
// is changed by hand.
func TestResultsPage(t *testing.T) {
	const docs = "../../../docs/results/"
	shelf, err := record.OpenShelf("../../../" + record.KeptRuns)
	if err != nil {
		t.Fatal(err)
	}
	defer shelf.Close()
	set, printed := keptSet(t, shelf)
	page, document, err := summary(set, printed, func(run string) string { return "records/runs/" + run + ".json" })
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer) error{"index.html": page.HTML, "index.md": document.Markdown} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join(docs, name), got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("docs/results/%s is out of date, run make docs:\n%s", name, diff)
		}
	}
	if unused, err := shelf.Unused(); err != nil || len(unused) > 0 {
		t.Errorf("kept runs that no table asks for: %v, %v", unused, err)
	}
}

// keptSet gathers the tables of all papers, in full size, and their claims, from kept runs. Those that depart from
// their paper's steps are also in printed, without that.
func keptSet(t *testing.T, shelf *record.Shelf) (set *Set, printed []Made) {
	grids, err := grid.BuiltIn(configs.Files(), papers.All())
	if err != nil {
		t.Fatal(err)
	}
	o := roster.Options{Size: "full", Out: t.TempDir(), Records: shelf}
	look := func(g *grid.Grid) Made {
		made, err := reproduce.Look(t.Context(), g, o)
		if err != nil {
			t.Fatal(err)
		}
		return Made{Grid: g, Outcome: made}
	}
	set = &Set{Out: o.Out}
	var names []string
	var tables []*results.Table
	for _, g := range grids {
		made := look(g)
		set.Made, tables = append(set.Made, made), append(tables, made.Table)
		if g.Paper != "" && !slices.Contains(names, g.Paper) {
			names = append(names, g.Paper)
		}
		if p, departs := g.AsPrinted(o.Size); departs {
			printed = append(printed, look(p))
		}
	}
	list, err := grid.ReadClaims(configs.Files(), grids, names...)
	if err != nil {
		t.Fatal(err)
	}
	if set.Verdicts, err = results.Verdicts(list, grids, o, tables...); err != nil {
		t.Fatal(err)
	}
	return set, printed
}

// within points the links to pages of papers at the parts of this page.
func within(parts []report.Part) {
	here := func(l report.Link) report.Link {
		if name, id, is := strings.Cut(l.To, ".html"); is && (id == "" || id == "#claims") {
			l.To = "#" + name
		} else if is {
			l.To = id
		}
		return l
	}
	for _, part := range parts {
		switch p := part.(type) {
		case report.Section:
			within(p.Parts)
		case report.Cards:
			for i := range p {
				p[i].Title = here(p[i].Title)
			}
		case *report.Table:
			for _, row := range p.Rows {
				for i, v := range row {
					if l, is := v.(report.Link); is {
						row[i] = here(l)
					}
				}
			}
		}
	}
}

// summary makes one page of everything: what holds, the claims of every paper with their verdicts, every printed number
// beside ours, and the rows of printed beside those of the tables. It also returns that as a document, for Markdown.
// record returns the address of what was kept of a run.
func summary(s *Set, printed []Made, record func(name string) string) (*report.Page, *report.Document, error) {
	papers, _, err := s.papers()
	if err != nil {
		return nil, nil, err
	}
	page := s.holds(papers)
	within(page.Parts)
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
			of, has := compared(&p.made[i], record)
			if !has {
				continue
			}
			page.Parts = append(page.Parts, of)
			d.Tables = append(d.Tables, tables(of, p.title+", "+of.Title)...)
		}
	}
	if of, has := departures(s, printed, record); has {
		page.Parts = append(page.Parts, of)
		d.Tables = append(d.Tables, tables(of, of.Title)...)
	}
	return page, d, nil
}

// compared makes the part of a table with printed numbers, or of a figure with results.
func compared(m *Made, record func(name string) string) (s report.Section, has bool) {
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
func departures(s *Set, printed []Made, record func(name string) string) (of report.Section, has bool) {
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
	link := func(c *results.Cell) report.Link { return report.Link{Text: "run", To: record(c.Runs[0])} }
	for i := range printed {
		for j := range printed[i].Cells {
			its := &printed[i].Cells[j]
			ours := cellOf(s, its)
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

// cellOf returns the cell of the tables that is of the same row and metric as another, nil where there is none.
func cellOf(s *Set, of *results.Cell) *results.Cell {
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
