package reproduce

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
)

// madeCells makes a table and returns its cells.
func madeCells(t *testing.T, text, size string, sets ...string) []results.Cell {
	t.Helper()
	g, o := mustLoad(t, text, (&fake{}).task()), options(t, size)
	o.Sets = sets
	out, err := makeTable(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	return out.Cells
}

// is fails unless x points to want, or is nil for NaN.
func is(t *testing.T, what string, x *float64, want float64) {
	t.Helper()
	got := math.NaN()
	if x != nil {
		got = *x
	}
	if !(math.IsNaN(got) && math.IsNaN(want)) && !(math.Abs(got-want) <= 1e-9) && got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// A cell holds a printed number with everything behind it, in the unit of the grid.
func TestCells(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		unit   string
		factor float64
	}{{"percent", 1}, {"share", 0.01}} {
		text := strings.Replace(fakeGrid, "unit: percent", "unit: "+c.unit, 1)
		if c.unit == grid.UnitShare {
			text = strings.NewReplacer("[19, 5.5]", "[0.19, 0.055]", "[null, 5.5]", "[null, 0.055]").Replace(text)
		}
		cells := madeCells(t, text, "full")
		if len(cells) != 4 {
			t.Fatalf("%d cells, want 4", len(cells))
		}
		x := cells[0]
		// seeds give 20, 21, 22: mean 21, deviation 1, t(2) = 4.3027 / sqrt 3 = 2.48414
		is(t, "printed", x.Printed, 19*c.factor)
		is(t, "ours", x.Ours, 21*c.factor)
		is(t, "deviation", x.SD, c.factor)
		is(t, "difference", x.Difference, 2*c.factor)
		is(t, "floor", x.Floor, c.factor)
		if lo := *x.Low / c.factor; math.Abs(lo-18.51586) > 1e-4 {
			t.Errorf("the interval begins at %v", lo)
		}
		is(t, "claimed", x.ClaimedEpsilon, 5)
		is(t, "accounted", x.AccountedEpsilon, math.Inf(1))
		if x.Paper != "fake" || x.Grid != "fake-table" || x.Table != 3 || x.Data != "ML-1M" || x.Taken != "ml-1m" || x.Method != "One" || x.Metric != "Recall@20" ||
			x.Unit != c.unit || x.Seeds != 3 || x.SeedsOf != 3 || x.FloorName != "random" || x.Level != "B" ||
			x.State != roster.Done ||
			x.ClaimedUnit != "edge" ||
			x.AccountedUnit != "edge" {
			t.Errorf("cell %+v", x)
		}
		if len(x.Runs) != 3 || !strings.HasPrefix(x.Runs[0], "train-fake-") || !strings.HasSuffix(x.Runs[2], "-seed3") {
			t.Errorf("runs %v", x.Runs)
		}
		is(t, "what the paper does not print", cells[2].Printed, none)
		is(t, "its difference", cells[2].Difference, none)
	}
}

// A cell of generated data keeps its printed number and has no difference from it. A cell without
// results has its printed number alone.
func TestCellsWithoutComparison(t *testing.T) {
	none := math.NaN()
	x := madeCells(t, fakeGrid, "smoke")[0]
	if !x.StandIn || x.Level != "D" || x.Taken != "standin-tiny" {
		t.Errorf("cell %+v", x)
	}
	is(t, "printed", x.Printed, 19)
	is(t, "ours", x.Ours, 20)
	is(t, "deviation of one seed", x.SD, none)
	is(t, "difference", x.Difference, none)
	x = madeCells(t, fakeGrid, "quick", "fail=data")[0]
	is(t, "printed", x.Printed, 19)
	for what, p := range map[string]*float64{"ours": x.Ours, "low": x.Low, "difference": x.Difference, "floor": x.Floor, "claimed": x.ClaimedEpsilon} {
		is(t, what+" without data", p, none)
	}
	if x.State != roster.NoData || x.Seeds != 0 || x.SeedsOf != 1 || x.Runs == nil || len(x.Runs) != 0 {
		t.Errorf("cell %+v", x)
	}
}

// A cell of a figure has its place on the axis, and JSON brings every cell back.
func TestCellsOfFigure(t *testing.T) {
	cells := madeCells(t, fakeFigure, "full")
	x := cells[0]
	if x.Figure != 4 || x.Axis != "epsilon" || x.At == nil || *x.At != 0.1 || x.Setting != "" ||
		x.AccountedUnit != "user" {
		t.Errorf("cell %+v", x)
	}
	is(t, "accounted", x.AccountedEpsilon, 70)
	b, err := json.Marshal(append(cells, madeCells(t, fakeGrid, "quick")...))
	if err != nil {
		t.Fatal(err)
	}
	holds(t, string(b), `"accounted_epsilon":"inf"`, `"seeds_of":3`, `"at":0.1`, `"printed":null`)
	var back []results.Cell
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back[:len(cells)], cells) {
		t.Errorf("read back\n%+v\nwant\n%+v", back[0], cells[0])
	}
}
