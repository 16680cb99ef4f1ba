package results

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/report"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/roster"
)

// NoCause stands in place of a cause's sentence where a number differs and no cause is known. No
// cause is made up.
const NoCause = "no cause known"

// explainCell enters the cause of a difference, and of a number that cannot be reproduced. A number
// of ours that agrees needs none, and generated data show nothing.
func explainCell(g *grid.Grid, c *Cell, s *summary, rows []*summary, metric int) error {
	if c.Printed == nil || c.StandIn || c.Status == Match || c.Status == WithinNoise {
		return nil
	}
	for _, e := range g.Causes {
		if !e.Fits(g.Name, s.entry.Row, c.Metric) || c.Status == "" && !e.Never {
			continue
		}
		if c.Status == Differs && e.Ours != "" && (e.Ours == "above") != (*c.Ours > *c.Printed) {
			continue
		}
		c.Cause, c.Why = e.Code, e.Says
		if e.Never {
			c.Status = NotReproducible
		}
		if e.Shown == nil {
			return nil
		}
		var err error
		c.Evidence, err = shownBy(g, e.Shown, c, s, rows, metric)
		return err
	}
	if c.Status == Differs {
		c.Why = NoCause
	}
	return nil
}

// shownBy says which result shows a cause, and what it is beside ours and the printed number.
func shownBy(g *grid.Grid, by *grid.Shown, c *Cell, s *summary, rows []*summary, metric int) (string, error) {
	name, mean, n := "", 0.0, 0
	if by.Evaluation != "" {
		name = by.Evaluation
		for _, r := range s.results {
			e, err := roster.Choose(r.Evaluations, by.Evaluation)
			if err != nil {
				continue // the row's method has no such evaluation
			}
			if v, ok := e.Values[g.Metrics[metric].Measure.String()]; ok {
				mean, n = mean+g.Scale()*v, n+1
			}
		}
		mean /= float64(max(n, 1))
	} else {
		at := slices.IndexFunc(rows, func(o *summary) bool {
			return o.entry.Data == s.entry.Data && o.entry.Row.Method == by.Method && o.entry.Row.Variant == by.Setting
		})
		if at < 0 {
			return "", nil // the grid has no such row on these data
		}
		o := rows[at]
		if name = o.entry.Row.Label(); o == s {
			return "", errors.New("causes: " + name + " is shown by itself")
		}
		mean, n = o.mean(metric), len(o.results)
	}
	if n == 0 {
		return name + ": not run", nil
	}
	ours := ""
	if c.Ours != nil {
		ours = InText(c.Unit, c.inPercent(c.Ours), "") + " here, "
	}
	return fmt.Sprintf("%s%s with %s (%s), %s printed", ours, InText(c.Unit, mean, ""), name, phrase.Plural(n, "seed"),
		InText(c.Unit, c.inPercent(c.Printed), "")), nil
}

// causeTable makes the table of causes: a line for the numbers of a row that share one. It returns
// nil where no number needs a cause.
func causeTable(g *grid.Grid, rows []*summary) *report.Table {
	t := &report.Table{Name: "causes", Title: "Why numbers differ, as far as it is known",
		Columns: report.Columns("", "method", "data", "metrics", "status", "cause", "sentence", "shown by")}
	for _, s := range rows {
		var keys []string
		metrics, first, shown := map[string][]string{}, map[string]*Cell{}, map[string][]string{}
		for i := range s.cells {
			c := &s.cells[i]
			if c.Status != Differs && c.Status != NotReproducible {
				continue
			}
			k := c.Status + c.Cause + c.Why
			if keys = phrase.AppendNew(keys, k); first[k] == nil {
				first[k] = c
			}
			metrics[k] = append(metrics[k], c.Heading)
			if c.Evidence != "" {
				shown[k] = append(shown[k], c.Heading+": "+c.Evidence)
			}
		}
		for _, k := range keys {
			c := first[k]
			t.Add(s.entry.Row.Label(), s.entry.Data.Printed, strings.Join(metrics[k], ", "), c.Status, c.Cause, c.Why,
				strings.Join(shown[k], "; "))
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}
