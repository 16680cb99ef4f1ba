// Package inventory shows the data sets of the program: which sets there are, what a recipe
// leaves of one, how far a stand-in orders methods as the real data do, and which files are
// on the disk.
package inventory

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/dataset/standin"
	"privrec/internal/report"
)

// Sets lists the sets of the registry, the pairs of domains, and users' own sets in
// $PRIVREC_DATA.
func Sets() *report.Table {
	t := &report.Table{Name: "data", Title: "Data sets", Columns: report.Columns("", "name", "what", "recipes", "from")}
	for _, s := range registry.All() {
		from := s.Address
		if s.StandIn != nil {
			from = "generated"
		}
		t.Add(s.Name, s.Title, recipes(s), from)
	}
	for _, s := range registry.CrossSets() {
		if s.Name == standin.CrossName {
			t.Add(s.Name, s.Title, "", "generated")
		}
	}
	for _, name := range registry.OwnNames("") {
		if s, err := registry.Find(name); err == nil {
			t.Add(s.Name, s.Title, recipes(s), "$PRIVREC_DATA")
		}
	}
	return t
}

// recipes names the recipes of a set.
func recipes(s registry.Set) string {
	var names []string
	for _, r := range s.Recipes {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

// Slates lists the sets of slates that exposure attacks take.
func Slates() *report.Table {
	t := &report.Table{Name: "slates", Title: "Sets of slates, for exposure attacks (recipe slates)", Columns: report.Columns("", "name", "what", "pairs", "from")}
	for _, s := range slate.Sources() {
		from := s.From
		if s.StandIn {
			from = "generated"
		}
		t.Add(s.Name, s.Title, s.About, from)
	}
	return t
}

// SlatesRecipe is the recipe that pairs a slate with the clicks before it.
const SlatesRecipe = "slates"

// SlateSource finds the set of slates that a name and a recipe stand for. ok is false where
// they stand for no slates. A name that is a data set's too stands for slates under
// SlatesRecipe only.
func SlateSource(name, recipe string) (src slate.Source, ok bool, err error) {
	_, none := registry.Find(name)
	if none == nil && recipe != SlatesRecipe {
		return src, false, nil
	}
	if none == nil && strings.HasPrefix(name, registry.OwnPrefix) {
		return slate.Source{Name: name, Title: "own impressions"}, true, nil
	}
	i := slices.IndexFunc(slate.Sources(), func(s slate.Source) bool { return s.Name == name })
	switch {
	case i < 0:
		return src, false, nil
	case recipe != "" && recipe != SlatesRecipe:
		return src, false, &dataset.Error{File: name, Msg: fmt.Sprintf("unknown recipe %q", recipe), Hint: "known are " + SlatesRecipe}
	}
	return slate.Sources()[i], true, nil
}

// Find finds a data set as registry.Find does. Its error on an unknown name lists the sets
// of slates too.
func Find(name string) (registry.Set, error) {
	set, err := registry.Find(name)
	var e *dataset.Error
	if errors.As(err, &e) {
		for _, other := range Names() {
			if _, err := registry.Find(other); err != nil {
				e.Hint += ", " + other
			}
		}
	}
	return set, err
}

// Names lists the names of all sets, and of users' own in $PRIVREC_DATA, each once.
func Names() []string {
	var names []string
	for _, s := range registry.All() {
		names = append(names, s.Name)
	}
	for _, s := range slate.Sources() {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return append(names, registry.OwnNames("")...)
}
