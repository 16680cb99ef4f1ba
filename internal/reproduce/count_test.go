package reproduce

import (
	"context"
	"math"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// counted is a grid that counts, in which one line of the paper is held against two steps.
const counted = `
name: counted
paper: fake
table: 1
title: Data
source: {cite: me, where: Table 1, about: counts}
unit: count
metrics:
  - {metric: users, printed: Users}
  - {metric: interactions, printed: Rows}
  - {metric: mean length, printed: Length}
  - {metric: clicks, printed: Clicks}
data: [{name: ml-1m, printed: ML-1M, stand_in: standin-tiny}]
profiles:
  smoke: {about: generated, stand_in: true, seeds: [1]}
  quick: {about: real, stand_in: false, seeds: [1]}
  full: {about: real, stand_in: false, seeds: [1]}
statistics:
  - {data: ml-1m, counted: cut, recipe: dipsgnn, step: last 100, printed: [5945, 365535, 96.07, 7]}
  - {data: ml-1m, counted: whole, recipe: dipsgnn, step: 10-core, smoke_step: 5-core, printed: [5945, 365535, 96.07, 7], again: true}
`

// A grid that counts makes one run of the data for all its steps, shows counts as they are, and
// never sets those of generated rows beside printed ones.
func TestCount(t *testing.T) {
	g, o := mustLoad(t, counted), options(t, "smoke")
	out, err := g.Make(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	if out.Runs[0].Dir != out.Runs[1].Dir {
		t.Errorf("two steps of one data set are two runs: %s and %s", out.Runs[0].Dir, out.Runs[1].Dir)
	}
	var md strings.Builder
	if err := out.Document.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	holds(t, md.String(), "| cut | ours | 199 (D) | 4936 (D) | 24.8 (D) | not in the data | 1 |", "| whole | ours | 199 (D) | 4986 (D) | 25.06 (D) |", "no printed number stands beside")
	if strings.Contains(md.String(), "5945") || strings.Contains(md.String(), "365535") {
		t.Errorf("a printed number stands beside counts of generated rows:\n%s", md.String())
	}
}

// countedGrid returns a grid of one printed line, which is held against two steps.
func countedGrid() *Grid {
	g := &Grid{Unit: count, Data: []Data{{Name: "ml-1m", Printed: "ML-1M"}}}
	for _, heading := range []string{"Users", "Rows", "Length", "Clicks"} {
		g.Metrics = append(g.Metrics, Metric{Name: heading, Printed: heading})
	}
	users, rows, length, clicks := 5945., 365535., 96.07, 7.
	for _, step := range []string{"cut", "whole"} {
		g.Rows = append(g.Rows, Row{Method: step, Data: "ml-1m", Again: step == "whole",
			Printed: []*float64{&users, &rows, &length, &clicks}})
	}
	return g
}

// The note on mixed columns is made of the numbers: a step that has them all needs none.
func TestSteps(t *testing.T) {
	g := countedGrid()
	rows := func(level dataset.Level, means ...[]float64) (out []*summary) {
		for i, m := range means {
			s := &summary{entry: &entry{row: &g.Rows[i], data: &g.Data[0], name: "ml-1m"}, level: level, unit: count, results: []*result{{}}}
			for _, x := range m {
				s.columns = append(s.columns, column{mean: x})
			}
			out = append(out, s)
		}
		return out
	}
	none := math.NaN()
	got := g.steps(rows(dataset.LevelB, []float64{5949, 365535, 61.4448, none}, []float64{5949, 571531, 96.0718, none}))
	want := "ML-1M: no step has all printed numbers; Users 5945: at no step here; Rows 365535: cut; Length 96.07: whole; Clicks 7: at no step here"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := g.steps(rows(dataset.LevelB, []float64{5945, 365535, 96.0718, 7}, []float64{5949, 1, 1, 1})); got != nil {
		t.Errorf("one step has all numbers: %q", got)
	}
	if got := g.steps(rows(dataset.LevelB, []float64{1, 1, 1, 1})); got != nil {
		t.Errorf("one step alone: %q", got)
	}
}

// A count is a printed number if it has all digits of it.
func TestEquals(t *testing.T) {
	for _, c := range []struct {
		x, printed float64
		want       bool
	}{{96.0718, 96.07, true}, {96.0650001, 96.07, true}, {96.0749, 96.07, true}, {96.0751, 96.07, false}, {5949, 5945, false}, {0.044683, 0.04468, true}, {0.0419, 0.04468, false}, {math.NaN(), 1, false}} {
		if got := equals(c.x, c.printed); got != c.want {
			t.Errorf("%v for printed %v: %v", c.x, c.printed, got)
		}
	}
}

// What a grid that counts cannot be, and rows that repeat nothing.
func TestBadCounts(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"unit: count", "unit: share", "statistics: a grid has statistics if its unit is count"},
		{"metric: users", "metric: uses", `metrics.0.metric: statistic "uses": want one of users, items`},
		{"365535, 96.07, 7], again", "365535, 96.08, 7], again", "statistics.1.again: no earlier row of ml-1m has these printed numbers"},
		{"counted: whole", "counted: cut", "cut on ml-1m is row 1 already"},
		{"statistics:", "rows:\n  - {method: One, data: ml-1m, task: train srgnn, config: a.yaml, printed: [1, 1, 1, 1]}\nstatistics:", "must not be there beside rows"},
	} {
		if _, err := load(t, strings.Replace(counted, c.old, c.new, 1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.new, err, c.want)
		}
	}
}

// A count matches where all printed digits are the same, whatever the level; there is no chance in it.
func TestStatusOfCounts(t *testing.T) {
	g := countedGrid()
	s := &summary{entry: &entry{row: &g.Rows[0], data: &g.Data[0], name: "ml-1m"}, level: dataset.LevelC, unit: count, results: []*result{{}}}
	for _, x := range []float64{5949, 365535, 96.0718, math.NaN()} {
		col := column{mean: x, lo: math.NaN(), hi: math.NaN(), delta: math.NaN()}
		s.columns = append(s.columns, col)
	}
	cells, err := g.cells([]*summary{s})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{Differs, Match, Match, ""} {
		if cells[i].Status != want || cells[i].Unit != count {
			t.Errorf("%s: %q of unit %s, want %q", cells[i].Metric, cells[i].Status, cells[i].Unit, want)
		}
	}
	if cells[3].Why != notInData || cells[0].Why != NoCause || *cells[2].Margin != 0.005 {
		t.Errorf("%q, %q, margin %v", cells[3].Why, cells[0].Why, *cells[2].Margin)
	}
	again := append(cells, cells[0])
	again[4].Again = true
	if n := CountStatuses(again); n.Printed != 4 || n.Differs != 1 || n.Match != 2 || n.Silent[notInData] != 1 {
		t.Errorf("%+v", n)
	}
}

// Overrides of keys that only trainings have are not for a grid that counts. Its own are, and a
// key that no task has is an error.
func TestOwnSets(t *testing.T) {
	g := mustLoad(t, counted, (&fake{}).task())
	plain := g.FileName("smoke", nil)
	if got := g.FileName("smoke", []string{"value=0.3"}); got != plain {
		t.Errorf("a count is called %s after an override of a training", got)
	}
	if _, _, err := g.runs(Options{Size: "smoke", Out: "x", Sets: []string{"no.such=1"}}); err == nil {
		t.Error("an unknown key is let pass")
	}
	if got := g.FileName("smoke", []string{"data.recipe=rdpgcf"}); got == plain {
		t.Error("an override of the count itself does not show in the name")
	}
}
