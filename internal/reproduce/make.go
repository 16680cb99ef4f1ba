package reproduce

import (
	"context"
	"path/filepath"

	"privrec/internal/reproduce/results"
)

// Finish makes the runs that table i needs, and no table.
func (p *Plan) Finish(ctx context.Context, i int) (*Outcome, error) {
	t := p.tables[i]
	w := &worker{clock: p.clock, grid: t.grid, o: p.o, runs: t.runs, lacking: p.lacking}
	if err := w.makeAll(ctx); err != nil {
		return nil, err
	}
	out := &Outcome{Table: &results.Table{Name: t.grid.FileName(p.o.Size, p.o.Sets)}, shard: p.o.Shard, hint: w.hint}
	for _, r := range t.runs {
		out.Runs = append(out.Runs, *r)
	}
	return out, nil
}

// Make trains what table i needs and writes the table to o.Out/tables. It also returns the table where runs failed or
// could not begin; Outcome.Err says so. Its error is for what stops the work: an interruption, a grid that cannot be
// carried out, a table that cannot be written. A shard writes no table: it lacks the runs of the others.
func (p *Plan) Make(ctx context.Context, i int) (*Outcome, error) {
	out, err := p.Finish(ctx, i)
	if err != nil || p.o.Shard.Of > 0 {
		return out, err
	}
	t := p.tables[i]
	if out.Table, err = results.Make(t.grid, p.o, t.entries, t.runs); err != nil {
		return nil, err
	}
	for k, r := range t.runs { // the table says of results that cannot be read
		out.Runs[k] = *r
	}
	files, err := out.Table.Save(filepath.Join(p.o.Out, "tables"), t.runs)
	out.Files = files
	return out, err
}
