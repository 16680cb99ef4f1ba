package registry

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/config"
	"privrec/internal/dataset"
)

// Cut names how a task uses the rows of users.
type Cut int

// The ways to use rows.
const (
	AnyCut   Cut = iota // as any recipe has them
	Pairs               // without order: test rows are drawn, or those published
	Prefixes            // in order: a user's later rows are test, or those published
	LastItem            // in order: a user's last row is test, and the one before it for validation
)

// Need states what a task requires of a data set. A recipe suits it if it provides all of that.
type Need struct {
	Cut      Cut
	Valid    bool     // validation rows, of Pairs
	Ratings  bool     // of the training rows
	Times    bool     // of all rows
	Features []string // of users
	// Draws requires that rows are chosen by draws about their ids, or as published, and not by counts of other users'
	// rows. No noise covers such a count.
	Draws bool
}

// Suit returns the recipe for a task: the one that the configuration names, if the data have it; otherwise the task's
// own one if it suits, or the first of the data's recipes that does. A recipe in the file belongs to the data in the
// file: if only the name of the data was overridden, and these have no recipe of that name, Suit chooses one too. It
// fails on an unknown name, and on data of the registry that have none, and names those that have one.
func Suit(doc *config.Document, name, recipe string, n Need) (string, error) {
	if name == "" { // the task's check says so
		return recipe, nil
	}
	set, err := Find(name)
	if err != nil {
		if _, cross := FindCross(name); cross == nil {
			return recipe, n.missing(name, "is a set of domains, and the task takes one")
		}
		return recipe, n.missing(name, "unknown data set of interactions")
	}
	own, err := set.Recipe(recipe)
	known := err == nil
	if doc.Given("data.recipe") && (known || !doc.Overridden("data.name") || doc.Overridden("data.recipe")) {
		return recipe, nil
	}
	if IsOwn(name) {
		if doc.Given("data.recipe") && known {
			return recipe, nil
		}
		return n.own(name), nil
	}
	if known && n.suits(own) {
		return recipe, nil
	}
	if best := n.of(set); len(best) > 0 {
		return best[0], nil
	}
	return recipe, n.missing(name, "has no recipe that "+n.String()+": it has "+strings.Join(recipeNames(set), ", "))
}

// Suiting returns the recipes of a data set that provide what a task needs, the best first; none for an unknown name.
func (n Need) Suiting(name string) []string {
	if IsOwn(name) {
		return []string{n.own(name)}
	}
	set, err := Find(name)
	if err != nil {
		return nil
	}
	return n.of(set)
}

// of returns the set's recipes that suit. Those that hold out rows without need come last.
func (n Need) of(s Set) (names []string) {
	for _, held := range []bool{false, true} {
		for _, r := range s.Recipes {
			if (r.Split.ValidShare > 0) == held && n.suits(r) {
				names = append(names, r.Name)
			}
		}
	}
	return names
}

// suits reports whether a recipe provides everything needed.
func (n Need) suits(r dataset.Recipe) bool {
	s := r.Split
	cut := true
	switch n.Cut {
	case Pairs:
		cut = (s.Kind == dataset.SplitRandom || s.Kind == dataset.SplitFixed && !s.Ordered) &&
			(!n.Valid || s.ValidShare > 0)
	case Prefixes:
		cut = s.Kind == dataset.SplitFraction || s.Kind == dataset.SplitFixed && s.Ordered
	case LastItem:
		cut = s.Kind == dataset.SplitLeaveOneOut && s.Valid
	}
	for _, f := range n.Features {
		cut = cut && slices.Contains(r.Features, f)
	}
	return cut && (!n.Ratings || r.Ratings) && (!n.Times || r.Times) &&
		(!n.Draws || len(r.Decisions(false).Filters) == 0)
}

// String returns what a suitable recipe does, as words after "that".
func (n Need) String() string {
	text := map[Cut]string{
		AnyCut: "can be taken", Pairs: "draws test rows or takes the published ones, in no order",
		Prefixes: "cuts users' rows in order, the later ones for testing",
		LastItem: "holds out a user's last row for testing and the one before it for validation",
	}[n.Cut]
	if n.Valid && n.Cut == Pairs {
		text += ", and holds out validation rows"
	}
	if n.Draws {
		text += ", and counts no rows of other users"
	}
	var keeps []string
	if n.Ratings {
		keeps = append(keeps, "ratings")
	}
	if n.Times {
		keeps = append(keeps, "times")
	}
	if keeps = append(keeps, n.Features...); len(keeps) > 0 {
		text += ", and keeps " + strings.Join(keeps, ", ")
	}
	return text
}

// missing returns the error for data that cannot serve a task, with the names of those that can.
func (n Need) missing(name, why string) error {
	var can []string
	for _, s := range All() {
		if len(n.of(s)) > 0 {
			can = append(can, s.Name)
		}
	}
	return &dataset.Error{File: name, Msg: why, Hint: ownFolder(name) + Nearest(name, can) +
		fmt.Sprintf("data sets that can be taken: %s, and %sNAME for data of your own", strings.Join(can, ", "),
			OwnPrefix)}
}

// own returns the recipe of own data that suits. If the files have a split, it is a recipe of that split.
func (n Need) own(name string) string {
	split := FormOf(name, "").Split
	switch {
	case n.Cut == LastItem:
		return OwnLeaveOneOut
	case n.Cut == Prefixes:
		return OwnRecent
	case split && n.Valid:
		return OwnSplitValid
	case split:
		return OwnSplit
	case n.Cut == AnyCut:
		return "all"
	case n.Valid:
		return OwnRatioValid
	}
	return OwnRatio
}

// recipeNames returns the names of a set's recipes.
func recipeNames(s Set) (names []string) {
	for _, r := range s.Recipes {
		names = append(names, r.Name)
	}
	return names
}

// HasFeatures reports whether a recipe of a data set gives features of users, or whether that is unknown.
func HasFeatures(name, recipe string) bool {
	if IsOwn(name) {
		return FormOf(name, "").Features
	}
	set, err := Find(name)
	if err != nil {
		return true
	}
	r, err := set.Recipe(recipe)
	return err != nil || len(r.Features) > 0
}
