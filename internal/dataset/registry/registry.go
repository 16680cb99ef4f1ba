package registry

import (
	"context"
	"fmt"
	"strings"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/standin"
)

// Set is a data set the program knows.
type Set struct {
	Name    string
	Title   string
	Address string           // official page to get it from
	Licence string           // one sentence
	Layouts []Layout         // none for a stand-in, which is generated
	StandIn *standin.Profile // nil for real data
	Recipes []dataset.Recipe
}

// Layout is one form in which the files of a set may lie in its folder. Each file may
// also be compressed (.gz, .zst).
type Layout struct {
	Files []string // names inside the folder, all must be there; user features last
	Steps string   // what Read itself filters, part of the name of a cache entry; "" for nothing
	Read  func(ctx context.Context, paths []string) (*dataset.Log, *dataset.Features, error)
}

// All lists every data set. A new one is a file and a line here.
func All() []Set {
	sets := []Set{ml1m(), ml100k(), gowalla(), yelp2018(), yelp(), tmall()}
	for _, c := range amazonCategories {
		sets = append(sets, amazon(c))
	}
	sets = append(sets, toyGame(), foodKitchen(), seqBeauty(), mindSmall(), zhihuRec())
	for _, p := range standin.Profiles() {
		sets = append(sets, StandIn(p))
	}
	return sets
}

// Find returns the set of that name; one that begins with OwnPrefix need not be in the
// registry.
func Find(name string) (Set, error) {
	if rest, ok := strings.CutPrefix(name, OwnPrefix); ok && ownName(rest) {
		return own(name), nil
	}
	var names []string
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Set{}, &dataset.Error{File: name, Msg: "unknown data set", Hint: nearest(name, names) + "known are " + strings.Join(names, ", ")}
}

// Recipe returns the set's recipe of that name.
func (s Set) Recipe(name string) (dataset.Recipe, error) {
	var names []string
	for _, r := range s.Recipes {
		if r.Name == name {
			return r, nil
		}
		names = append(names, r.Name)
	}
	hint := nearest(name, names) + "known are " + strings.Join(names, ", ")
	if len(names) > 0 {
		hint += "; a configuration chooses one with data.recipe, as in --set data.recipe=" + names[0]
	}
	return dataset.Recipe{}, &dataset.Error{File: s.Name, Msg: fmt.Sprintf("unknown recipe %q", name), Hint: hint}
}

// nearest asks for the known name that a mistyped one is nearest to; empty where none is.
func nearest(name string, known []string) string {
	if best := config.Nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean %q? ", best)
	}
	return ""
}
