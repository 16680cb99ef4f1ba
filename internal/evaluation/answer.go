package evaluation

import (
	"fmt"
	"io"
	"math"
	"strings"

	"privrec/internal/lists"
	"privrec/internal/metrics/definition"
	"privrec/internal/report"
)

// Answer holds the measurements of lists.
type Answer struct {
	Question   Question
	Definition definition.Definition
	Result     definition.Result
	// Popularity and Random hold the metrics of the floors by name; nil without training rows.
	Popularity, Random map[string]float64

	files  *files
	counts counts
}

// Text implements run.Result.
func (a *Answer) Text(w io.Writer) error { return a.Document().Text(w) }

// MarshalJSON implements run.Result.
func (a *Answer) MarshalJSON() ([]byte, error) { return a.Document().MarshalJSON() }

// JSONForms returns the types that MarshalJSON writes.
func (*Answer) JSONForms() []any { return []any{&report.Document{}} }

// Document returns the answer as a report.
func (a *Answer) Document() *report.Document {
	d := &report.Document{
		Title: fmt.Sprintf("Lists of %s against %s, as %s measures them", a.Question.Recs, a.Question.Truth,
			a.Definition.Program),
		Subtitle: "evidence level not known: lists of your own",
		Facts:    a.facts(),
		Tables:   []*report.Table{a.table(), a.formulas()},
	}
	if a.Random == nil {
		d.Notes = append(d.Notes,
			"no floors: --train FILE names the rows that the recommender was trained on, and popular and random "+
				"items stand beside the lists")
	} else {
		d.Notes = append(d.Notes,
			fmt.Sprintf("floors give each user who has a list as many items as it has, of all known ones but those "+
				"of the user's own training rows: the most popular by training users, and the mean of %d random "+
				"draws (seed %d)", draws, seed))
	}
	d.Notes = append(d.Notes, a.remarks()...)
	return d
}

// facts returns facts about the files and the users in the means.
func (a *Answer) facts() []report.Fact {
	f, c := a.files, a.counts
	facts := []report.Fact{
		{Label: "definition", Value: a.Definition.Name, Note: a.Definition.Program},
		{Label: "averaged", Value: fmt.Sprintf("%d users", a.Result.Averaged), Note: a.Definition.Who},
		{Label: "lists", Value: fmt.Sprintf("%d rows of %d users", len(f.recs.Rows), c.listed), Note: f.recs.Form},
		{Label: "order of a list", Value: a.order(), Note: a.Definition.Order},
		{Label: "truth", Value: fmt.Sprintf("%d rows of %d users", len(f.truth.Rows), c.judged), Note: f.truth.Form},
		{Label: "users with both", Value: fmt.Sprint(c.both)},
	}
	if f.train != nil {
		facts = append(facts, report.Fact{Label: "training rows", Value: fmt.Sprint(len(f.train.Rows)),
			Note: f.train.Form})
	}
	return facts
}

// byScores names the order of lists by their scores.
const byScores = "their scores"

// order returns words for what the order of the lists rests on.
func (a *Answer) order() string {
	byScore := strings.HasPrefix(a.Definition.Order, "by score")
	switch recs := a.files.recs; {
	case recs.Ranked && !(byScore && recs.Scored):
		return "their ranks"
	case recs.Scored:
		return byScores
	}
	return "the order of the file"
}

// table returns the metrics beside the floors.
func (a *Answer) table() *report.Table {
	t := &report.Table{Name: "metrics", Columns: []report.Column{{Name: "metric"}, {Name: "lists", Format: "%.4f"}}}
	if a.Random != nil {
		t.Columns = append(t.Columns, report.Columns("%.4f", "popularity", "random")...)
	}
	for _, v := range a.Result.Values {
		row := []any{v.Name, v.Value}
		if a.Random != nil {
			row = append(row, floor(a.Popularity, v.Name), floor(a.Random, v.Name))
		}
		t.Add(row...)
	}
	return t
}

// floor returns the floor of a metric; NaN: it has none.
func floor(of map[string]float64, name string) float64 {
	if v, ok := of[name]; ok {
		return v
	}
	return math.NaN()
}

// formulas returns a table of the definitions of the metrics, and of missing ones.
func (a *Answer) formulas() *report.Table {
	t := &report.Table{Name: "definitions",
		Title: "What they mean: L is the list, T the user's relevant items, h_i is 1 where item i of L is in T, P(i) " +
			"the share of hits among the first i, g_i the gain of item i",
		Columns: []report.Column{{Name: "metric"}, {Name: "definition"}}}
	last := ""
	for _, v := range a.Result.Values {
		if v.Kind != last {
			t.Add(v.Kind, v.Formula)
		}
		last = v.Kind
	}
	for _, m := range a.Result.Absent {
		t.Add(m.Kind, "no value: "+m.Why)
	}
	return t
}

// strange reports whether at least half of the rows of lists have items that no other file has.
func (a *Answer) strange() bool {
	return a.files.train != nil && 2*a.counts.unknownRows >= len(a.files.recs.Rows)
}

// Warnings returns sentences about what makes the numbers doubtful.
func (a *Answer) Warnings() (out []string) {
	if n, rows := a.counts.unknownRows, len(a.files.recs.Rows); a.strange() {
		out = append(out, fmt.Sprintf("warning: %.1f %% of the rows of lists (%d of %d) hold items that are in "+
			"neither the truth nor the training rows: they count as misses; ids are text, 7 and 7.0 are two items",
			100*float64(n)/float64(rows), n, rows))
	}
	if a.counts.rising && a.order() == byScores {
		out = append(out, "warning: the scores of every list rise with the rows of the file, and the largest is "+
			"taken as best: if the smallest is, as with ranks and distances, all lists are turned around; call the "+
			"column rank, or turn the sign")
	}
	return out
}

// remarks returns notes for users about their files.
func (a *Answer) remarks() (notes []string) {
	c := a.counts
	notes = a.Warnings()
	add := func(n int, format string, args ...any) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	add(a.Result.Empty, "%d averaged users have no list and count 0", a.Result.Empty)
	add(c.judged-c.both, "%d users of the truth have no list", c.judged-c.both)
	add(c.listed-c.both, "%d users have a list and are not in the truth", c.listed-c.both)
	add(c.short, "%d lists are shorter than the largest cut-off", c.short)
	add(c.repeats, "%d rows of lists hold an item that stands earlier in the list: %s", c.repeats, a.Definition.Repeats)
	add(c.again, "%d rows of the truth were there before", c.again)
	add(c.ties, "%d rows of lists share their score with another of the same list", c.ties)
	add(c.irrelevant, "%d rows of the truth have a relevance below 1 and are not relevant", c.irrelevant)
	if a.files.truth.Graded && !a.Definition.Graded {
		notes = append(notes, "every relevant item counts 1: "+a.Definition.Program+
			" is asked without the gains of the truth")
	}
	where := "not in the truth"
	if a.files.train != nil {
		where = "in neither the truth nor the training rows"
	}
	if !a.strange() {
		add(c.unknown, "%d listed items are %s (%d rows)", c.unknown, where, c.unknownRows)
	}
	add(c.own, "%d rows of lists hold an item of the user's own training rows", c.own)
	for _, f := range []*lists.File{a.files.recs, a.files.truth, a.files.train} {
		if f != nil {
			notes = append(notes, f.Left()...)
		}
	}
	return notes
}
