package pages

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/report"
)

// ladders makes a table for every data set of some runs: the counts after each filter, beside
// those that are expected.
func ladders(list []*finished) []report.Part {
	var out []report.Part
	var seen []string
	for _, f := range list {
		d := &f.outcome.Data
		key := fmt.Sprint(d.Name, d.Recipe)
		if !d.Source.StandIn { // generated rows differ by seed, and their counts say nothing
			key += fmt.Sprint(d.Source.Hash, d.Ladder)
		}
		if len(d.Ladder) == 0 || slices.Contains(seen, key) {
			continue
		}
		seen = append(seen, key)
		out = append(out, ladder(d))
	}
	return out
}

// ladder makes the table of one data set.
func ladder(d *experiment.Data) *report.Table {
	t := &report.Table{Name: "ladder-" + d.Name, Title: d.Source.Title, Columns: report.Columns("", "step", "users",
		"items", "rows", "samples", "stands", "expected")}
	if t.Title == "" {
		t.Title = d.Name
	}
	if d.Recipe != "" {
		t.Title += ", as " + d.Recipe + " cuts it"
	}
	t.Title += fmt.Sprintf(" (level %v)", d.Level)
	for _, r := range d.Ladder {
		stands, expected := against(d.Source.Checks, r.Name)
		t.Add(r.Name, some0(r.Users), some0(r.Items), some0(r.Rows), some0(r.Samples), stands, expected)
	}
	t.Notes = d.Source.Notes
	return t
}

// against says how the counts of a step stand to those that are expected, and where these are from.
func against(checks []dataset.Check, step string) (stands, expected any) {
	var text []string
	ok, paper, any := true, false, false
	for _, c := range checks {
		if c.Rung != step {
			continue
		}
		any, ok, paper = true, ok && c.OK(), paper || c.Paper
		from := c.From
		if c.Paper {
			from = "the paper, " + from
		}
		text = append(text, fmt.Sprintf("%s %s (%s)", report.Group(int64(c.Want)), c.Count, from))
	}
	switch {
	case !any:
		return nil, nil
	case !ok:
		stands = report.Tag{Text: "differs", Kind: report.Bad}
	case paper:
		stands = report.Tag{Text: "as in the paper", Kind: report.Good}
	default:
		stands = report.Tag{Text: "as expected", Kind: report.Good}
	}
	return stands, strings.Join(text, "; ")
}

// some0 returns a count, or nothing for one that a step does not have.
func some0(n int) any {
	if n == 0 {
		return nil
	}
	return n
}
