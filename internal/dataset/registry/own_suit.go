package registry

import (
	"privrec/internal/config"
)

// Suit returns the recipe that a configuration names for own data, or best where the user named
// none. A recipe of the file stands for the file's data: where only the name of the data was
// overridden, and own data have no recipe of that name, it is best too.
func Suit(doc *config.Document, name, recipe, best string) string {
	if !IsOwn(name) {
		return recipe
	}
	if !doc.Given("data.recipe") {
		return best
	}
	if doc.Overridden("data.name") && !doc.Overridden("data.recipe") {
		if set, err := Find(name); err == nil {
			if _, err := set.Recipe(recipe); err != nil {
				return best
			}
		}
	}
	return recipe
}

// OwnRows returns the recipe of own data for models of users' rows in any order: with validation
// rows or without, and of the split that the files have.
func OwnRows(name string, valid bool) string {
	split := FormOf(name, "").Split
	switch {
	case split && valid:
		return OwnSplitValid
	case split:
		return OwnSplit
	case valid:
		return OwnRatioValid
	}
	return OwnRatio
}

// OwnAll returns the recipe of own data that keeps every row, of the split that the files have.
func OwnAll(name string) string {
	if FormOf(name, "").Split {
		return OwnSplit
	}
	return "all"
}
