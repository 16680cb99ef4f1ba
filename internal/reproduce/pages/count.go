package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
)

// The statuses of a cell.
const (
	matches        = "match"
	noise          = "within noise"
	differs        = "differs"
	unreproducible = "not reproducible"
)

// kinds are the colours of statuses.
var kinds = map[string]report.Kind{matches: report.Good, noise: report.Near, differs: report.Bad,
	unreproducible: report.Bad}

// tally counts cells.
type tally struct {
	printed int // numbers that the papers print
	by      map[string]int
	empty   int            // of the printed ones, without a comparison
	why     map[string]int // of those
	filled  int            // cells with a result of ours
	levels  []string
}

// count counts cells.
func count(cells []results.Cell) tally {
	t := tally{by: map[string]int{}, why: map[string]int{}}
	for i := range cells {
		c := &cells[i]
		if c.Ours != nil {
			t.filled++
			t.levels = phrase.AppendNew(t.levels, c.Level)
		}
		switch {
		case c.Printed == nil || c.Again: // a second reading of a printed number is no other number
			continue
		case c.Status != "":
			t.by[c.Status]++
		default:
			t.empty++
			t.why[reason(c)]++
		}
		t.printed++
	}
	slices.Sort(t.levels)
	return t
}

// reason says in a few words why a printed number has nothing beside it.
func reason(c *results.Cell) string {
	if c.Why != "" {
		short, _, _ := strings.Cut(c.Why, ":")
		return short
	}
	switch {
	case c.State == roster.NoData:
		return "data missing"
	case c.State == roster.Failed:
		return "run failed"
	case c.Ours == nil && c.Taken == "":
		return "no run"
	case c.Ours == nil:
		return "not run"
	case c.Level == dataset.LevelD.String():
		return "run on generated data"
	case c.Level == dataset.LevelC.String():
		return "other counts than the paper's data"
	case c.Difference == nil:
		return "training cut short"
	}
	return "not compared"
}

// reasons lists why cells are empty, the most frequent first.
func (t tally) reasons() string {
	var names []string
	for name := range t.why {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(t.why[b], t.why[a]),
			strings.Compare(a, b))
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%d %s", t.why[n], n)
	}
	return strings.Join(names, ", ")
}

// sentence says how the printed numbers stand.
func (t tally) sentence() string {
	if t.printed == 0 {
		return fmt.Sprintf("no number here is printed in a paper; %d are of ours", t.filled)
	}
	if t.empty == t.printed {
		return fmt.Sprintf("none of %d printed numbers is compared: %s", t.printed, t.reasons())
	}
	var parts []string
	for _, s := range []struct{ status, one, several string }{
		{matches, "matches", "match"}, {noise, "is within noise", "are within noise"}, {differs, "differs", "differ"},
		{unreproducible, "cannot be reproduced", "cannot be reproduced"},
	} {
		if n := t.by[s.status]; n > 0 {
			parts = append(parts, things(n, s.one, s.several))
		}
	}
	text := fmt.Sprintf("of %d printed numbers %s", t.printed, strings.Join(parts, ", "))
	if t.empty > 0 {
		text += fmt.Sprintf(", and %s (%s)", things(t.empty, "is not compared", "are not compared"), t.reasons())
	}
	return text
}

// bar shows the statuses.
func (t tally) bar() report.Bar {
	var b report.Bar
	for _, s := range []string{matches, noise, differs, unreproducible} {
		b = append(b, report.Count{Tag: report.Tag{Text: s, Kind: kinds[s]}, N: t.by[s]})
	}
	return append(b, report.Count{Tag: report.Tag{Text: "not compared", Kind: report.Neutral}, N: t.empty})
}

// evidence names the levels of the results.
func (t tally) evidence() string {
	switch len(t.levels) {
	case 0:
		return "no results yet"
	case 1:
		return "evidence level " + t.levels[0]
	}
	return "evidence levels " + strings.Join(t.levels, ", ")
}
