package roster

import (
	"fmt"
	"slices"

	"privrec/internal/reproduce/grid"
)

// Of lists a table's runs row by row, and seed by seed within a row. A run follows those
// that it is about.
func Of(g *grid.Grid, o Options) (entries []*grid.Entry, runs []*Run, err error) {
	sets := g.Own(o.Sets)
	if o.Workers > 0 {
		sets = append(slices.Clone(sets), fmt.Sprintf("run.workers=%d", o.Workers))
	}
	for i := range g.Rows {
		size := sizeOf(g, &g.Rows[i], o)
		for _, r := range g.PointsOf(&g.Rows[i], size) {
			c, err := g.Entry(r, size, sets)
			if err != nil {
				return nil, nil, err
			}
			entries = append(entries, c)
			for _, seed := range c.Seeds {
				if _, err := newRun(c, &runs, o.Out, seed); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	if o.Records != nil {
		for _, r := range runs { // each after those that it is about
			if err := r.take(o.Records); err != nil {
				return nil, nil, err
			}
		}
	}
	return entries, runs, nil
}

// sizeOf returns the size in which a row is made. With o.StandIns that is smoke where the
// row's data are missing: then its runs are those of the smoke table.
func sizeOf(g *grid.Grid, r *grid.Row, o Options) string {
	p, _, err := g.Size(o.Size, r.Setting)
	if o.StandIns && err == nil && !p.StandIn && grid.Absent(r.Data) != "" {
		return "smoke"
	}
	return o.Size
}

// Unfit marks a run as left out where it cannot be about the runs that it would be about, and
// reports whether it did. That is known when they are finished.
func Unfit(g *grid.Grid, r *Run) bool {
	about := r.About()
	open := func(of *Run) bool { return of.Status != Done }
	if g.Unfit == nil || len(about) == 0 || slices.ContainsFunc(r.Before, open) {
		return false
	}
	why := g.Unfit(r.Task(), about)
	if why != "" {
		r.Status, r.Problem = LeftOut, why
	}
	return why != ""
}
