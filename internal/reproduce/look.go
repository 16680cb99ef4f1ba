package reproduce

import (
	"context"
	"errors"

	"privrec/internal/dataset"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
)

// Look makes a table of the runs that are finished. It starts and writes nothing.
func Look(ctx context.Context, g *grid.Grid, o roster.Options) (*Outcome, error) {
	entries, runs, err := roster.Of(g, o)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if _, err := r.Look(); err != nil {
			return nil, err
		}
	}
	if o.Records == nil { // what is kept says nothing of the data here
		markAbsent(ctx, runs)
	}
	t, err := results.Make(g, o, entries, runs)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Table: t}
	for _, r := range runs {
		out.Runs = append(out.Runs, *r)
	}
	return out, nil
}

// markAbsent marks runs whose data are missing with what an attempt to make them says: a table must not
// depend on which command wrote it last. Opening one run for a forecast says it for all on the same data.
func markAbsent(ctx context.Context, runs []*roster.Run) {
	open := func(r *roster.Run) bool {
		return (r.Status == roster.ToDo || r.Status == roster.Resumable) && !r.Waits() && grid.Absent(r.Data) != ""
	}
	why := map[string]error{} // by data
	for _, r := range runs {
		if open(r) && why[r.Data] == nil {
			if _, err := r.Entry.Task.Forecast(ctx, r.Start); errors.Is(err, dataset.ErrNotFound) {
				why[r.Data] = err
			}
		}
	}
	for _, r := range runs {
		if err := why[r.Data]; err != nil && open(r) {
			roster.MarkMissing(r, err)
		}
	}
}
