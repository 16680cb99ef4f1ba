package grid

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/reproduce/phrase"
	"privrec/internal/run"
)

// Select returns the grids of the named papers, or of all papers where none is named. Of
// these it returns the table or the figure with that number, or all for 0 and 0.
func Select(grids []*Grid, papers []string, table, figure int) ([]*Grid, error) {
	grids, err := Of(grids, papers)
	if err != nil {
		return nil, err
	}
	var out []*Grid
	var names []string
	for _, g := range grids {
		if wanted := figure != 0; wanted == (g.Figure != 0) {
			names = phrase.AppendNew(names, g.Paper+" "+g.number())
		}
		if table == 0 && figure == 0 || table != 0 && g.Table == table || figure != 0 && g.Figure == figure {
			out = append(out, g)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case len(names) == 0 && figure != 0:
		return nil, &run.UsageError{Message: fmt.Sprintf("no figure %d", figure),
			Fix: "there are only tables; see privrec reproduce --list"}
	case figure != 0:
		return nil, &run.UsageError{Message: fmt.Sprintf("no figure %d", figure), Fix: "there are " +
			strings.Join(names, ", ")}
	}
	return nil, &run.UsageError{Message: fmt.Sprintf("no table %d", table), Fix: "there are " +
		strings.Join(names, ", ")}
}

// Of returns the grids of the named papers, or all where none is named.
func Of(grids []*Grid, papers []string) (out []*Grid, err error) {
	var known []string
	for _, g := range grids {
		known = phrase.AppendNew(known, g.Paper)
		if len(papers) == 0 || slices.Contains(papers, g.Paper) {
			out = append(out, g)
		}
	}
	for _, p := range papers {
		if !slices.Contains(known, p) {
			return nil, &run.UsageError{Message: fmt.Sprintf("no table of a paper called %q", p),
				Fix: phrase.Hint(p, known)}
		}
	}
	return out, nil
}
