package dataset

import (
	"fmt"
	"math"
	"slices"
)

// Kind is the type of a feature column.
type Kind uint8

// The kinds of feature columns.
const (
	Categorical Kind = iota
	Numeric
)

// String returns "categorical" or "numeric".
func (k Kind) String() string { return [...]string{"categorical", "numeric"}[k] }

// Column is one feature of every user.
type Column struct {
	Name    string
	Kind    Kind
	Numbers []float64 // Numeric: one a user, NaN where missing
	Codes   []int32   // Categorical: index into Levels, -1 where missing
	Levels  []string  // Categorical: distinct values present, ascending (see LessIDs)
}

// Range returns the smallest and the largest number of a numeric column. ok is false if every value is missing or the
// column is categorical.
func (c *Column) Range() (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range c.Numbers {
		if !math.IsNaN(x) {
			lo, hi, ok = min(lo, x), max(hi, x), true
		}
	}
	return lo, hi, ok
}

// Features holds attributes of users, one row per user.
type Features struct {
	Source  string   // file they were read from, for messages; may be ""
	UserIDs []string // ascending, see LessIDs
	Columns []Column

	Lacking int  // users without a row, whose values are all missing; see Cover
	Partial bool // the owner of the data says that users may lack a row
}

// Width returns the number of inputs after one-hot coding: the levels of each categorical
// column, plus one for each numeric column.
func (f *Features) Width() int {
	w := 0
	for i := range f.Columns {
		if f.Columns[i].Kind == Numeric {
			w++
		} else {
			w += len(f.Columns[i].Levels)
		}
	}
	return w
}

// Column returns the column of that name.
func (f *Features) Column(name string) (*Column, error) {
	for i := range f.Columns {
		if f.Columns[i].Name == name {
			return &f.Columns[i], nil
		}
	}
	return nil, fmt.Errorf("dataset: no user feature %q (have %v)", name, f.names())
}

func (f *Features) names() []string {
	var out []string
	for i := range f.Columns {
		out = append(out, f.Columns[i].Name)
	}
	return out
}

// For returns the features of the given users with only the named columns (nil for all), both in the given order. The
// levels of a column are those that occur among these users. It fails with an *Error on a user without a row of
// features.
func (f *Features) For(userIDs, columns []string) (*Features, error) {
	rowOf := make(map[string]int32, len(f.UserIDs))
	for i, id := range f.UserIDs {
		rowOf[id] = int32(i)
	}
	rows := make([]int32, len(userIDs))
	for i, id := range userIDs {
		row, ok := rowOf[id]
		if !ok {
			return nil, &Error{File: f.Source, Field: "user",
				Msg:  fmt.Sprintf("user %q has interactions but no line of user features", id),
				Hint: "add the user to the user file, or choose a recipe without user features"}
		}
		rows[i] = row
	}
	if columns == nil {
		columns = f.names()
	}
	out := &Features{UserIDs: userIDs}
	for _, name := range columns {
		c, err := f.Column(name)
		if err != nil {
			return nil, err
		}
		out.Columns = append(out.Columns, c.Gather(rows))
	}
	return out, nil
}

// Cover returns the features of the given users in the given order. A user without a row has no value in any column,
// and is counted in Lacking. The levels of a column are those that occur among these users.
func (f *Features) Cover(userIDs []string) *Features {
	rowOf := make(map[string]int32, len(f.UserIDs))
	for i, id := range f.UserIDs {
		rowOf[id] = int32(i)
	}
	out := &Features{Source: f.Source, UserIDs: userIDs, Partial: f.Partial}
	rows := make([]int32, len(userIDs))
	for i, id := range userIDs {
		row, ok := rowOf[id]
		if !ok {
			row = int32(len(f.UserIDs)) // of no values, appended below
			out.Lacking++
		}
		rows[i] = row
	}
	for i := range f.Columns {
		c := f.Columns[i]
		if c.Kind == Numeric {
			c.Numbers = append(slices.Clip(c.Numbers), math.NaN())
		} else {
			c.Codes = append(slices.Clip(c.Codes), -1)
		}
		out.Columns = append(out.Columns, c.Gather(rows))
	}
	return out
}

// Complete returns an error if users lack a row of features and their owner does not allow that.
func (f *Features) Complete() error {
	if f == nil || f.Lacking == 0 || f.Partial {
		return nil
	}
	return &Error{File: f.Source, Field: "user", Msg: f.covered() + " have a line of user features",
		Hint: "add the others, or write \"partial: true\" into columns.yaml beside it: users without a line then " +
			"have no values"}
}

// covered returns a phrase for how many of the users have a row.
func (f *Features) covered() string {
	return fmt.Sprintf("%d of the %d users", len(f.UserIDs)-f.Lacking, len(f.UserIDs))
}

// note returns a sentence on the users that lack a row, "" if none does.
func (f *Features) note() string {
	if f.Lacking == 0 {
		return ""
	}
	return f.covered() + " have a line of user features; the others have no values"
}

// Among returns the features of those given users that have any, so that no more is kept than a filtered log can ask
// for. Both lists of ids are shared, not copied.
func (f *Features) Among(userIDs []string) *Features {
	rowOf := make(map[string]int32, len(userIDs))
	for _, id := range userIDs {
		rowOf[id] = -1
	}
	for i, id := range f.UserIDs {
		if _, ok := rowOf[id]; ok {
			rowOf[id] = int32(i)
		}
	}
	out := &Features{Source: f.Source, Partial: f.Partial}
	var rows []int32
	for _, id := range userIDs {
		if row := rowOf[id]; row >= 0 {
			rows, out.UserIDs = append(rows, row), append(out.UserIDs, id)
		}
	}
	for i := range f.Columns {
		out.Columns = append(out.Columns, f.Columns[i].Gather(rows))
	}
	return out
}

// Gather returns a column with the given rows, without levels that none of them has.
func (c *Column) Gather(rows []int32) Column {
	out := Column{Name: c.Name, Kind: c.Kind}
	if c.Kind == Numeric {
		out.Numbers = permute(c.Numbers, rows)
		return out
	}
	codes := permute(c.Codes, rows)
	to := make([]int32, len(c.Levels))
	for _, code := range codes {
		if code >= 0 {
			to[code] = 1
		}
	}
	for i, present := range to {
		if present == 1 {
			to[i] = int32(len(out.Levels))
			out.Levels = append(out.Levels, c.Levels[i])
		}
	}
	for i, code := range codes {
		if code >= 0 {
			codes[i] = to[code]
		}
	}
	out.Codes = codes
	return out
}
