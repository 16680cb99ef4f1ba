package results

import (
	"privrec/internal/report"
)

// numberTable makes the table for programs of the cells, in percent with all digits. A table cell is
// empty where there is no number. A printed number is left out where ours are of level C or D or
// from generated data.
func numberTable(cells []Cell) *report.Table {
	t := &report.Table{Name: "numbers", Columns: report.Columns("", "table", "profile", "data", "printed_data",
		"method", "setting", "metric", "level", "state",
		"paper", "ours_mean", "ours_sd", "ours_t95_low", "ours_t95_high", "seeds_done", "seeds", "delta",
		"floor_random", "floor_popularity",
		"claimed_epsilon", "accounted_epsilon", "epochs_run", "commit",
		"status", "margin", "margin_basis", "cause", "why", "evidence")}
	for i := range cells {
		c := &cells[i]
		value := func(x *float64) any { return number(c.inPercent(x)) }
		floor := func(name string) any {
			if f, ok := c.Floors[name]; ok {
				return value(&f)
			}
			return nil
		}
		t.Add(c.Grid, c.Profile, c.Taken, c.Data, c.Method, c.full(), c.Metric, c.Level, string(c.State),
			value(c.paper()), value(c.Ours), value(c.SD), value(c.Low), value(c.High), c.Seeds, c.SeedsOf, value(c.Difference),
			floor("random"), floor("popularity"),
			pointed(c.ClaimedEpsilon), pointed(c.AccountedEpsilon), c.Epochs, c.Commits,
			c.Status, value(c.Margin), c.Basis, c.Cause, c.Why, c.Evidence)
	}
	return t
}
