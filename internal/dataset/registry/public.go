package registry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// Public states facts about the data that are known beforehand and not taken from the rows. A guarantee can take them
// as public. If rows decided them, a single user could: an item that nobody else has would reveal that user.
type Public struct {
	// Items names a file with the ids of all items, one a line or in a column item_id; rows of other items are left
	// out. "published" takes the list that comes with the data set.
	Items string `yaml:"items,omitempty"`
	// file with the ids of all users, one a line or in a column user_id; or published
	Users string `yaml:"users,omitempty"`
	Sizes Sizes  `yaml:"sizes,omitempty"`
}

// Sizes states public numbers that set rates, numbers of steps and divisors of means in place of those of the data.
type Sizes struct {
	Users int `yaml:"users,omitempty" limit:"0..2147483647"` // number of users who train; 0: count the data
	Rows  int `yaml:"rows,omitempty" limit:"0..2147483647"`  // number of training rows, or samples; 0: count the data
}

// Published is the value of Public.Items and Public.Users for the list that a data set was published with.
const Published = "published"

// Options returns options with the stated lists.
func (p Public) Options() Options { return Options{Items: p.Items, Users: p.Users} }

// Again returns the options for loading data again that were loaded before, with the lists that were stated then.
func Again(s dataset.Source) (o Options) {
	if s.Items != nil {
		o.Items = s.Items.File
	}
	if s.Users != nil {
		o.Users = s.Users.File
	}
	return o
}

// Foreseen returns the source of data as far as it is known without loading them: whether they are generated, what is
// stated, and what the recipe lets rows decide. Title and files are left out.
func Foreseen(ctx context.Context, name, recipe string, p Public) (dataset.Source, error) {
	set, err := Find(name)
	if err != nil {
		return dataset.Source{}, err
	}
	r, err := set.Recipe(recipe)
	if err != nil {
		return dataset.Source{}, err
	}
	s := dataset.Source{StandIn: set.StandIn != nil, Decided: r.Decisions(false)}
	s.Items, s.Users, err = set.stated(ctx, p.Options())
	return s, err
}

// SameLists returns an error if the stated lists of data differ from those of an earlier load, or if only one load had
// them.
func SameLists(was, now dataset.Source) error {
	for _, x := range []struct{ was, now *dataset.Stated }{{was.Items, now.Items}, {was.Users, now.Users}} {
		switch {
		case (x.was == nil) != (x.now == nil):
			return errors.New("lists of ids are stated for one of two loads of the same data")
		case x.was != nil && x.was.SHA256 != x.now.SHA256:
			return &dataset.Error{File: x.now.File, Msg: "the list was another one when the run was made",
				Hint: "restore it"}
		}
	}
	return nil
}

// list describes a list of ids that was published with a data set.
type list struct {
	set, file string
	column    string // of the ids, or what ends the id at the start of a line
}

// Lists that were published with data sets.
var (
	publishedItems = []list{
		{"ml-1m", "movies.dat", "::"}, {"ml-1m", "items.tsv", "item"}, {"ml-1m", "ml-1m.item", "item_id"},
		{"ml-100k", "u.item", "|"}, {"ml-100k", "items.tsv", "item"}, {"ml-100k", "ml-100k.item", "item_id"},
	}
	publishedUsers = []list{
		{"ml-1m", "users.dat", "::"}, {"ml-1m", "ml-1m.user", "user_id"},
		{"ml-100k", "u.user", "|"}, {"ml-100k", "ml-100k.user", "user_id"},
	}
)

