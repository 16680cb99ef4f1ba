package results

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"privrec/internal/reproduce/phrase"
)

// floor is one line of floors, with the rows that it is for and their configurations.
type floor struct {
	label   string
	cells   []string
	of      []string
	configs []string
}

// floorRows lists each floor once where it is the same for all rows, else with the rows that
// it is for. Configurations may rank other candidates, and generated data differ by seed.
func floorRows(rows []*summary) []floor {
	var names []string
	for _, s := range rows {
		for _, r := range s.results {
			for _, n := range r.Order {
				names = phrase.AppendNew(names, n)
			}
		}
	}
	var out []floor
	for _, n := range names {
		first := len(out)
		for _, s := range rows {
			if !slices.ContainsFunc(s.cells, func(c Cell) bool { _, ok := c.Floors[n]; return ok }) {
				continue
			}
			f := floor{label: n}
			for i := range s.cells {
				c := &s.cells[i]
				text := "-" // a statistic has no floor
				if x, ok := c.Floors[n]; ok {
					text = fmt.Sprintf("%s (%v)", c.text(&x, ""), s.level)
				}
				f.cells = append(f.cells, text)
			}
			at := slices.IndexFunc(out[first:], func(o floor) bool { return slices.Equal(o.cells, f.cells) })
			if at < 0 {
				out, at = append(out, f), len(out)-first
			}
			at += first
			out[at].of = append(out[at].of, s.entry.Row.Label())
			out[at].configs = phrase.AppendNew(out[at].configs, strings.TrimSuffix(path.Base(s.entry.Row.Config), ".yaml"))
		}
		if same := out[first:]; len(same) > 1 {
			apart := configsApart(same)
			for i := range same {
				of := same[i].of
				if apart && len(same[i].configs) < len(of) {
					of = same[i].configs
				}
				if len(of) > mostNamed && i == largest(same) {
					of = []string{fmt.Sprintf("the other %d", len(of))}
				}
				same[i].label += ", for " + strings.Join(of, ", ")
			}
		}
	}
	return out
}

// mostNamed is how many rows are named beside a floor. Of more rows, the largest group is
// "the other".
const mostNamed = 4

// largest returns the index of the floor that most rows have, the first of several.
func largest(list []floor) (at int) {
	for i, f := range list {
		if len(f.of) > len(list[at].of) {
			at = i
		}
	}
	return at
}

// configsApart reports whether no configuration stands behind rows of two of the floors.
// Then its name says which rows a floor is for.
func configsApart(list []floor) bool {
	seen := map[string]bool{}
	for _, f := range list {
		for _, c := range f.configs {
			if seen[c] {
				return false
			}
			seen[c] = true
		}
	}
	return true
}
