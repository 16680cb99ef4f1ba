package results

import (
	"math"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// countedGrid returns a grid of one printed line, which is held against two steps.
func countedGrid() *grid.Grid {
	g := &grid.Grid{Unit: grid.UnitCount, Data: []grid.Data{{Name: "ml-1m", Printed: "ML-1M"}}}
	for _, heading := range []string{"Users", "Rows", "Length", "Clicks"} {
		g.Metrics = append(g.Metrics, grid.Metric{Name: heading, Printed: heading})
	}
	users, rows, length, clicks := 5945., 365535., 96.07, 7.
	for _, step := range []string{"cut", "whole"} {
		g.Rows = append(g.Rows, grid.Row{Method: step, Data: "ml-1m", Again: step == "whole",
			Printed: []*float64{&users, &rows, &length, &clicks}})
	}
	return g
}

// The note on mixed columns is made of the numbers: a step that has them all needs none.
func TestSteps(t *testing.T) {
	g := countedGrid()
	rows := func(level dataset.Level, means ...[]float64) (out []*summary) {
		for i, m := range means {
			s := &summary{entry: &grid.Entry{Row: &g.Rows[i], Data: &g.Data[0], Name: "ml-1m"},
				level: level, results: []*roster.Result{{}}}
			for _, x := range m {
				s.cells = append(s.cells, Cell{Ours: pointer(x)})
			}
			out = append(out, s)
		}
		return out
	}
	none := math.NaN()
	got := steps(g, rows(dataset.LevelB, []float64{5949, 365535, 61.4448, none}, []float64{5949, 571531, 96.0718, none}))
	want := "ML-1M: no step has all printed numbers; Users 5945: at no step here; " +
		"Rows 365535: cut; Length 96.07: whole; Clicks 7: at no step here"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := steps(g, rows(dataset.LevelB, []float64{5945, 365535, 96.0718, 7}, []float64{5949, 1, 1, 1})); got != nil {
		t.Errorf("one step has all numbers: %q", got)
	}
	if got := steps(g, rows(dataset.LevelB, []float64{1, 1, 1, 1})); got != nil {
		t.Errorf("one step alone: %q", got)
	}
}
