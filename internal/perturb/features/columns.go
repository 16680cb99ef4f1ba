package features

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/perturb"
)

// Column is a declared column of the table: a number with a public range, or a category with public levels. Nothing
// about it comes from the rows, which would reveal a user's values.
type Column struct {
	Name      string
	Low, High float64   // of a number
	Levels    []string  // of a category, at least 2; nil: a number
	Borders   []float64 // of a number that is grouped: the levels are its groups
}

// Width returns the number of cells of the column.
func (c Column) Width() int { return max(1, len(c.Levels)) }

// Number reads the declaration of a number, such as age=0..120.
func Number(text string) (Column, error) {
	bad := func(why string) (Column, error) {
		return Column{}, perturb.Refuse("as in --number age=0..120", "--number %q %s", text, why)
	}
	name, span, ok := strings.Cut(text, "=")
	low, high, dots := strings.Cut(span, "..")
	if !ok || name == "" || !dots {
		return bad("is not NAME=LOW..HIGH")
	}
	lo, err := strconv.ParseFloat(low, 64)
	if err != nil {
		return bad("has no number before the dots")
	}
	hi, err := strconv.ParseFloat(high, 64)
	if err != nil {
		return bad("has no number after the dots")
	}
	if !(lo < hi) || math.IsInf(hi-lo, 0) {
		return bad("has no finite range, from less to more")
	}
	return Column{Name: name, Low: lo, High: hi}, nil
}

// Category reads the declaration of a category, such as gender=F,M.
func Category(text string) (Column, error) {
	name, list, ok := strings.Cut(text, "=")
	levels := strings.Split(list, ",")
	fix := "as in --category gender=F,M"
	switch {
	case !ok || name == "":
		return Column{}, perturb.Refuse(fix, "--category %q is not NAME=LEVEL,LEVEL,...", text)
	case len(levels) < 2:
		return Column{}, perturb.Refuse(fix, "--category %q has one level, want at least 2", text)
	}
	for i, l := range levels {
		if l == "" {
			return Column{}, perturb.Refuse(fix, "--category %q has an empty level", text)
		}
		if slices.Contains(levels[:i], l) {
			return Column{}, perturb.Refuse(fix, "--category %q has level %q twice", text, l)
		}
	}
	return Column{Name: name, Levels: levels}, nil
}

// Bands reads the declaration of a number in groups, such as age=35,45 for those under 35, from 35
// to 45, and over 45 (see dataset.Column.Bands).
func Bands(text string) (Column, error) {
	fix := "as in --bands age=35,45"
	name, list, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return Column{}, perturb.Refuse(fix, "--bands %q is not NAME=BORDER,BORDER,...", text)
	}
	c := Column{Name: name}
	for _, b := range strings.Split(list, ",") {
		x, err := strconv.ParseFloat(b, 64)
		if err != nil {
			return c, perturb.Refuse(fix, "--bands %q: %q is not a number", text, b)
		}
		c.Borders = append(c.Borders, x)
	}
	groups, err := c.groups(0)
	if err != nil {
		return c, perturb.Refuse(fix, "--bands %q: %v", text, err)
	}
	c.Levels = groups.Levels
	return c, nil
}

// groups puts a number into the groups of the column.
func (c Column) groups(x float64) (dataset.Column, error) {
	one := dataset.Column{Name: c.Name, Kind: dataset.Numeric, Numbers: []float64{x}}
	return one.Bands(c.Name, c.Borders...)
}

// scale maps a number from its range to [-1, 1].
func (c Column) scale(x float64) float64 {
	return max(-1, min(1, 2*(x-c.Low)/(c.High-c.Low)-1))
}

// Check fails on declarations without a column, and on two of one column.
func Check(columns []Column) error {
	if len(columns) == 0 {
		return perturb.Refuse("declare the columns with --number, --category or --bands", "no column is declared")
	}
	for i, c := range columns {
		if c.Name == userColumn {
			return perturb.Refuse("it names the user", "column %s is declared as a feature", userColumn)
		}
		if slices.ContainsFunc(columns[:i], func(d Column) bool { return d.Name == c.Name }) {
			return perturb.Refuse("declare it once", "column %q is declared twice", c.Name)
		}
	}
	return nil
}

// Headings returns the names of the cells of a column: its own, or one for each level.
func (c Column) Headings() []string {
	if c.Levels == nil {
		return []string{c.Name}
	}
	var list []string
	for _, l := range c.Levels {
		list = append(list, fmt.Sprintf("%s=%s", c.Name, l))
	}
	return list
}
