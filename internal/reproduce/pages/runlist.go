package pages

import (
	"fmt"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/reproduce/phrase"
)

// overviewOfRuns makes the overview of runs that belong to no table: results beside floors and
// epsilons.
func overviewOfRuns(runs []*finished) *report.Page {
	var names []string
	for _, f := range runs {
		for _, n := range f.names() {
			names = phrase.AppendNew(names, n)
		}
	}
	t := &report.Table{Name: "runs", Title: "Runs, in percent", Sorts: true,
		Columns: append(report.Columns("%.2f", "method", "data", "seed", "level", "result"),
			report.Columns("%.2f", names...)...)}
	t.Columns = append(t.Columns, report.Columns("%.4g", "claimed epsilon", "accounted epsilon", "run")...)
	claimed, kept := 0, 0
	for _, f := range runs {
		add := func(s experiment.Scores, what string) {
			row := []any{report.Link{Text: f.outcome.Method, To: f.page()}, f.outcome.Data.Name,
				fmt.Sprint(f.manifest.Seed), f.outcome.Data.Level.String(), what}
			for _, n := range names {
				if v, ok := s.Values[n]; ok && finite(v) {
					row = append(row, 100*v)
				} else {
					row = append(row, nil)
				}
			}
			claim, total, known := math.NaN(), math.NaN(), true
			if a := f.account; a != nil {
				total = float64(a.Total)
				known = a.Noise != experiment.Unknown
				if a.Claimed != nil {
					claim = float64(a.Claimed.Eps)
				}
			}
			accounted := some(total)
			if !known {
				accounted = notKnown
			}
			t.Add(append(row, some(claim), accounted, f.name)...)
		}
		for _, e := range f.outcome.Evaluations {
			add(e, e.Name)
		}
		for _, e := range f.outcome.Floors {
			add(e, e.Name+", floor")
		}
		if len(f.outcome.Evaluations)+len(f.outcome.Floors) == 0 {
			add(experiment.Scores{}, "nothing is measured: no truth was given")
		}
		if a := f.account; a != nil && a.Claimed != nil {
			claimed++
			if !math.IsInf(float64(a.Total), 1) {
				kept++
			}
		}
	}
	return &report.Page{
		Title: "Runs beside each other",
		Conclusion: fmt.Sprintf("Of %s, %d claim an epsilon, and for %d of these the account is finite.",
			things(len(runs), "run", "runs"), claimed, kept),
		Parts: []report.Part{t, report.Prose{"What the runs took: ", report.Link{Text: "costs", To: Costs}, "."}},
	}
}
