package dataset

import (
	"context"
	"slices"
)

// Table describes a text table with a header line: which column is what. A header whose
// names all have RecBole's types, as in user_id:token, is read without them.
type Table struct {
	Sep    string          // "\t" (default) or any one byte; "," allows CSV quoting
	User   string          // default "user_id"
	Item   string          // default "item_id"
	Rating string          // "" when there is none
	Time   string          // "" when there is none: rows keep file order
	IntIDs bool            // ids must be integers from 0 to 2147483647
	Kinds  map[string]Kind // of feature columns, for Features; categorical when absent
}

// Read reads interactions.
func (t Table) Read(ctx context.Context, path string) (*Log, error) {
	return readFile(ctx, path, t.parse)
}

func (t Table) parse(in *input) (*Log, error) {
	s, names, err := t.open(in)
	if err != nil {
		return nil, err
	}
	return t.rows(in, s, names)
}

// ReadFeatures reads one row of attributes a user from such a table.
func (t Table) ReadFeatures(ctx context.Context, path string) (*Features, error) {
	return readFile(ctx, path, t.parseFeatures)
}

func (t Table) parseFeatures(in *input) (*Features, error) {
	s, names, err := t.open(in)
	if err != nil {
		return nil, err
	}
	user := slices.Index(names, t.user())
	if user < 0 {
		return nil, in.missingColumn(t.user(), names)
	}
	fb := newFeatureBuilder(slices.Delete(slices.Clone(names), user, user+1), t.Kinds)
	var rest [][]byte
	err = in.eachRow(s, names, func(v [][]byte) error {
		rest = append(append(rest[:0], v[:user]...), v[user+1:]...)
		return fb.add(in, v[user], rest)
	})
	if err != nil {
		return nil, err
	}
	return fb.features(in)
}

func (t Table) user() string { return orElse(t.User, "user_id") }
func (t Table) item() string { return orElse(t.Item, "item_id") }

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// open reads the header.
func (t Table) open(in *input) (*splitter, []string, error) {
	s := &splitter{sep: orElse(t.Sep, "\t")}
	s.quotes = s.sep == ","
	if len(s.sep) != 1 {
		return nil, nil, &Error{File: in.file, Msg: "separator must be one byte, got " + Quote([]byte(s.sep))}
	}
	names, err := in.header(s)
	if err != nil {
		return nil, nil, err
	}
	if names, err = in.untyped(names); err != nil {
		return nil, nil, err
	}
	return s, names, in.noDuplicates(names)
}

// rows reads the body under a header already read.
func (t Table) rows(in *input, s *splitter, names []string) (*Log, error) {
	col := func(name string) (int, error) {
		if name == "" {
			return -1, nil
		}
		i := slices.Index(names, name)
		if i < 0 {
			return -1, in.missingColumn(name, names)
		}
		return i, nil
	}
	var at [4]int
	for i, name := range []string{t.user(), t.item(), t.Rating, t.Time} {
		var err error
		if at[i], err = col(name); err != nil {
			return nil, err
		}
	}
	checkID := in.token
	if t.IntIDs {
		checkID = in.id
	}
	b := logBuilder{}
	err := in.eachRow(s, names, func(v [][]byte) error {
		user, err := checkID(t.user(), v[at[0]])
		if err != nil {
			return err
		}
		item, err := checkID(t.item(), v[at[1]])
		if err != nil {
			return err
		}
		if at[2] >= 0 {
			x, err := in.rating(t.Rating, v[at[2]])
			if err != nil {
				return err
			}
			b.values = append(b.values, x)
		}
		if at[3] >= 0 {
			x, err := in.timestamp(t.Time, v[at[3]])
			if err != nil {
				return err
			}
			b.times = append(b.times, x)
		}
		b.userOf = append(b.userOf, b.users.id(user))
		b.itemOf = append(b.itemOf, b.items.id(item))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.finish(&b)
}
