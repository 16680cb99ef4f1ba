package reproduce

import (
	"math"

	"privrec/internal/report"
)

// numbers makes the table for programs, in percent with all digits. A table cell is empty
// where there is no number.
func (g *Grid) numbers(o Options, rows []*summary) *report.Table {
	t := &report.Table{Name: "numbers", Columns: report.Columns("", "table", "profile", "data", "printed_data", "method", "setting", "metric", "level", "state",
		"paper", "ours_mean", "ours_sd", "ours_t95_low", "ours_t95_high", "seeds_done", "seeds", "delta", "floor_random", "floor_popularity",
		"claimed_epsilon", "accounted_epsilon", "epochs_run", "commit")}
	for _, s := range rows {
		claimed, accounted := math.NaN(), math.NaN()
		lines, _ := s.accounts()
		for _, l := range lines {
			if l.unit == featuresUnit {
				continue
			}
			if !math.IsNaN(l.claimed) {
				claimed = l.claimed
			}
			if math.IsNaN(accounted) || l.accounted > accounted {
				accounted = l.accounted
			}
		}
		for i, c := range s.columns {
			mean, sd, level := math.NaN(), math.NaN(), ""
			if len(c.values) > 0 {
				mean, level = c.mean, s.level.String()
			}
			if len(c.values) > 1 {
				sd = c.sd
			}
			row := s.entry.row
			t.Add(g.Name, o.Size, s.entry.name, s.entry.data.Printed, row.Method, row.Variant, g.Metrics[i].Name, level, string(s.status()),
				number(c.paper), number(mean), number(sd), number(c.lo), number(c.hi), len(c.values), len(s.runs), number(c.delta),
				numberOf(c.floors, "random"), numberOf(c.floors, "popularity"), number(claimed), number(accounted), s.epochs(), s.commits())
		}
	}
	return t
}

// number returns x, or nothing for no number.
func number(x float64) any {
	if math.IsNaN(x) {
		return nil
	}
	return x
}

// numberOf returns the number of that name, or nothing where there is none.
func numberOf(m map[string]float64, name string) any {
	if x, ok := m[name]; ok {
		return x
	}
	return nil
}
