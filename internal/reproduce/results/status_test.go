package results

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// The column with the most decimals says how far numbers are rounded, since files drop zeros.
func TestRoundingAndGap(t *testing.T) {
	p := func(x float64) []*float64 { return []*float64{&x} }
	g := &grid.Grid{Rows: []grid.Row{
		{Method: "A", Data: "d", Printed: p(5.5)},
		{Method: "A", Variant: "x", Data: "d", Printed: p(5.6)},
		{
			Method:  "B",
			Data:    "d",
			Printed: p(6),
		},
		{Method: "C", Data: "d", Printed: p(5.5)},
		{Method: "D", Data: "e", Printed: p(5.51)},
		{Method: "E", Data: "d", Printed: []*float64{nil}},
	}}
	if r := halfDigit(g, 0); math.Abs(r-0.005) > 1e-12 {
		t.Errorf("rounded to %v", r)
	}
	if gap := toNearest(g, &g.Rows[0], 0); math.Abs(gap-0.5) > 1e-12 {
		t.Errorf("gap %v, want 0.5: not another setting, an equal number or other data", gap)
	}
	if gap := toNearest(g, &g.Rows[4], 0); !math.IsNaN(gap) {
		t.Errorf("gap %v alone on its data", gap)
	}
}

// A count matches where all printed digits are the same, whatever the level; there is no chance in it.
func TestStatusOfCounts(t *testing.T) {
	g := countedGrid()
	s := &summary{entry: &grid.Entry{Row: &g.Rows[0], Data: &g.Data[0], Name: "ml-1m"}, level: dataset.LevelC,
		runs: []*roster.Run{{Status: roster.Done}}, results: []*roster.Result{{}}}
	for _, x := range []float64{5949, 365535, 96.0718, math.NaN()} {
		s.values = append(s.values, slices.DeleteFunc([]float64{x}, math.IsNaN))
	}
	if err := s.measure(g); err != nil {
		t.Fatal(err)
	}
	cells, err := makeCells(g, []*summary{s})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{Differs, Match, Match, ""} {
		if cells[i].Status != want || cells[i].Unit != grid.UnitCount {
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
