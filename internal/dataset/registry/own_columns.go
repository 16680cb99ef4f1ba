package registry

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// ColumnsFile names the file in a folder of own data that says what the columns of its tables are called. It lies
// beside the tables and is not a key of a run's configuration: the name of a column is a fact about the file, the same
// for every command that reads it, and its bytes count in the hash of the data.
const ColumnsFile = "columns.yaml"

// Columns says what the columns of own tables are called. An empty name stands for the usual
// one.
type Columns struct {
	User      string `yaml:"user"`      // column of the users, in all tables; usually user_id, in impressions user
	Item      string `yaml:"item"`      // column of the items; usually item_id, in impressions item
	Rating    string `yaml:"rating"`    // column of the ratings; usually rating
	Timestamp string `yaml:"timestamp"` // column of the times; usually timestamp
	Shown     string `yaml:"shown"`     // column that says when an item was shown; usually shown or shown_at
	// column that says whether or when an item was clicked; usually clicked or clicked_at
	Clicked string `yaml:"clicked"`

	Features []string `yaml:"features"` // columns of the user file to use as features, in this order; empty: all
	Numbers  []string `yaml:"numbers"`  // feature columns to read as numbers, whatever type the header gives
	Partial  bool     `yaml:"partial"`  // true: users without a line in the user file have no values
}

// readColumns returns the names in a file of column names.
func readColumns(ctx context.Context, path string) (c Columns, err error) {
	if err := ctx.Err(); err != nil {
		return c, err
	}
	c, doc, err := config.Load(path, nil, Columns{})
	if err != nil {
		return c, columnsError(err)
	}
	v := config.NewChecker(doc)
	var taken []string
	for _, n := range []struct{ key, name string }{{"user", c.User}, {"item", c.Item}, {"rating", c.Rating},
		{"timestamp", c.Timestamp}, {"shown", c.Shown}, {"clicked", c.Clicked}} {
		if n.name != "" {
			v.Check(!slices.Contains(taken, n.name), n.key, "names column %q, which is another one too", n.name)
			taken = append(taken, n.name)
		}
	}
	for i, n := range c.Numbers {
		v.Check(!slices.Contains(c.Numbers[:i], n), "numbers", "names %q twice", n)
		v.Check(len(c.Features) == 0 || slices.Contains(c.Features, n), "numbers",
			"names %q, which is none of the features", n)
	}
	for i, n := range c.Features {
		v.Check(!slices.Contains(c.Features[:i], n), "features", "names %q twice", n)
	}
	return c, columnsError(v.Err())
}

// columnsError returns the first problem with a file of names as an error about data.
func columnsError(err error) error {
	var all config.Errors
	if !errors.As(err, &all) || len(all) == 0 {
		return err
	}
	e := all[0]
	return &dataset.Error{File: e.File, Line: e.Line, Field: e.Path, Msg: e.Message, Hint: e.Fix}
}

// hintColumns returns an error about a missing column with a hint how to state another name for it.
func hintColumns(err error, paths []string) error {
	var e *dataset.Error
	named := slices.ContainsFunc(paths, func(p string) bool { return plainBase(p) == ColumnsFile })
	if !errors.As(err, &e) || e.Msg != format.NoColumn || named {
		return err
	}
	switch {
	case strings.HasSuffix(e.Hint, "?"):
		e.Hint += " "
	case e.Hint != "":
		e.Hint += "; "
	}
	e.Hint += fmt.Sprintf("a file %s beside the table says what columns of other names are, as in %s: NAME",
		ColumnsFile, strings.TrimSuffix(e.Field, "_id"))
	return e
}

// misspelt returns an error for a file that is meant for the names of columns but has a wrong name.
func misspelt(folder string) error {
	if path := filepath.Join(folder, "columns.yml"); Stored(path) {
		return &dataset.Error{File: path, Msg: "is not read: the file with the names of columns is called " +
			ColumnsFile, Hint: "rename it"}
	}
	return nil
}

// ColumnsOf returns the column names that a folder states for its tables, and the file; both are empty if it states
// none.
func ColumnsOf(ctx context.Context, folder string) (Columns, []dataset.File, error) {
	if err := misspelt(folder); err != nil {
		return Columns{}, nil, err
	}
	paths, _ := Layout{Files: []string{ColumnsFile}}.in(folder)
	if len(paths) == 0 {
		return Columns{}, nil, nil
	}
	c, err := readColumns(ctx, paths[0])
	if err != nil {
		return c, nil, err
	}
	f, err := format.HashFile(ctx, paths[0])
	return c, []dataset.File{f}, err
}

// features reads the user file of own data.
func (c Columns) features(ctx context.Context, path string) (*dataset.Features, error) {
	kinds := map[string]dataset.Kind{}
	for _, n := range c.Numbers {
		kinds[n] = dataset.Numeric
	}
	t := format.Table{User: c.User, Kinds: kinds}
	read := t.ReadUserAtomic
	if !strings.HasSuffix(plainBase(path), ".user") {
		form, _ := format.OfInput(path)
		t.Sep = string(form.Separator())
		read = t.ReadFeatures
	}
	f, err := read(ctx, path)
	if err != nil {
		return nil, err
	}
	f.Source, f.Partial = path, c.Partial
	for _, n := range c.Numbers {
		if _, err := f.Column(n); err != nil {
			return nil, &dataset.Error{File: path, Field: n, Msg: "column is missing, which " + ColumnsFile +
				" calls a number"}
		}
	}
	if len(c.Features) == 0 {
		return f, nil
	}
	var keep []dataset.Column
	for _, n := range c.Features {
		col, err := f.Column(n)
		if err != nil {
			return nil, &dataset.Error{File: path, Field: n, Msg: "column is missing, which " + ColumnsFile +
				" calls a feature"}
		}
		keep = append(keep, *col)
	}
	f.Columns = keep
	return f, nil
}
