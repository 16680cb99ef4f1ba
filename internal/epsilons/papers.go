package epsilons

import (
	"io/fs"
	"slices"
	"strings"

	"privrec/internal/config"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// All selects every paper.
const All = "all"

// Papers returns the rows of a paper, or of All.
func Papers(files fs.FS, list []Paper, name string) (rows []Row, err error) {
	var known []string
	for _, p := range list {
		known = append(known, p.Name)
		if name != All && name != p.Name {
			continue
		}
		of, err := p.Rows(files)
		if err != nil {
			return nil, err
		}
		rows = append(rows, of...)
	}
	if rows == nil {
		return nil, run.Usagef(nearest(name, append(known, All)), "--paper is %q, want %s", name,
			strings.Join(append(known, All), ", "))
	}
	return rows, nil
}

// OfUnit returns the rows of a unit; "" is every unit.
func OfUnit(rows []Row, unit string) ([]Row, error) {
	if unit == "" {
		return rows, nil
	}
	var known []string
	for _, r := range rows {
		if !slices.Contains(known, string(r.Unit)) {
			known = append(known, string(r.Unit))
		}
	}
	if !slices.Contains(known, unit) {
		return nil, run.Usagef(nearest(unit, known), "--unit is %q, and the rows are about %s", unit,
			strings.Join(known, ", "))
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Unit != privacy.Unit(unit) }), nil
}

// nearest returns the hint for a word that is not among the known ones.
func nearest(word string, known []string) string {
	if best := config.Nearest(word, known); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}
