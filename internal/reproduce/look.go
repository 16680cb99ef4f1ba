package reproduce

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/system"
)

// Look makes a table of the runs that are finished. It starts and writes nothing.
func (g *Grid) Look(ctx context.Context, o Options) (*Outcome, error) {
	entries, runs, err := g.runs(o)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if _, err := r.look(); err != nil {
			return nil, err
		}
	}
	if o.Records == nil { // what is kept says nothing of the data here
		markAbsent(ctx, runs)
	}
	t, err := g.table(o, entries, runs)
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
func markAbsent(ctx context.Context, runs []*Run) {
	open := func(r *Run) bool {
		return (r.Status == ToDo || r.Status == Resumable) && !r.waits() && absent(r.Data) != ""
	}
	why := map[string]error{} // by data
	for _, r := range runs {
		if open(r) && why[r.Data] == nil {
			if _, err := r.entry.task.Forecast(ctx, r.options); errors.Is(err, dataset.ErrNotFound) {
				why[r.Data] = err
			}
		}
	}
	for _, r := range runs {
		if err := why[r.Data]; err != nil && open(r) {
			markMissing(r, err)
		}
	}
}

// Write writes the files of a table to out/tables.
func (o *Outcome) Write(out string) (err error) {
	runs := make([]*Run, len(o.Runs))
	for i := range runs {
		runs[i] = &o.Runs[i]
	}
	o.Files, err = o.Table.write(filepath.Join(out, "tables"), runs)
	return err
}

// Finished counts the finished runs of a table.
func (o *Outcome) Finished() (n int) {
	for _, r := range o.Runs {
		if r.Status == Done {
			n++
		}
	}
	return n
}

// WriteIndex writes the page index.md, which lists the tables so far: how far their runs are,
// their levels, and their pages. It holds no time and no machine.
func (t *Tally) WriteIndex() error {
	list := &report.Table{Name: "tables", Title: "Tables and figures", Columns: report.Columns("", "table", "title",
		"runs", "state", "level")}
	for _, l := range t.list.Tables {
		level := "mixed, or none"
		if l.Document.Level != 0 {
			level = l.Document.Level.String()
		}
		list.Add("["+l.Name+"]("+l.Name+".md)", l.Document.Title, l.Runs.Total, l.Runs.words(false), level)
	}
	n := t.Total().Runs
	n.Now = 0
	d := &report.Document{Title: "Tables and figures, size " + t.list.Size, Tables: []*report.Table{list},
		Facts: []report.Fact{{Label: "runs", Value: plural(n.Total, "run") + ": " + n.words(false),
			Note: "each once, also where several tables share it"}},
		Notes: []string{"level D stands for generated rows: a number of that level says nothing about the paper"}}
	return system.WriteFile(filepath.Join(t.list.Out, "tables", "index.md"),
		func(w io.Writer) error { return d.Markdown(w) })
}
