package reproduce

import (
	"context"
	"strings"
	"testing"

	"privrec/internal/reproduce/roster"
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
	out, err := makeTable(context.Background(), g, o)
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

// Overrides of keys that only trainings have are not for a grid that counts. Its own are, and a
// key that no task has is an error.
func TestOwnSets(t *testing.T) {
	g := mustLoad(t, counted, (&fake{}).task())
	plain := g.FileName("smoke", nil)
	if got := g.FileName("smoke", []string{"value=0.3"}); got != plain {
		t.Errorf("a count is called %s after an override of a training", got)
	}
	if _, _, err := roster.Of(g, roster.Options{Size: "smoke", Out: "x", Sets: []string{"no.such=1"}}); err == nil {
		t.Error("an unknown key is let pass")
	}
	if got := g.FileName("smoke", []string{"data.recipe=rdpgcf"}); got == plain {
		t.Error("an override of the count itself does not show in the name")
	}
}
