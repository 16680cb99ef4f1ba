package registry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/standin"
)

// Set describes a known data set.
type Set struct {
	Name    string
	Title   string
	Address string           // official page to get it from
	Licence string           // one sentence
	Cite    string           // the paper to cite, as its owner asks; "" where none is known
	Layouts []Layout         // none for a stand-in, which is generated
	StandIn *standin.Profile // nil for real data
	Recipes []dataset.Recipe
}

// Layout describes one form of a set's files in its folder. Each file may also be compressed (.gz, .zst).
type Layout struct {
	Files []string // names inside the folder, all needed; user features last
	Maybe []string // further names, read where they are there; user features last
	Steps string   // the filters of Read, for the name of a cache entry; "" for none
	Read  func(ctx context.Context, paths []string) (*dataset.Log, *dataset.Features, error)
}

// All returns every data set. Callers share the memory of its slices and pointers, and must not change it.
func All() []Set { return slices.Clone(all()) }

// all returns the list of every data set, made once. A new set is a file and a line here.
var all = sync.OnceValue(func() []Set {
	sets := []Set{ml1m(), ml100k(), gowalla(), yelp2018(), yelp(), tmall()}
	for _, c := range amazonCategories {
		sets = append(sets, amazon(c))
	}
	sets = append(sets, toyGame(), foodKitchen(), seqBeauty(), diginetica(), mindSmall(), zhihuRec())
	for _, p := range standin.Profiles() {
		sets = append(sets, StandIn(p))
	}
	return sets
})

// Find returns the set with a name. A name that begins with OwnPrefix need not be in the registry.
func Find(name string) (Set, error) {
	if rest, ok := strings.CutPrefix(name, OwnPrefix); ok && ownName(rest) {
		return own(name), nil
	}
	var names []string
	for _, s := range all() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	if strings.Contains(name, "-x") && strings.HasPrefix(name, "standin-") { // a stand-in with more users
		p, err := standin.Find(name)
		return StandIn(p), err
	}
	return Set{}, &dataset.Error{File: name, Msg: "unknown data set", Hint: ownFolder(name) + Nearest(name, names) +
		"known are " + strings.Join(names, ", ")}
}

// Recipe returns the set's recipe with the name.
func (s Set) Recipe(name string) (dataset.Recipe, error) {
	for _, r := range s.Recipes {
		if r.Name == name {
			return r, nil
		}
	}
	names := recipeNames(s)
	if strings.HasPrefix(s.Name, OwnPrefix) {
		return spelled(s.Name, name, names)
	}
	hint := Nearest(name, names) + "known are " + strings.Join(names, ", ")
	if len(names) > 0 {
		hint += "; a configuration chooses one with data.recipe, as in --set data.recipe=" + names[0]
	}
	return dataset.Recipe{}, &dataset.Error{File: s.Name, Msg: fmt.Sprintf("unknown recipe %q", name), Hint: hint}
}

// Nearest returns a question that suggests a known name: the one that another spelling stands for, as MovieLens-1M and
// ml1m do for ml-1m, or the closest to a mistyped one. It returns "" if there is none.
func Nearest(name string, known []string) string {
	best := ""
	for _, k := range known {
		if s := spelling(name); s != "" && s == spelling(k) {
			best = k
		}
	}
	if best == "" {
		best = config.Nearest(name, known)
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q? ", best)
}

// ownFolder returns where a file of that name belongs, or how a folder of that name in $PRIVREC_DATA must be called; ""
// if there is neither.
func ownFolder(name string) string {
	dir := os.Getenv("PRIVREC_DATA")
	if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() {
		base, ext, _ := strings.Cut(filepath.Base(name), ".")
		set := OwnPrefix + strings.ToLower(strings.Map(plainly, base))
		const belongs = "data of your own have a name: copy the file to %s/%s.%s below $PRIVREC_DATA, and call it %s; "
		return fmt.Sprintf(belongs, set, set, ext, set)
	}
	if st, err := os.Stat(filepath.Join(dir, name)); dir == "" || !ownName(name) || err != nil || !st.IsDir() {
		return ""
	}
	return fmt.Sprintf("a folder with data of your own, and its table, have a name with %s before it: %s%s; ",
		OwnPrefix, OwnPrefix, name)
}

// plainly maps a character that the name of a data set may not have to a hyphen.
func plainly(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

// spelling returns a name in lower case, without separators between its words, and with MovieLens shortened.
func spelling(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	return strings.Replace(plain, "movielens", "ml", 1)
}
