package results

import (
	"errors"
	"math"
	"path/filepath"

	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
	"privrec/internal/stats"
	"privrec/internal/system"
)

// summaries summarises rows, several at once.
func summaries(g *grid.Grid, entries []*grid.Entry, runs []*roster.Run) ([]*summary, error) {
	rows := make([]*summary, len(entries))
	err := system.Together(len(rows), func(i int) (err error) {
		rows[i], err = summarise(g, entries[i], runs)
		return err
	})
	return rows, err
}

// summarise reads the finished runs of a row and takes means over its seeds. A run with
// results that cannot be read fails.
func summarise(g *grid.Grid, c *grid.Entry, runs []*roster.Run) (*summary, error) {
	s := &summary{entry: c}
	for _, r := range runs {
		if r.Entry != c {
			continue
		}
		s.runs = append(s.runs, r)
		if r.Status != roster.Done {
			continue
		}
		res, err := roster.Read(g, r)
		if err != nil {
			r.Fail(err)
			continue
		}
		s.results, s.level = append(s.results, res), max(s.level, res.Level)
	}
	for i := range g.Metrics {
		var values []float64
		for _, r := range s.results {
			if x := r.Values[i]; !math.IsNaN(x) {
				values = append(values, g.Scale()*x)
			}
		}
		s.values = append(s.values, values)
	}
	return s, s.measure(g)
}

// measure makes the cells of a row, from its values: means over the seeds beside what the paper prints, and the floors
// of the runs themselves. What other rows say of a cell is entered by compareCells.
func (s *summary) measure(g *grid.Grid) error {
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
	for i, values := range s.values {
		c := base
		c.Metric, c.Heading, c.Printed = g.Metrics[i].Name, g.Metrics[i].Printed, row.PrintedNumber(i)
		if len(s.results) > 0 {
			c.Level = s.level.String()
		}
		if len(s.results) > 1 {
			c.SD = inUnit(g, stats.SD(values))
		}
		c.Ours = inUnit(g, s.mean(i))
		if c.comparable() && s.short() == "" {
			c.Difference = inUnit(g, s.mean(i)-c.inPercent(c.Printed))
		}
		if len(values) >= 3 {
			t, err := stats.TInterval(values, confidence)
			switch {
			case err == nil:
				c.Low, c.High = inUnit(g, t.Lo), inUnit(g, t.Hi)
			case !errors.Is(err, stats.ErrNoSpread):
				return err
			}
		}
		c.Floors = s.floors(g, i)
		s.cells = append(s.cells, c)
	}
	return nil
}

// floors returns the floors of the row's own runs by name, in the unit of the cells: of each the mean over the seeds.
func (s *summary) floors(g *grid.Grid, metric int) map[string]float64 {
	sum := map[string]float64{}
	for _, r := range s.results {
		for name, f := range r.Floors {
			if !math.IsNaN(f[metric]) {
				sum[name] += g.Scale() * f[metric] / float64(len(s.results))
			}
		}
	}
	for name, f := range sum {
		sum[name] = *inUnit(g, f)
	}
	return sum
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
