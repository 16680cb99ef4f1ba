package registry

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// OwnPrefix begins the names of data sets that the registry does not list: own-shop stands for the data in the folder
// own-shop.
const OwnPrefix = "own-"

// own returns the set of that name, with the layouts and recipes that all own data have.
func own(name string) Set {
	return Set{
		Name: name, Title: "own data " + strings.TrimPrefix(name, OwnPrefix),
		Address: "the folder where you keep it", Licence: "not known to privrec",
		Layouts: ownLayouts(name), Recipes: ownRecipes(),
	}
}

// ownLayouts returns the layouts of files whose names begin with a name.
func ownLayouts(name string) []Layout {
	users := ownUsers(name)
	split := append([]string{"train.txt", "test.txt"}, users...)
	return []Layout{
		{Files: []string{name + ".inter"}, Maybe: append([]string{ColumnsFile}, users...), Read: readOwn},
		{Files: []string{name + ".csv"}, Maybe: append([]string{ColumnsFile}, users...), Read: readOwn},
		{Files: []string{name + ".tsv"}, Maybe: append([]string{ColumnsFile}, users...), Read: readOwn},
		{Files: []string{name + ".parquet"}, Maybe: append([]string{ColumnsFile}, users...), Read: readOwn},
		{Files: split[:2], Maybe: append([]string{ColumnsFile}, users...), Read: readOwn},
	}
}

// ownUsers returns the possible names of a file of user features.
func ownUsers(name string) []string {
	return []string{name + ".user", name + ".users.csv", name + ".users.tsv", name + ".users.parquet"}
}

// readOwn reads the files of a layout of own data: the log, or both sides of a split; then, if present, the names of
// the columns and the user features.
func readOwn(ctx context.Context, paths []string) (log *dataset.Log, f *dataset.Features, err error) {
	defer func() { err = hintColumns(err, paths) }()
	var c Columns
	var users []string
	rest := paths[1:]
	for _, path := range slices.Backward(rest) {
		switch base := plainBase(path); {
		case base == ColumnsFile:
			if c, err = readColumns(ctx, path); err != nil {
				return nil, nil, err
			}
		case base != "test.txt":
			users = append(users, path)
		}
	}
	if len(users) > 1 {
		return nil, nil, &dataset.Error{File: users[0], Msg: "and " + filepath.Base(users[1]) +
			" beside it both have user features", Hint: "keep one of them"}
	}
	table := c.table()
	switch base := plainBase(paths[0]); {
	case base == "train.txt":
		log, _, err = readSplitAdjacency(ctx, paths[:2])
	case strings.HasSuffix(base, ".inter"):
		log, err = table.ReadInter(ctx, paths[0])
	default:
		form, _ := format.OfInput(paths[0])
		table.Sep = string(form.Separator())
		log, err = table.ReadKnown(ctx, paths[0])
	}
	if err != nil || len(users) == 0 {
		return log, nil, err
	}
	f, err = c.features(ctx, users[0])
	return log, f, err
}

// columnNotes returns sentences on columns of own data that are read under unusual names, and on columns that are not
// read.
func columnNotes(ctx context.Context, files []dataset.File, l *dataset.Log) (notes []string, err error) {
	form, ok := format.OfInput(files[0].Path)
	if !ok || form == format.Lines {
		return nil, nil
	}
	var c Columns
	for _, f := range files[1:] {
		if plainBase(f.Path) == ColumnsFile {
			if c, err = readColumns(ctx, f.Path); err != nil {
				return nil, err
			}
		}
	}
	taken, unread, err := c.table().Columns(ctx, files[0].Path, form)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(files[0].Path)
	for _, x := range taken {
		notes = append(notes, name+": "+x)
	}
	if len(unread) > 0 {
		note := fmt.Sprintf("%s: not read: %s; %s beside it says what columns are", name, strings.Join(unread, ", "),
			ColumnsFile)
		if l.Times == nil {
			note += "; without times the rows are in the order of the file"
		}
		notes = append(notes, note)
	}
	if counted := format.Counted(l.TimesPerUnit); counted != "" {
		notes = append(notes, name+": "+counted)
	}
	return notes, nil
}

// table returns how rows are read.
func (c Columns) table() format.Table {
	return format.Table{User: c.User, Item: c.Item, Rating: c.Rating, Time: c.Timestamp}
}

// plainBase returns the name of a file without its folder and compression.
func plainBase(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".zst")
}

// OwnForm says which kinds of data a folder of own data contains.
type OwnForm struct {
	Log      bool // a log of interactions, or a published split
	Split    bool // a published split
	Features bool // of users
	Slates   bool // a table of shown items
	Domains  bool // a log of each of two domains
}

// FormOf returns the form of own data by the names of its files. dir "" takes $PRIVREC_DATA. A missing folder has none
// of the forms: Load reports it.
func FormOf(name, dir string) (f OwnForm) {
	dir = filepath.Join(cmp.Or(dir, os.Getenv("PRIVREC_DATA")), name)
	any := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return Stored(filepath.Join(dir, n)) })
	}
	for _, l := range ownLayouts(name) {
		if _, lacks := l.in(dir); len(lacks) == 0 && !f.Log {
			f.Log, f.Split = true, l.Files[0] == "train.txt"
		}
	}
	f.Features = any(ownUsers(name)...)
	f.Slates = any("impressions.tsv", "impressions.csv")
	f.Domains = any(domainFiles(OwnTarget)...) && any(domainFiles(OwnSource)...)
	return f
}

// IsOwn reports whether a name is that of own data, of one domain or of two.
func IsOwn(name string) bool { return strings.HasPrefix(name, OwnPrefix) }

// ownName reports whether a name can be that of a folder on every system: letters, digits, "-",
// "_" and ".", and not "." first.
func ownName(s string) bool {
	return s != "" && s[0] != '.' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// OwnNames returns the names of the folders in dir that hold own data, in order. dir "" takes $PRIVREC_DATA. For a
// folder that cannot be read it returns none.
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
