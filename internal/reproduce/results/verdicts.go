package results

import (
	"slices"

	"privrec/internal/claims"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// Verdicts holds the claims of papers against the finished runs below o.Out, in the size o.Size.
// It starts nothing. A run with results that cannot be read counts as failed. Of the grids of made tables it takes
// the results that these have.
func Verdicts(papers []*claims.Paper, grids []*grid.Grid, o roster.Options, made ...*Table,
) (out []*claims.Result, err error) {
	for _, p := range papers {
		var with []*claims.Grid
		for _, g := range grids {
			if g.Paper != p.Name || !slices.ContainsFunc(p.Claims,
				func(c claims.Claim) bool { return c.About(g.Name) }) {
				continue
			}
			var rows []*summary
			if at := slices.IndexFunc(made, func(t *Table) bool { return t.grid == g }); at >= 0 {
				rows = made[at].rows
			} else if rows, err = finished(g, o); err != nil {
				return nil, err
			}
			lines, err := linesOf(g, rows)
			if err != nil {
				return nil, err
			}
			with = append(with, withResults(g, lines))
		}
		r, err := claims.Judge(p.Name, p.Claims, with)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// finished reads the finished runs of a grid's rows.
func finished(g *grid.Grid, o roster.Options) ([]*summary, error) {
	entries, runs, err := roster.Of(g, o)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if _, err := r.Look(); err != nil {
			return nil, err
		}
	}
	return summaries(g, entries, runs)
}
