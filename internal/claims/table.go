package claims

import (
	"fmt"
	"strings"

	"privrec/internal/report"
)

// Overview makes the table of verdicts by paper.
func Overview(list []*Result) *report.Table {
	t := &report.Table{Name: "verdicts", Title: "Claims by paper", Columns: report.Columns("", "paper", "claims",
		"hold", "do not hold", "undecided", "not tested")}
	var sum Count
	for _, r := range list {
		c := r.Count
		t.Add(r.Paper, c.Claims, c.Hold, c.Fail, c.Undecided, c.Untested)
		sum.Claims, sum.Hold, sum.Fail, sum.Undecided, sum.Untested = sum.Claims+c.Claims, sum.Hold+c.Hold,
			sum.Fail+c.Fail, sum.Undecided+c.Undecided, sum.Untested+c.Untested
	}
	if len(list) > 1 {
		t.Add("all", sum.Claims, sum.Hold, sum.Fail, sum.Undecided, sum.Untested)
	}
	t.Notes = []string{Meaning}
	return t
}

// Meaning says what the verdicts are.
var Meaning = fmt.Sprintf("holds, does not hold: every difference that the claim states is above 0, or one is below, "+
	"by a test paired over users (over seeds where no scores of users are there), corrected by Holm's method for "+
	"both directions of all differences that the paper's claims state, so that one false verdict among a paper's has "+
	"a probability of at most %.0f %%; from three seeds on their %.0f %% interval must lie on the same side. "+
	"undecided: neither. not tested: data missing, not run, trainings cut short, or generated data", 100-100*confidence,
	100*confidence)

// Table makes the table of a paper's claims, one line each.
func (r *Result) Table() *report.Table {
	t := &report.Table{Name: "claims-" + r.Paper,
		Title: fmt.Sprintf("%s: %d claims, %d hold, %d do not hold, %d undecided, %d not tested", r.Paper,
			r.Count.Claims, r.Count.Hold, r.Count.Fail, r.Count.Undecided, r.Count.Untested),
		Columns: report.Columns("", "claim", "states", "where", "verdict", "evidence")}
	for _, c := range r.Claims {
		t.Add(c.ID, c.Text, c.Where, stamped(c.Verdict, c.Level), c.Why)
	}
	t.Notes = []string{fmt.Sprintf("%d of %d differences were tested; the correction is for all of them", r.Tested,
		r.Family)}
	return t
}

// Detail makes a table with a line for each part and data set below the verdict on its claim.
func (r *Result) Detail() *report.Table {
	t := &report.Table{Name: "claims", Title: "Claims, held against these numbers",
		Columns: report.Columns("", "claim", "states", "data", "verdict", "decided by", "difference", "over users",
			"over seeds", "p, corrected")}
	for _, c := range r.Claims {
		t.Add(c.ID, c.Text, "", stamped(c.Verdict, c.Level))
		for _, p := range c.Parts {
			line := []any{"", p.Says, p.Data, stamped(p.Verdict, p.Level)}
			switch {
			case p.decides >= 0:
				d := &p.Comparisons[p.decides]
				if d.Verdict == Untested || d.Difference == nil {
					line = append(line, d.Why)
					break
				}
				line = append(line, d.Name, signed(*d.Difference), span(d.Users), span(d.Seeds))
				if d.Holm != nil {
					line = append(line, small(*d.Holm))
				}
			default:
				line = append(line, p.Why)
			}
			t.Add(line...)
		}
	}
	t.Notes = []string{Meaning,
		fmt.Sprintf("this table states %d differences; privrec reproduce --claims corrects for those of the whole "+
			"paper", r.Family)}
	return t
}

// Document makes the document of several papers' verdicts.
func Document(list []*Result) *report.Document {
	d := &report.Document{Title: "Claims of the papers, held against finished runs",
		Tables: []*report.Table{Overview(list)}}
	for _, r := range list {
		d.Tables = append(d.Tables, r.Table())
	}
	return d
}

// stamped adds the level of evidence to a verdict.
func stamped(v Verdict, level string) string {
	if level == "" || v == Untested {
		return string(v)
	}
	return fmt.Sprintf("%s (%s)", v, level)
}

// span writes an interval, or nothing where there is none.
func span(i *[2]float64) any {
	if i == nil {
		return nil
	}
	return strings.Join([]string{signed(i[0]), signed(i[1])}, " to ")
}
