package results

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
	"privrec/internal/system"
)

// makeCells makes the cells of a table or figure: for each row, or point of a row, one a metric.
func makeCells(g *grid.Grid, rows []*summary) (out []Cell, err error) {
	err = system.Together(len(rows), func(i int) error { return cellsOf(g, rows[i], rows) })
	for _, s := range rows {
		out = append(out, s.cells...)
	}
	return out, err
}

// cellsOf makes the cells of one of the rows of a table.
func cellsOf(g *grid.Grid, s *summary, rows []*summary) error {
	row := s.entry.Row
	base := Cell{
		Paper: g.Paper, Grid: g.Name, Table: g.Table, Figure: g.Figure, Profile: s.entry.Size, Unit: g.Unit,
		Data: s.entry.Data.Printed, Taken: s.entry.Name, StandIn: s.standIn(),
		Method: row.Method, Setting: row.Variant, Again: row.Again, Epochs: s.epochs(), Commits: s.commits(),
		Seeds: len(s.results), SeedsOf: len(s.runs), State: s.status(), Runs: []string{},
	}
	if p := row.Point; p != nil {
		base.Setting, base.Axis, base.At = p.Variant, p.Axis.Name, pointer(p.Value)
	}
	for _, r := range s.runs {
		if r.Status == roster.Done {
			base.Runs = append(base.Runs, filepath.Base(r.Dir))
		}
	}
	s.guarantees(&base)
	for i, col := range s.columns {
		c := base
		c.Metric, c.Heading, c.Printed = g.Metrics[i].Name, g.Metrics[i].Printed, row.PrintedNumber(i)
		if len(s.results) > 0 {
			c.Level, c.Ours = s.level.String(), inUnit(g, col.mean)
		}
		if len(s.results) > 1 {
			c.SD = inUnit(g, col.sd)
		}
		c.Low, c.High, c.Difference = inUnit(g, col.lo), inUnit(g, col.hi), inUnit(g, col.delta)
		name, floor := highestFloor(s, rows, i)
		c.Floor, c.FloorName = inUnit(g, floor), name
		for n, f := range col.floors {
			if c.Floors == nil {
				c.Floors = map[string]float64{}
			}
			c.Floors[n] = *inUnit(g, f)
		}
		if row.Computed {
			c.Why = gainWhy
			s.cells = append(s.cells, c)
			continue
		}
		if err := judgeCell(g, &c, s, i); err != nil {
			return err
		}
		if err := explainCell(g, &c, s, rows, i); err != nil {
			return err
		}
		s.cells = append(s.cells, c)
	}
	return nil
}

// guarantees enters the epsilons, of the worst seed. What is claimed of the rows' own data counts
// before what is claimed of user features.
func (s *summary) guarantees(c *Cell) {
	lines, _ := s.accounts()
	for _, l := range lines {
		if !math.IsNaN(l.claimed) && (c.ClaimedEpsilon == nil || c.ClaimedUnit == featuresUnit) {
			c.ClaimedEpsilon, c.ClaimedUnit = pointer(l.claimed), l.unit
		}
		if unit := s.entry.Row.UnitOf; l.unit == featuresUnit || unit != "" && l.unit != unit && l.unit != wholeRun {
			continue
		}
		if c.AccountedEpsilon == nil || l.accounted > *c.AccountedEpsilon {
			c.AccountedEpsilon, c.AccountedUnit = pointer(l.accounted), l.unit
		}
	}
}

// highestFloor returns the highest floor of a metric, in percent, and its name, among the
// floors of all rows of the same protocol. It returns NaN where the row has no results.
func highestFloor(s *summary, rows []*summary, metric int) (name string, floor float64) {
	floor = math.NaN()
	for _, o := range rows {
		if o != s && !sameProtocol(s, o) {
			continue
		}
		for n, f := range o.columns[metric].floors {
			if math.IsNaN(floor) || cmp.Or(cmp.Compare(f, floor), strings.Compare(name, n)) > 0 {
				name, floor = n, f
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
	for name := range a.columns[0].floors {
		if _, ok := b.columns[0].floors[name]; !ok {
			continue
		}
		shared++
		for i := range a.columns {
			x, y := a.columns[i].floors[name], b.columns[i].floors[name]
			if math.Abs(x-y) > 1e-9*max(1, math.Abs(x)) {
				return false
			}
		}
	}
	return shared >= 2
}
