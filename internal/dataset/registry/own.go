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

// OwnPrefix begins the names of data sets that the registry does not know: own-shop is
// whatever lies in the folder own-shop.
const OwnPrefix = "own-"

// own is the set of that name with the layouts and recipes that all such sets have.
func own(name string) Set {
	set := Set{
		Name: name, Title: "own data " + strings.TrimPrefix(name, OwnPrefix),
		Address: "wherever you keep it", Licence: "yours to know",
		Layouts: []Layout{
			{Files: []string{name + ".inter", name + ".user"}, Read: interAndUser(nil)},
			{Files: []string{name + ".inter"}, Read: alone(format.ReadInter)},
			{Files: []string{name + ".csv"}, Read: alone(func(ctx context.Context, path string) (*dataset.Log, error) { return format.ReadTable(ctx, path, ",") })},
			{Files: []string{name + ".tsv"}, Read: alone(func(ctx context.Context, path string) (*dataset.Log, error) { return format.ReadTable(ctx, path, "\t") })},
			{Files: []string{"train.txt", "test.txt"}, Read: readSplitAdjacency},
		},
	}
	first := dataset.Split{Kind: dataset.SplitFraction, Fraction: 0.8}
	set.Recipes = []dataset.Recipe{
		{Name: "all", About: "every row; the first 80 % of a user's rows train", Split: first},
		{Name: "5-core", About: "5-core, the last 100 rows of a user, the first 80 % of them train", Core: 5, LastN: 100, Split: first},
		{Name: "10-core", About: "10-core, the last 100 rows of a user, the first 80 % of them train", Core: 10, LastN: 100, Split: first},
		{Name: "split", About: "train.txt and test.txt as they are", Split: dataset.Split{Kind: dataset.SplitFixed}},
	}
	return set
}

// ownName says whether a name can be that of a folder anywhere: letters, digits, "-",
// "_" and ".", not beginning with ".".
func ownName(s string) bool {
	return s != "" && s[0] != '.' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// OwnNames are the folders of a folder of data sets that OwnPrefix makes data sets of their
// own, by name; dir "" takes $PRIVREC_DATA. A folder that cannot be read has none.
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