// stated returns the lists that the options state, nil for none.
func (s Set) stated(ctx context.Context, o Options) (items, users *dataset.Stated, err error) {
	dir := cmp.Or(o.Dir, os.Getenv("PRIVREC_DATA"))
	read := func(key, file, column string, known []list) (*dataset.Stated, error) {
		path := file
		switch file {
		case "":
			return nil, nil
		case Published:
			if s.StandIn != nil {
				return nil, nil // no list was published beside rows that are generated: all of their ids are public
			}
			if path, column, err = s.published(dir, key, known); err != nil {
				return nil, err
			}
		}
		x, err := readStated(ctx, path, column)
		if err == nil {
			x.File = file
		}
		return x, err
	}
	if items, err = read("data.items", o.Items, "item_id", publishedItems); err != nil {
		return nil, nil, err
	}
	users, err = read("data.users", o.Users, "user_id", publishedUsers)
	return items, users, err
}

// published returns the path of a list that was published with a set, in its folder below dir. key names the
// configuration key, for messages.
func (s Set) published(dir, key string, known []list) (path, column string, err error) {
	path, column, names := s.inFolder(dir, known)
	if path != "" {
		return path, column, nil
	}
	if names == nil {
		return "", "", &dataset.Error{File: s.Name, Field: key,
			Msg:  "privrec knows of no such list that these data were published with",
			Hint: "name a file with all ids, one a line: " + key + "=FILE"}
	}
	return "", "", &dataset.Error{File: filepath.Join(dir, s.Name), Field: key,
		Msg:  "the list is not here: looked for " + strings.Join(names, ", ") + " (plain, .gz or .zst)",
		Hint: "put the list that came with the data there, or name a file with all ids: " + key + "=FILE",
		Err:  dataset.ErrNotFound}
}

// inFolder returns the path of the first of some lists that is in the set's folder below dir, with its column; "" if
// none is. looked has the names of the set's lists.
func (s Set) inFolder(dir string, known []list) (path, column string, looked []string) {
	for _, p := range known {
		if p.set != s.Name {
			continue
		}
		looked = append(looked, p.file)
		for _, ext := range []string{"", ".gz", ".zst"} {
			path := filepath.Join(dir, s.Name, p.file+ext)
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
				return path, p.column, looked
			}
		}
	}
	return "", "", looked
}

// readStated reads a list of ids: a column of a table, or every line. If column is not a word, it ends the ids at the
// start of lines, as in MovieLens' own files.
func readStated(ctx context.Context, path, column string) (*dataset.Stated, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &dataset.Error{File: path, Msg: "is no regular file", Hint: "a list of ids is a file"}
	}
	file, err := format.HashFile(ctx, path)
	if err != nil {
		return nil, err
	}
	var names []string
	form, ok := format.OfInput(path)
	if base := plainBase(path); strings.HasSuffix(base, ".item") || strings.HasSuffix(base, ".user") {
		// RecBole's atomic files have one form
		form, ok = format.Atomic, true
	}
	switch {
	case column == "::" || column == "|":
		names, err = readFirst(ctx, path, column)
	case !ok:
		return nil, &dataset.Error{File: path, Msg: "the name does not tell the form",
			Hint: "names end in .txt for an id a line, or in .tsv, .csv, .inter for a table with a column " + column}
	default:
		names, err = format.ReadIDs(ctx, path, form, column)
	}
	if err != nil {
		return nil, err
	}
	_, names = dataset.Ascending(names)
	return &dataset.Stated{File: path, SHA256: file.SHA256, IDs: len(names), Names: slices.Clip(names)}, nil
}

// readFirst returns the first field of every line.
func readFirst(ctx context.Context, path, sep string) ([]string, error) {
	return format.ReadFile(ctx, path, func(in *format.Input) (ids []string, err error) {
		in.OtherText = true                                           // titles are in Latin-1
		lines, seen := &format.Splitter{Sep: "\n"}, map[string]bool{} // a line is one field
		err = in.EachRow(lines, []string{"line"}, func(v [][]byte) error {
			first, _, _ := bytes.Cut(v[0], []byte(sep))
			id, err := in.ID("id", first)
			if err != nil {
				return err
			}
			if seen[string(id)] {
				return in.Fail("id", "second row of "+dataset.Quote(id), "")
			}
			seen[string(id)], ids = true, append(ids, string(id))
			return nil
		})
		return ids, err
	})
}
