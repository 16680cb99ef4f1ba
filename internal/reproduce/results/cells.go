package results

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
	"privrec/internal/system"
)

// makeCells returns the cells of a table or figure, compared: for each row, or point of a row, one a metric.
func makeCells(g *grid.Grid, rows []*summary) (out []Cell, err error) {
	err = system.Together(len(rows), func(i int) error { return compareCells(g, rows[i], rows) })
	for _, s := range rows {
		out = append(out, s.cells...)
	}
	return out, err
}

// compareCells enters in the cells of a row what other rows of the table say of them: the highest floor of the
// protocol, how ours and the printed number stand to each other, and the cause of a difference.
func compareCells(g *grid.Grid, s *summary, rows []*summary) error {
	for i := range s.cells {
		c := &s.cells[i]
		c.FloorName, c.Floor = highestFloor(s, rows, i)
		if s.entry.Row.Computed {
			c.Why = gainWhy
			continue
		}
		if err := judgeCell(g, c, s, i); err != nil {
			return err
		}
		if err := explainCell(g, c, s, rows, i); err != nil {
			return err
		}
	}
	return nil
}

// highestFloor returns the highest floor of a metric, in the unit of the cells, and its name, among the floors of all
// rows of the same protocol. It returns nil where the row has no results.
func highestFloor(s *summary, rows []*summary, metric int) (name string, floor *float64) {
	for _, o := range rows {
		if o != s && !sameProtocol(s, o) {
			continue
		}
		for n, f := range o.cells[metric].Floors {
			if floor == nil || cmp.Or(cmp.Compare(f, *floor), strings.Compare(name, n)) > 0 {
				name, floor = n, &f
			}
		}
	}
	return name, floor
}

// sameProtocol reports whether two rows were measured alike: on the same data with the same seeds,
// with equal floors in every metric. Floors that only one of them has are left out, but at least
// two must be there in both: the random floor alone is equal for different test rows.
func sameProtocol(a, b *summary) bool {
	sameSeed := func(x, y *roster.Result) bool { return x.Seed == y.Seed }
	if a.entry.Name != b.entry.Name || len(a.results) == 0 || !slices.EqualFunc(a.results, b.results, sameSeed) {
		return false
	}
	shared := 0
	for name := range a.cells[0].Floors {
		if _, ok := b.cells[0].Floors[name]; !ok {
			continue
		}
		shared++
		for i := range a.cells {
			x, y := a.cells[i].floor(name), b.cells[i].floor(name)
			if math.Abs(x-y) > 1e-9*max(1, math.Abs(x)) {
				return false
			}
		}
	}
	return shared >= 2
}
