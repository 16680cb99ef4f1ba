package results

import (
	"math"
	"slices"

	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// gainWhy is why a gain has no status of its own.
const gainWhy = "differences of two rows, each of which is compared in its own place"

// gainsOf computes the gains from the rows. A gain has a result if both rows have one, and stands
// beside the printed number as the weaker of them does.
func gainsOf(g *grid.Grid, rows []*summary) (out []*summary) {
	of := func(method, setting, data string) *summary {
		want := &g.Rows[g.Find(method, setting, data)]
		return rows[slices.IndexFunc(rows, func(s *summary) bool { return s.entry.Row == want })]
	}
	for _, p := range g.Gains {
		a, b := of(p.Method, p.Setting, p.Data), of(p.Over, p.OverSetting, p.Data)
		row, e := p.Row(), *a.entry
		e.Row, e.About = &row, nil
		s := &summary{entry: &e, level: max(a.level, b.level), unit: a.unit, runs: a.runs}
		if a.status() == roster.Done {
			s.runs = b.runs
		}
		if len(a.results) > 0 && len(b.results) > 0 {
			fewer := a.results
			if len(b.results) < len(a.results) {
				fewer = b.results
			}
			for _, r := range fewer {
				s.results = append(s.results, &roster.Result{Seed: r.Seed, Short: r.Short, Level: r.Level})
			}
		}
		for k := range g.Metrics {
			c := column{lo: math.NaN(), hi: math.NaN(), paper: math.NaN(), delta: math.NaN(), mean: math.NaN(),
				floors: map[string]float64{}, stated: row.PrintedNumber(k) != nil}
			x, y := a.columns[k], b.columns[k]
			if len(x.values) > 0 && len(y.values) > 0 && y.mean != 0 {
				c.mean = 100 * (x.mean/y.mean - 1)
				c.values = []float64{c.mean}
			}
			if printed := row.PrintedNumber(k); printed != nil && (len(s.results) == 0 || !math.IsNaN(x.paper) &&
				!math.IsNaN(y.paper)) && !s.standIn() {
				if c.paper = *printed; !math.IsNaN(x.delta) && !math.IsNaN(y.delta) {
					c.delta = c.mean - c.paper
				}
			}
			s.columns = append(s.columns, c)
		}
		out = append(out, s)
	}
	return out
}
