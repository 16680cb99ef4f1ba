package registry

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// OwnPrefix begins the names of data sets that the registry does not list: own-shop is the data
// in the folder own-shop.
const OwnPrefix = "own-"

// own returns the set of that name, with the layouts and recipes that all own data have.
func own(name string) Set {
	set := Set{
		Name: name, Title: "own data " + strings.TrimPrefix(name, OwnPrefix),
		Address: "the folder where you keep it", Licence: "not known to privrec",
		Layouts: []Layout{
			{Files: []string{name + ".inter", name + ".user"}, Read: interAndUser(nil)},
			{Files: []string{name + ".inter"}, Read: logOnly(format.ReadInter)},
			{Files: []string{name + ".csv"}, Read: logOnly(func(ctx context.Context, path string) (*dataset.Log, error) { return format.ReadTable(ctx, path, ",") })},
			{Files: []string{name + ".tsv"}, Read: logOnly(func(ctx context.Context, path string) (*dataset.Log, error) { return format.ReadTable(ctx, path, "\t") })},
			{Files: []string{"train.txt", "test.txt"}, Read: readSplitAdjacency},
		},
	}
	first := dataset.Split{Kind: dataset.SplitFraction, Fraction: 0.8}
	set.Recipes = []dataset.Recipe{
		{Name: "all", About: "every row; the first 80 % of a user's rows train", Times: true, Split: first},
		{Name: "5-core", About: "5-core, the last 100 rows of a user, the first 80 % of them train", Core: 5, LastN: 100, Times: true, Split: first},
		{Name: "10-core", About: "10-core, the last 100 rows of a user, the first 80 % of them train", Core: 10, LastN: 100, Times: true, Split: first},
		{Name: "split", About: "train.txt and test.txt as they are", Split: dataset.Split{Kind: dataset.SplitFixed}},
	}
	return set
}

// ownName reports whether a name can be that of a folder on every system: letters, digits, "-",
// "_" and ".", and not "." first.
func ownName(s string) bool {
	return s != "" && s[0] != '.' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// OwnNames returns the names of the folders in dir that hold own data, in order. dir "" takes
// $PRIVREC_DATA. It returns none for a folder that cannot be read.
func OwnNames(dir string) (names []string) {
	if dir = cmp.Or(dir, os.Getenv("PRIVREC_DATA")); dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries { // ReadDir sorts by name
		rest, ok := strings.CutPrefix(e.Name(), OwnPrefix)
		if !ok || !ownName(rest) {
			continue
		}
		if st, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && st.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
