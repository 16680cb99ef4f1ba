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
func gainsOf(g *grid.Grid, rows []*summary) (out []*summary, err error) {
	of := func(method, setting, data string) *summary {
		want := &g.Rows[g.Find(method, setting, data)]
		return rows[slices.IndexFunc(rows, func(s *summary) bool { return s.entry.Row == want })]
	}
	for _, p := range g.Gains {
		a, b := of(p.Method, p.Setting, p.Data), of(p.Over, p.OverSetting, p.Data)
		row, e := p.Row(), *a.entry
		e.Row, e.About = &row, nil
		s := &summary{entry: &e, level: max(a.level, b.level), runs: a.runs}
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
			var values []float64
			if gain := 100 * (a.mean(k)/b.mean(k) - 1); !math.IsNaN(gain) && !math.IsInf(gain, 0) {
				values = []float64{gain}
			}
			s.values = append(s.values, values)
		}
		if err := s.measure(g); err != nil {
			return nil, err
		}
		for k := range s.cells {
			if a.cells[k].Difference == nil || b.cells[k].Difference == nil {
				s.cells[k].Difference = nil
			}
		}
		out = append(out, s)
	}
	return out, nil
}
