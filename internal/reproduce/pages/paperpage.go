package pages

import (
	"fmt"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/report"
)

// html makes the page of a paper.
func (p *paper) html() *report.Page {
	t := count(p.cells())
	d := &report.Page{Title: p.title, Subtitle: p.cite, Conclusion: p.conclusion(), Trail: above(""), Facts: p.facts(t)}
	d.Parts = append(d.Parts, p.contents())
	if p.claims != nil {
		d.Parts = append(d.Parts, verdicts(p.claims))
	}
	d.Parts = append(d.Parts, p.panel())
	if p.epsilons != nil {
		d.Parts = append(d.Parts,
			report.Section{ID: "epsilons", Title: "Epsilons: claimed, as written, as released, as repaired",
				Parts: []report.Part{report.Prose{"Settings of the paper itself, computed without a run, as privrec " +
					"account epsilon " +
					"prints them."}, p.epsilons}})
	}
	for _, m := range p.made {
		d.Parts = append(d.Parts, m.section())
	}
	if curves := p.curves(); len(curves) > 0 {
		d.Parts = append(d.Parts, report.Section{ID: "curves", Title: "Training", Parts: curves})
	}
	if data := ladders(p.runs); len(data) > 0 {
		d.Parts = append(d.Parts, report.Section{ID: "data", Title: "Data, count by count", Parts: data})
	}
	return d
}

// facts are the few values that matter most.
func (p *paper) facts(t tally) (out []report.Fact) {
	compared := t.printed - t.empty
	out = append(out, report.Fact{Label: "printed numbers compared",
		Value: fmt.Sprintf("%d of %d", compared, t.printed), Note: t.reasons()})
	if compared > 0 {
		out = append(out, report.Fact{Label: "match, or within noise",
			Value: fmt.Sprintf("%d of %d", t.by[matches]+t.by[noise], compared),
			Note:  fmt.Sprintf("%d match, %d are within noise", t.by[matches], t.by[noise])})
	}
	if p.claims != nil {
		c := p.claims.Count
		out = append(out, report.Fact{Label: "claims that hold", Value: fmt.Sprintf("%d of %d", c.Hold, c.Claims),
			Note: fmt.Sprintf("%d do not hold, %d undecided, %d not tested", c.Fail, c.Undecided, c.Untested)})
	}
	return append(out, report.Fact{Label: "evidence", Value: strings.TrimPrefix(t.evidence(), "evidence "),
		Note: things(len(p.runs), "finished run", "finished runs")})
}

// contents lists the parts of the page.
func (p *paper) contents() report.Prose {
	out := report.Prose{"On this page: ", report.Link{Text: "privacy", To: "#privacy"}}
	if p.epsilons != nil {
		out = append(out, ", ", report.Link{Text: "epsilons", To: "#epsilons"})
	}
	if p.claims != nil {
		out = append(out, ", ", report.Link{Text: "claims", To: "#claims"})
	}
	for _, m := range p.made {
		out = append(out, ", ", report.Link{Text: m.number(), To: "#" + m.Name})
	}
	if len(p.runs) > 0 {
		out = append(out, ", ", report.Link{Text: "training", To: "#curves"}, ", ",
			report.Link{Text: "data", To: "#data"})
	}
	return append(out, ".")
}

// verdictKinds are the colours of verdicts.
var verdictKinds = map[claims.Verdict]report.Kind{claims.Holds: report.Good, claims.Undecided: report.Near,
	claims.Fails: report.Bad, claims.Untested: report.Neutral}

// verdicts makes the part about the claims of a paper.
func verdicts(r *claims.Result) report.Section {
	t := &report.Table{Name: "claims", Sorts: true, Columns: report.Columns("", "claim", "states", "verdict", "level",
		"evidence", "where")}
	for _, c := range r.Claims {
		t.Add(c.ID, c.Text, report.Tag{Text: string(c.Verdict), Kind: verdictKinds[c.Verdict]}, c.Level, c.Why, c.Where)
	}
	t.Notes = []string{claims.Meaning,
		fmt.Sprintf("%d of %d differences were tested; the correction is for all of them", r.Tested, r.Family)}
	return report.Section{ID: "claims", Title: "Claims",
		Parts: []report.Part{report.Prose{capital(stand(r.Count)) + "."}, t}}
}

// section makes the part of a table or figure.
func (m *Made) section() report.Section {
	t := count(m.Cells)
	s := report.Section{ID: m.Name, Title: m.title()}
	s.Parts = append(s.Parts,
		report.Prose{capital(t.sentence()) + "; " + fmt.Sprintf("%d of %s finished.", m.Finished(),
			things(len(m.Runs), "run", "runs"))})
	for _, c := range m.Document.Charts {
		if c.File != "" {
			c.Files = links(c.File, "SVG", ".svg", "PNG", ".png", "PDF of a column's width", ".pdf")
		}
		s.Parts = append(s.Parts, c)
	}
	numbers := m.numbers(pageOfRun)
	files := []any{"These numbers as "}
	for i, l := range m.files() {
		if i > 0 {
			files = append(files, ", ")
		}
		files = append(files, l)
	}
	if len(m.Files) > 0 {
		s.Parts = append(s.Parts, report.Prose(append(files, ".")))
	}
	s.Parts = append(s.Parts, numbers...)
	fold := report.Fold{Summary: "as the paper lays it out, with the runs and the notes"}
	for _, t := range m.Document.Tables {
		if t.Name != "privacy" { // it has a part of its own
			fold.Parts = append(fold.Parts, t)
		}
	}
	fold.Parts = append(fold.Parts, report.Notes(m.Document.Notes))
	s.Parts = append(s.Parts, fold)
	return s
}

// files are the forms of a table.
func (m *Made) files() []report.Link {
	list := links(m.Name, "Markdown", ".md", "LaTeX", ".tex", "CSV", ".csv", "epsilons as CSV", "-privacy.csv")
	if m.Points != nil {
		list = append(list, links(m.Name, "points as CSV", "-figure.csv")...)
	}
	return append(list, report.Link{Text: "JSON of everything", To: Document})
}
