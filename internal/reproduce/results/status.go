package results

import (
	"fmt"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// judgeCell decides the status of a cell. It leaves the cell without one, and says why, where nothing
// can be said.
func judgeCell(g *grid.Grid, c *Cell, s *summary, metric int) error {
	if c.Why = s.silent(c); c.Why != "" {
		return nil
	}
	if g.Unit == grid.UnitCount { // there is no chance in counts
		c.Basis, c.Margin, c.Status = "the digits printed", pointer(0.5*math.Pow10(-digitsAfter(*c.Printed))), Differs
		if equals(*c.Ours, *c.Printed) {
			c.Status = Match
		}
		return nil
	}
	e := evidence{
		ours: *c.Ours, printed: *c.Printed, rounding: halfDigit(g, metric), theirs: g.Place.Seeds, spread: math.NaN(),
		users: math.NaN(), authors: s.level == dataset.LevelA, noisy: s.noisy(), gap: toNearest(g, s.entry.Row, metric),
	}
	for _, v := range s.values[metric] {
		e.values = append(e.values, *inUnit(g, v))
	}
	if spread := s.entry.Row.Spread; len(spread) > 0 && spread[metric] != nil {
		e.spread = *spread[metric]
	}
	if !e.authors {
		of, err := usersOf(g, s)
		if err != nil {
			return err
		}
		if u := of[metric]; !math.IsNaN(u.lo) {
			e.users = *inUnit(g, (u.hi-u.lo)/2)
		}
	}
	status, margin, basis, err := e.judge()
	if err != nil {
		return fmt.Errorf("%s: %w", s.entry.Row.Label(), err)
	}
	c.Status, c.Margin, c.Basis = status, pointer(margin), basis
	return nil
}

// silent says why nothing can be said of a cell, and "" where something can.
func (s *summary) silent(c *Cell) string {
	switch {
	case c.Printed == nil:
		return "the paper prints none"
	case c.StandIn:
		return "stand-in: generated data in place of the paper's"
	case len(s.results) == 0:
		for _, r := range s.runs {
			if r.Status == c.State && r.Problem != "" {
				return fmt.Sprintf("%s: %s", c.State, r.Problem)
			}
		}
		if c.State == roster.ToDo {
			return "not run"
		}
		return string(c.State)
	case c.Ours == nil:
		return notInData
	case !c.comparable():
		return fmt.Sprintf("level %s: %s", c.Level, s.level.Meaning())
	case s.short() != "":
		return "cut short: " + s.short()
	}
	return ""
}

// halfDigit returns half a unit of the last digit that the paper prints in the column of a metric,
// that is of the number with the most decimals: files drop zeros at the end.
func halfDigit(g *grid.Grid, metric int) float64 {
	decimals := 0
	for i := range g.Rows {
		if p := g.Rows[i].PrintedNumber(metric); p != nil {
			decimals = max(decimals, digitsAfter(*p))
		}
	}
	return 0.5 * math.Pow10(-decimals)
}

// toNearest returns the difference between the printed number of a row and the nearest other one that is
// printed for another method on the same data. It is NaN where there is none.
func toNearest(g *grid.Grid, r *grid.Row, metric int) float64 {
	near := math.NaN()
	for i := range g.Rows {
		o := &g.Rows[i]
		p := o.PrintedNumber(metric)
		if o.Data != r.Data || o.Method == r.Method || p == nil || *p == *r.PrintedNumber(metric) {
			continue
		}
		if d := math.Abs(*p - *r.PrintedNumber(metric)); math.IsNaN(near) || d < near {
			near = d
		}
	}
	return near
}
