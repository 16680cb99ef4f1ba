package features

import (
	"fmt"
	"slices"
	"strconv"

	"privrec/internal/dataset"
)

// Attribute holds a private attribute of every user: its declared levels, and the level of each user.
type Attribute struct {
	Name   string
	Levels []string
	Codes  []int32 // one a user, index into Levels
}

// Names of the attributes, which are columns of the user features.
const (
	Gender     = "gender"
	Occupation = "occupation"
	Age        = "age"
)

// ageBorders divide ages into under 35, 35 to 45, and over 45 (Table 1; "between 35 and 45" includes both ends).
var ageBorders = []float64{35, 45}

// occupations lists the declared levels of MovieLens 100K. The other sets with this attribute number the occupations
// from 0 to 20.
var occupations = []string{
	"administrator", "artist", "doctor", "educator", "engineer", "entertainment", "executive", "healthcare",
	"homemaker",
	"lawyer", "librarian", "marketing", "none", "other", "programmer", "retired", "salesman", "scientist", "student",
	"technician", "writer",
}

// declaredOccupations returns the declared levels of a column: words, or numbers if a level is one. Levels are declared
// and not read from the data, since a level that no user has would show.
func declaredOccupations(c *dataset.Column) []string {
	if !slices.ContainsFunc(c.Levels, func(l string) bool { _, err := strconv.Atoi(l); return err == nil }) {
		return occupations
	}
	numbers := make([]string, len(occupations))
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	return numbers
}

// Attributes returns gender, occupation and age group of all users, in the order of Table 1, with
// 2, 21 and 3 declared levels. It fails, with a *dataset.Error, on data without one of them, on a
// level that is not declared, and on a user without a value.
func Attributes(f *dataset.Features) ([]Attribute, error) {
	if f == nil {
		return nil, &dataset.Error{Field: Gender, Msg: "the data have no user features",
			Hint: "of published data choose a recipe with user features, such as gerai; own data have them in a file " +
				"own-NAME.user or own-NAME.users.csv"}
	}
	if err := f.Complete(); err != nil {
		return nil, err
	}
	var all []Attribute
	for _, name := range []string{Gender, Occupation, Age} {
		c, err := f.Column(name)
		if err != nil {
			return nil, &dataset.Error{File: f.Source, Field: name, Msg: "attribute is missing from the user features",
				Err: err}
		}
		levels := []string{"F", "M"}
		switch name {
		case Occupation:
			levels = declaredOccupations(c)
		case Age:
			groups, err := c.Bands(Age, ageBorders...)
			if err != nil {
				return nil, err
			}
			c, levels = &groups, groups.Levels
		}
		a, err := declared(f, c, levels)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// declared returns a column coded by declared levels.
func declared(f *dataset.Features, c *dataset.Column, levels []string) (Attribute, error) {
	a := Attribute{Name: c.Name, Levels: levels, Codes: make([]int32, len(f.UserIDs))}
	if c.Kind != dataset.Categorical {
		return a, &dataset.Error{File: f.Source, Field: c.Name, Msg: "is a number, want one of the levels " +
			fmt.Sprint(levels)}
	}
	for u, code := range c.Codes {
		bad := func(msg string, args ...any) error {
			return &dataset.Error{File: f.Source, Field: c.Name, Msg: fmt.Sprintf("user %q ", f.UserIDs[u]) +
				fmt.Sprintf(msg, args...)}
		}
		if code < 0 {
			return a, bad("has no value")
		}
		at := slices.Index(levels, c.Levels[code])
		if at < 0 {
			return a, bad("has %q, want one of the declared levels %v", c.Levels[code], levels)
		}
		a.Codes[u] = int32(at)
	}
	return a, nil
}
