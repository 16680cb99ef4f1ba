package pages

import (
	"fmt"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/report"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/results"
)

// overview makes the page of everything, with links to the pages of papers.
func (s *Set) overview(papers []*paper, runs []*finished) *report.Page {
	if len(papers) == 0 {
		return overviewOfRuns(runs)
	}
	d := s.holds(papers)
	d.Parts = append(d.Parts, report.Prose{"Everything as one document: ", report.Link{Text: Document, To: Document},
		". What the runs took: ", report.Link{Text: "costs", To: Costs}, "."})
	return d
}

// Conclusion says in a sentence how all printed numbers and claims stand.
func (s *Set) Conclusion() (string, error) {
	papers, _, err := s.papers()
	if err != nil {
		return "", err
	}
	return s.holds(papers).Conclusion, nil
}

// holds makes the page of what holds, and what does not.
func (s *Set) holds(papers []*paper) *report.Page {
	study := ownAlone(papers)
	if study != nil {
		papers = []*paper{study}
	}
	var all []results.Cell
	var cards report.Cards
	var profiles []string
	finished := map[string]bool{}
	printed := 0
	for _, p := range papers {
		cells := p.cells()
		all = append(all, cells...)
		t := count(cells)
		cards = append(cards, report.Card{
			Title: report.Link{Text: p.title, To: p.page()}, Small: fmt.Sprintf("%s; %s; %s finished", p.sizes(),
				t.evidence(), things(len(p.runs), "run", "runs")),
			Text: p.conclusion(), Bar: t.bar(),
		})
		if p.name != own {
			printed++
		}
		for _, f := range p.runs {
			finished[f.name] = true
		}
		for i := range cells {
			profiles = phrase.AppendNew(profiles, cells[i].Profile)
		}
	}
	t := count(all)
	d := &report.Page{
		Title: "What holds, and what does not",
		Subtitle: fmt.Sprintf("privrec: %s on privacy in recommender systems; size %s; %s finished",
			things(printed, "paper", "papers"), strings.Join(profiles, ", "), things(len(finished), "run", "runs")),
	}
	d.Conclusion = capital(t.sentence()) + "."
	if study != nil {
		d.Title, d.Subtitle = "Your study", fmt.Sprintf("size %s; %s finished", strings.Join(profiles, ", "),
			things(len(finished), "run", "runs"))
	}
	if len(s.Verdicts) > 0 && study == nil {
		d.Conclusion = capital(t.sentence()) + "; " + stand(s.claims()) + "."
	}
	d.Parts = append(d.Parts, cards)
	if len(s.Verdicts) > 0 && study == nil {
		d.Parts = append(d.Parts, s.verdicts(papers))
	}
	d.Parts = append(d.Parts, statuses(papers), list(papers))
	return d
}

// ownAlone returns the study of one's own where no paper has a finished run, else nil.
func ownAlone(papers []*paper) (study *paper) {
	for _, p := range papers {
		switch {
		case p.name == own:
			study = p
		case len(p.runs) > 0:
			return nil
		}
	}
	return study
}

// claims adds the verdicts of all papers.
func (s *Set) claims() (sum claims.Count) {
	for _, r := range s.Verdicts {
		c := r.Count
		sum.Claims, sum.Hold, sum.Fail, sum.Undecided, sum.Untested = sum.Claims+c.Claims, sum.Hold+c.Hold,
			sum.Fail+c.Fail, sum.Undecided+c.Undecided, sum.Untested+c.Untested
	}
	return sum
}

// verdicts makes the table of verdicts by paper.
func (s *Set) verdicts(papers []*paper) report.Section {
	t := &report.Table{Name: "verdicts", Columns: report.Columns("", "paper", "claims", "hold", "do not hold",
		"undecided", "not tested"), Notes: []string{claims.Meaning}}
	add := func(first any, c claims.Count) { t.Add(first, c.Claims, c.Hold, c.Fail, c.Undecided, c.Untested) }
	for _, p := range papers {
		if p.claims != nil {
			add(report.Link{Text: p.title, To: p.part("claims")}, p.claims.Count)
		}
	}
	if len(t.Rows) > 1 {
		add("all", s.claims())
	}
	return report.Section{ID: "claims", Title: "Claims", Parts: []report.Part{t}}
}

// statuses makes the table of cells by paper.
func statuses(papers []*paper) report.Section {
	t := &report.Table{Name: "statuses", Columns: report.Columns("", "paper", "printed", matches, noise, differs,
		unreproducible, "not compared", "why not", "of ours", "levels")}
	for _, p := range papers {
		n := count(p.cells())
		t.Add(report.Link{Text: p.title, To: p.page()}, n.printed, n.by[matches], n.by[noise], n.by[differs],
			n.by[unreproducible], n.empty, n.reasons(), n.filled, strings.Join(n.levels, ", "))
	}
	t.Notes = []string{
		"of ours: numbers that finished runs give, whether a paper prints them or not",
		"level A: real data, the authors' split; B: real data, our split, counts as in the paper; C: counts differ; " +
			"D: generated data, which say nothing about a printed number",
	}
	return report.Section{ID: "numbers", Title: "Numbers", Parts: []report.Part{t}}
}

// list makes the table of tables.
func list(papers []*paper) report.Section {
	t := &report.Table{Name: "tables", Sorts: true, Columns: report.Columns("", "paper", "table", "title", "size",
		"printed", matches, noise, differs, unreproducible, "not compared", "runs", "levels")}
	for _, p := range papers {
		for _, m := range p.made {
			n, size := count(m.Cells), ""
			if len(m.Cells) > 0 {
				size = m.Cells[0].Profile
			}
			t.Add(p.title, report.Link{Text: m.number(), To: p.part(m.Name)}, m.Document.Title, size,
				n.printed, n.by[matches], n.by[noise], n.by[differs], n.by[unreproducible], n.empty,
				fmt.Sprintf("%d of %d", m.Finished(), len(m.Runs)), strings.Join(n.levels, ", "))
		}
	}
	return report.Section{ID: "tables", Title: "Tables and figures", Parts: []report.Part{t}}
}

// conclusion says what of a paper holds: its claims, its numbers, its privacy.
func (p *paper) conclusion() string {
	parts := []string{count(p.cells()).sentence()}
	if p.claims != nil {
		parts = append(parts, stand(p.claims.Count))
	}
	return capital(strings.Join(append(parts, p.privacySentence()), "; ")) + "."
}

// stand says how claims stand.
func stand(c claims.Count) string {
	var parts []string
	for _, s := range []struct {
		n            int
		one, several string
	}{{c.Hold, "holds", "hold"}, {c.Fail, "does not hold", "do not hold"},
		{c.Undecided, "is undecided", "are undecided"}, {c.Untested, "is not tested", "are not tested"}} {
		if s.n > 0 {
			parts = append(parts, things(s.n, s.one, s.several))
		}
	}
	return fmt.Sprintf("of %d claims %s", c.Claims, strings.Join(parts, ", "))
}
