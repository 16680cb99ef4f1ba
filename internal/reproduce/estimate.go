package reproduce

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/reproduce/costs"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// Estimate says how far every run of a table is, and what the unfinished ones would take.
// It trains a few steps of each row, drops them, and writes no file.
func Estimate(ctx context.Context, g *grid.Grid, o roster.Options) (*report.Document, error) {
	entries, runs, err := roster.Of(g, o)
	if err != nil {
		return nil, err
	}
	t := &report.Table{Name: g.Name, Title: fmt.Sprintf("Runs of %s, size %s", g.Name, o.Size),
		Columns: []report.Column{
			{Name: "method"}, {Name: "data"}, {Name: "seed"}, {Name: "state"}, {Name: "steps"},
			{Name: "ms a step", Format: "%.1f"}, {Name: "time"}, {Name: "memory MB"}}}
	p, _, err := g.Size(o.Size, g.Rows[0].Setting)
	if err != nil {
		return nil, err
	}
	d := &report.Document{Title: "What " + g.Name + " would take", Subtitle: "size " + o.Size + ": " + p.About}
	var (
		total, fastest   float64
		open, unmeasured int
		memory           int64
		first            = map[string]*roster.Run{}  // by directory: rows may share a run
		equal            = map[string]run.Forecast{} // by effort and epochs: rows may differ in what costs nothing
	)
	for _, c := range withAbout(entries) {
		f, bad := run.Forecast{}, error(nil)
		measured := false
		for _, r := range runs {
			if r.Entry != c {
				continue
			}
			if _, err := r.Look(); err != nil {
				return nil, err
			}
			if shared := first[r.Dir]; shared != nil {
				same := "the run of " + shared.Method
				if shared.On() != r.On() {
					same += " on " + shared.On()
				}
				t.Add(r.Method, r.On(), fmt.Sprint(r.Seed), same)
				continue
			}
			first[r.Dir] = r
			if r.Status == roster.Done || r.Status == roster.Failed {
				t.Add(r.Method, r.On(), fmt.Sprint(r.Seed), string(r.Status))
				continue
			}
			open++
			if r.Waits() { // they cannot be measured before those are made
				t.Add(r.Method, r.On(), fmt.Sprint(r.Seed), string(roster.ToDo))
				unmeasured++
				continue
			}
			if !measured { // the seeds of a row take the same
				key, epochs, err := costs.Effort(r)
				if err != nil {
					return nil, err
				}
				key, measured = fmt.Sprintf("%s %d", key, epochs), true
				if was, ok := equal[key]; ok {
					f = was
				} else {
					o.Progress.Phase(fmt.Sprintf("measure %s on %s", r.Method, r.Data))
					if f, bad = c.Task.Forecast(ctx, r.Start); bad == nil {
						equal[key] = f
					}
				}
			}
			switch {
			case errors.Is(bad, run.ErrNoForecast):
				t.Add(r.Method, r.On(), fmt.Sprint(r.Seed), string(r.Status))
				unmeasured++
			case errors.Is(bad, dataset.ErrNotFound):
				roster.MarkMissing(r, bad)
				if note := r.Problem; !slices.Contains(d.Notes, note) {
					d.Notes = append(d.Notes, note)
				}
				t.Add(r.Method, r.On(), fmt.Sprint(r.Seed), string(r.Status))
				unmeasured++
			case bad != nil:
				return nil, bad
			default:
				t.Add(r.Method, r.On(), fmt.Sprint(r.Seed), string(r.Status), f.Steps, 1000*f.StepSeconds,
					phrase.Lasting(f.Seconds), int(f.Bytes>>20))
				total, fastest, memory = total+f.Seconds, fastest+f.Fastest, max(memory, f.Bytes)
				if note := r.Method + " on " + r.On() + ": " + f.Basis; !slices.Contains(d.Notes, note) {
					d.Notes = append(d.Notes, note)
				}
			}
		}
	}
	d.Tables = []*report.Table{t}
	d.Facts = []report.Fact{{Label: "not finished", Value: fmt.Sprintf("%d of %d runs", open, len(first)),
		Note: "finished runs are not repeated"}}
	if open > unmeasured {
		d.Facts = append(d.Facts,
			report.Fact{Label: "time", Value: "about " + phrase.Lasting(total),
				Note: "on this machine under its present load, one run after the other; a run that has begun counts " +
					"in full"},
			report.Fact{Label: "at best", Value: "about " + phrase.Lasting(fastest),
				Note: "if every step were as fast as the fastest one measured"},
			report.Fact{Label: "memory", Value: fmt.Sprintf("at least %d MB", memory>>20),
				Note: "the peak of the program's memory while it measured the largest row"})
	}
	if unmeasured > 0 {
		d.Facts = append(d.Facts, report.Fact{Label: "not estimated", Value: fmt.Sprintf("%d runs", unmeasured),
			Note: "their data are missing, they are about runs that are not made, or their task makes no forecast"})
	}
	d.Notes = append(d.Notes,
		"these are estimates: the time of a few steps, multiplied by the number that the settings ask for; no file "+
			"was written")
	return d, nil
}

// withAbout lists the entries of rows, each after those of the runs that it is about.
func withAbout(entries []*grid.Entry) (all []*grid.Entry) {
	for _, c := range entries {
		all = append(append(all, c.About...), c)
	}
	return all
}
