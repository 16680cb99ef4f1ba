package reproduce

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/config"
	"privrec/internal/run"
)

// Select returns the grids of the named papers, or of all papers where none is named. Of
// these it returns the table with that number, or all tables for 0.
func Select(grids []*Grid, papers []string, table int) ([]*Grid, error) {
	var known []string
	for _, g := range grids {
		if !slices.Contains(known, g.Paper) {
			known = append(known, g.Paper)
		}
	}
	for _, p := range papers {
		if !slices.Contains(known, p) {
			return nil, &run.UsageError{Message: fmt.Sprintf("no table of a paper called %q", p), Fix: suggest(p, known)}
		}
	}
	var out []*Grid
	var tables []string
	for _, g := range grids {
		if len(papers) > 0 && !slices.Contains(papers, g.Paper) {
			continue
		}
		tables = append(tables, g.Paper+" table "+strconv.Itoa(g.Table))
		if table == 0 || g.Table == table {
			out = append(out, g)
		}
	}
	if len(out) == 0 {
		return nil, &run.UsageError{Message: fmt.Sprintf("no table %d", table), Fix: "there are " + strings.Join(tables, ", ")}
	}
	return out, nil
}

// suggest returns the hint for a word that is not among the known ones.
func suggest(word string, known []string) string {
	if best := config.Nearest(word, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known are " + strings.Join(known, ", ")
}
