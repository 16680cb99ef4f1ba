package results

import (
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// A floor is named once where all rows have it, with configurations where those tell its
// rows apart, else with the rows themselves.
func TestFloorLabels(t *testing.T) {
	row := func(method, config string, popularity float64) *summary {
		return &summary{
			entry: &grid.Entry{
				Row: &grid.Row{Method: method, Setting: grid.Setting{Config: "../x/" + config + ".yaml"}},
			},
			level:   dataset.LevelC,
			results: []*roster.Result{{Order: []string{"popularity"}}},
			cells:   []Cell{{Floors: map[string]float64{"popularity": popularity}}},
		}
	}
	for _, c := range []struct {
		name string
		rows []*summary
		want []string
	}{
		{"all alike", []*summary{row("a", "one", 5), row("b", "two", 5)}, []string{"popularity"}},
		{"by configuration", []*summary{row("a", "one", 5), row("b", "one", 5), row("c", "two", 6), row("d", "two", 6)},
			[]string{"popularity, for one", "popularity, for two"}},
		{"a row each", []*summary{row("a", "one", 5), row("b", "two", 6)},
			[]string{"popularity, for a", "popularity, for b"}},
		{"within a configuration", []*summary{row("a", "one", 5), row("b", "one", 6), row("c", "one", 6)},
			[]string{"popularity, for a", "popularity, for b, c"}},
		{"too many to name", []*summary{row("a", "one", 5), row("b", "one", 6), row("c", "one", 6),
			row("d", "one", 6), row("e", "one", 6), row("f", "one", 6)},
			[]string{"popularity, for a", "popularity, for the other 5"}},
	} {
		var got []string
		for _, f := range floorRows(c.rows) {
			got = append(got, f.label)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
