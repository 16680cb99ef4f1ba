package inventory

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/dataset/slate"
	"privrec/internal/report"
)

// Stats returns a report of a loaded set: counts after every step, the comparison with expected counts, and the shape
// of its sequences.
func Stats(s *dataset.Sequential) *report.Document {
	checks := checksTable(s.Source.Checks)
	st := s.Stats()
	shape := &report.Table{Name: "shape", Title: "Sequences", Columns: []report.Column{{Name: "statistic"},
		{Name: "value", Format: "%.4f"}}}
	shape.Add("users", st.Users)
	shape.Add("items", st.Items)
	shape.Add("rows", st.Rows)
	shape.Add("density", st.Density)
	shape.Add("Gini index of items' rows", st.Gini)
	shape.Add("mean length", st.Mean)
	for i, q := range dataset.StatsQuantiles {
		shape.Add(fmt.Sprintf("length, quantile of %g %%", 100*q), st.Lengths[i])
	}
	d := &report.Document{
		Title:    s.Source.Title,
		Subtitle: fmt.Sprintf("data set %s, sha256 %.12s", dataset.Named(s.Name, s.Recipe), s.Source.Hash),
		Level:    s.Source.Level, Tables: []*report.Table{ladderTable(s.Ladder)}, Notes: s.Source.Notes,
	}
	if len(checks.Rows) > 0 {
		d.Tables = append(d.Tables, checks)
	}
	d.Tables = append(d.Tables, shape)
	return d
}

// ladderTable shows the counts after every step.
func ladderTable(l dataset.Ladder) *report.Table {
	t := &report.Table{Name: "ladder", Title: "Counts after every step", Columns: report.Columns("", "step", "users",
		"items", "rows", "samples")}
	for _, r := range l {
		t.Add(r.Name, count(r.Users), count(r.Items), count(r.Rows), count(r.Samples))
	}
	return t
}

// checksTable shows counts beside the expected ones.
func checksTable(checks []dataset.Check) *report.Table {
	t := &report.Table{Name: "checks", Title: "Expected counts", Columns: report.Columns("", "step", "count", "got",
		"want", "verdict", "from")}
	for _, c := range checks {
		verdict := "equal"
		if !c.OK() {
			verdict = "differs"
		}
		t.Add(c.Rung, c.Count, c.Got, c.Want, verdict, c.From)
	}
	return t
}

// count returns a count for a table cell, and nil for one that a step does not have.
func count(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// SlateStats loads a set of slates and returns a report of its counts after every step, the comparison with expected
// counts, and the shape of its pairs.
func SlateStats(ctx context.Context, src slate.Source, v dataset.View, o slate.Options) (*report.Document, error) {
	s, err := slate.Load(ctx, src.Name, v, o)
	if err != nil {
		return nil, err
	}
	d := &report.Document{
		Title: src.Title, Subtitle: fmt.Sprintf("data set %s, recipe %s, sha256 %.12s", s.Name, SlatesRecipe, s.Hash),
		Level: s.Level, Tables: []*report.Table{ladderTable(s.Ladder)}, Notes: s.Notes,
	}
	if checks := checksTable(s.Ladder.Compare(src.Wants)); len(checks.Rows) > 0 {
		d.Tables = append(d.Tables, checks)
	}
	shape := &report.Table{Name: "shape", Title: "Pairs", Columns: report.Columns("", "statistic", "value")}
	shape.Add("items shown", s.Train.T)
	shape.Add("clicks before them", s.Train.L)
	shape.Add("tokens, four of them special", s.Vocab)
	for _, x := range []struct {
		name  string
		lists [][]int32
	}{{"users whose log is known", s.Logged}, {"training users with a history", s.Histories}} {
		n := 0
		for _, list := range x.lists {
			if list != nil {
				n++
			}
		}
		shape.Add(x.name, n)
	}
	d.Tables = append(d.Tables, shape)
	return d, nil
}
