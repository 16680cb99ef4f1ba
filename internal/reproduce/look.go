package reproduce

import "path/filepath"

// Look makes a table of the runs that are finished. It starts and writes nothing.
func (g *Grid) Look(o Options) (*Outcome, error) {
	entries, runs, err := g.runs(o)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if _, err := r.look(); err != nil {
			return nil, err
		}
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

// Write writes the files of a table to out/tables.
func (o *Outcome) Write(out string) (err error) {
	runs := make([]*Run, len(o.Runs))
	for i := range runs {
		runs[i] = &o.Runs[i]
	}
	o.Files, err = o.write(filepath.Join(out, "tables"), timings(runs))
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
