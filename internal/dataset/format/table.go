package format

import (
	"cmp"
	"context"
	"slices"

	"privrec/internal/dataset"
)

// Table says how a text table with a header line is laid out: which column has which meaning. If all names of a header
// have RecBole's types, as in user_id:token, the types are ignored.
type Table struct {
	Sep    string                  // "\t" (default) or any one byte, or ::; "," and ";" allow CSV quoting
	User   string                  // default "user_id"
	Item   string                  // default "item_id"
	Rating string                  // "" when there is none
	Time   string                  // "" when there is none: rows keep file order
	IntIDs bool                    // ids must be integers from 0 to 2147483647
	Kinds  map[string]dataset.Kind // of feature columns, for Features; categorical when absent
}

// Read reads interactions.
func (t Table) Read(ctx context.Context, path string) (*dataset.Log, error) {
	return ReadFile(ctx, path, t.Parse)
}

// Parse reads interactions from an open file.
func (t Table) Parse(in *Input) (*dataset.Log, error) {
	s, names, err := t.Open(in)
	if err != nil {
		return nil, err
	}
	return t.rows(in, s, names)
}

// ReadKnown reads interactions from a table that need not have a rating or a time. A column that t names must be
// present. Columns that t does not name are found by their usual names.
func (t Table) ReadKnown(ctx context.Context, path string) (*dataset.Log, error) {
	return ReadFile(ctx, path, func(in *Input) (*dataset.Log, error) {
		s, names, err := t.Open(in)
		if err != nil {
			return nil, err
		}
		if t, err = t.known(in, names); err != nil {
			return nil, err
		}
		return t.rows(in, s, names)
	})
}

// known returns t with the names of columns that the header has and t does not name.
func (t Table) known(in *Input, names []string) (Table, error) {
	for _, c := range []struct {
		to *string
		is Meaning
	}{{&t.User, User}, {&t.Item, Item}, {&t.Rating, Rating}, {&t.Time, Time}} {
		if *c.to != "" {
			continue
		}
		i, err := c.is.Column(names, in.Fail)
		if err != nil {
			return t, err
		}
		if i >= 0 {
			*c.to = names[i]
		}
	}
	return t, nil
}

// Columns returns how ReadKnown, or ReadInter for the form Atomic, reads the columns of a table: sentences on columns
// with unusual names, and the names of those that are not read.
func (t Table) Columns(ctx context.Context, path string, form Form) (taken, unread []string, err error) {
	_, err = ReadFile(ctx, path, func(in *Input) (none struct{}, err error) {
		_, names, err := in.columns(form)
		if err != nil {
			return none, err
		}
		k, err := t.known(in, names)
		if err != nil {
			return none, err
		}
		for _, c := range []struct {
			was, is string
			means   Meaning
		}{{t.User, k.User, User}, {t.Item, k.Item, Item}, {t.Rating, k.Rating, Rating}, {t.Time, k.Time, Time}} {
			if c.was == "" && c.is != "" && !c.means.Usual(c.is) {
				taken = append(taken, c.means.Taken(c.is))
			}
		}
		unread = slices.DeleteFunc(names,
			func(n string) bool { return slices.Contains([]string{k.User, k.Item, k.Rating, k.Time}, n) })
		return none, nil
	})
	return taken, unread, err
}

// ReadFeatures reads one row of attributes per user.
func (t Table) ReadFeatures(ctx context.Context, path string) (*dataset.Features, error) {
	return ReadFile(ctx, path, t.ParseFeatures)
}

// ParseFeatures reads one row of attributes per user from an open file.
func (t Table) ParseFeatures(in *Input) (*dataset.Features, error) {
	s, names, err := t.Open(in)
	if err != nil {
		return nil, err
	}
	user, err := in.column(t.user(), names)
	if err != nil {
		return nil, err
	}
	fb := NewFeatureBuilder(slices.Delete(slices.Clone(names), user, user+1), t.Kinds)
	var rest [][]byte
	err = in.EachRow(s, names, func(v [][]byte) error {
		rest = append(append(rest[:0], v[:user]...), v[user+1:]...)
		return fb.Add(in, v[user], rest)
	})
	if err != nil {
		return nil, err
	}
	return fb.Features(in)
}

func (t Table) user() string { return cmp.Or(t.User, "user_id") }
func (t Table) item() string { return cmp.Or(t.Item, "item_id") }

// Open reads the header and returns a splitter and the names of the columns.
func (t Table) Open(in *Input) (*Splitter, []string, error) {
	s := &Splitter{Sep: cmp.Or(t.Sep, "\t")}
	s.quotes = s.Sep == "," || s.Sep == ";"
	if len(s.Sep) != 1 && s.Sep != "::" {
		return nil, nil, &dataset.Error{File: in.file, Msg: "separator must be one byte, or ::, got " +
			dataset.Quote([]byte(s.Sep))}
	}
	names, err := in.header(s)
	if err != nil {
		return nil, nil, err
	}
	if names, err = t.untyped(in, names); err != nil {
		return nil, nil, err
	}
	return s, names, in.noDuplicates(names)
}

// rows reads the body, after the header.
func (t Table) rows(in *Input, s *Splitter, names []string) (*dataset.Log, error) {
	col := func(name string) (int, error) {
		if name == "" {
			return -1, nil
		}
		i := slices.Index(names, name)
		if i < 0 {
			return -1, in.MissingColumn(name, names)
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
	checkID := in.Token
	if t.IntIDs {
		checkID = in.ID
	}
	b, clock := dataset.Builder{}, Clock{}
	err := in.EachRow(s, names, func(v [][]byte) error {
		user, err := checkID(t.user(), v[at[0]])
		if err != nil {
			return err
		}
		item, err := checkID(t.item(), v[at[1]])
		if err != nil {
			return err
		}
		if at[2] >= 0 {
			x, err := in.Rating(t.Rating, v[at[2]])
			if err != nil {
				return err
			}
			b.Values = append(b.Values, x)
		}
		if at[3] >= 0 {
			if err := clock.Add(in, t.Time, v[at[3]]); err != nil {
				return err
			}
		}
		b.UserOf = append(b.UserOf, b.Users.ID(user))
		b.ItemOf = append(b.ItemOf, b.Items.ID(item))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if b.Times, err = clock.Times(in.file, t.Time, clock.PerUnit()); err != nil {
		return nil, err
	}
	l, err := in.Finish(&b)
	if per := clock.PerUnit(); err == nil && per > 1 {
		l.TimesPerUnit = per
	}
	return l, err
}
