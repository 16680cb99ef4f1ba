package inference

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/registry"
)

// table holds the attributes of users as read.
type table struct {
	from    string   // the file, for messages
	hash    string   // of a file
	users   []string // in the order of the file
	lines   []int    // of the users; nil: not known
	columns []dataset.Column
	items   []string // of the data set that has the attributes; nil: of none
}

// line returns the line of a user in the file, 0 if it is unknown.
func (t *table) line(i int) int {
	if t.lines == nil {
		return 0
	}
	return t.lines[i]
}

// fail returns an error about a field of one user.
func (t *table) fail(i int, field, msg, hint string) error {
	return &dataset.Error{File: t.from, Line: t.line(i), Field: field, Msg: msg, Hint: hint}
}

// readAttributes reads a file of attributes: a column of users and the wanted columns.
func readAttributes(ctx context.Context, path string, wanted []AttributeConfig) (*table, error) {
	r, err := openTable(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	user, err := r.Column("user")
	if err != nil {
		return nil, err
	}
	at := make([]int, len(wanted))
	t, levels, first := &table{from: path}, make([]dataset.Interner, len(wanted)), map[string]int{}
	for i, a := range wanted {
		if at[i], err = r.Column(a.Name); err != nil {
			return nil, hintAttributes(err, wanted, r.Columns)
		}
		c := dataset.Column{Name: a.Name}
		if len(a.Bands) > 0 {
			c.Kind = dataset.Numeric
		}
		t.columns = append(t.columns, c)
	}
	for r.Next() {
		id, err := field(r, user)
		if err != nil {
			return nil, err
		}
		if line, twice := first[id]; twice {
			return nil, r.Fail(r.Columns[user], fmt.Sprintf("user %q has a second line of attributes", id),
				fmt.Sprintf("the first is on line %d", line))
		}
		first[id] = r.Line()
		t.users, t.lines = append(t.users, id), append(t.lines, r.Line())
		for i := range wanted {
			if v := r.Fields[at[i]]; format.Missing(v) {
				return nil, r.Fail(wanted[i].Name, fmt.Sprintf("user %q has no value: %s", id, dataset.Quote(v)),
					noValue)
			}
			if c := &t.columns[i]; c.Kind == dataset.Numeric {
				x, err := r.Float(at[i])
				if err != nil {
					return nil, err
				}
				c.Numbers = append(c.Numbers, x)
			} else {
				c.Codes = append(c.Codes, levels[i].ID(r.Fields[at[i]]))
			}
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	for i := range t.columns {
		if c := &t.columns[i]; c.Kind == dataset.Categorical {
			rank, sorted := dataset.Ascending(levels[i].IDs)
			for u, code := range c.Codes {
				c.Codes[u] = rank[code]
			}
			c.Levels = sorted
		}
	}
	t.hash, err = r.Digest()
	return t, err
}

// hintAttributes adds a hint to an error about a missing attribute: how to ask for those that the table has.
func hintAttributes(err error, wanted []AttributeConfig, columns []string) error {
	var e *dataset.Error
	if !errors.As(err, &e) || e.Msg != format.NoColumn {
		return err
	}
	var has []string
	for _, a := range wanted {
		if slices.Contains(columns, a.Name) {
			one := "name: " + a.Name
			if len(a.Bands) > 0 {
				one += ", bands: " + strings.ReplaceAll(fmt.Sprint(a.Bands), " ", ", ")
			}
			has = append(has, "{"+one+"}")
		}
	}
	if has == nil {
		has = []string{"{name: NAME}"}
	}
	e.Hint += "; --set 'attributes=[" + strings.Join(has, ", ") + "]' predicts those that it has"
	return e
}

// noValue holds the advice for a user without a value.
const noValue = "leave users without it out of the table, or the attribute out of attributes"

// ofFeatures returns the attributes that a data set has of its users.
func ofFeatures(ctx context.Context, s *source, wanted []AttributeConfig) (*table, error) {
	log, f, err := registry.LoadLog(ctx, s.data, s.view, registry.Options{})
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, &dataset.Error{File: s.data, Msg: "the data set has no attributes of its users",
			Hint: "name a table of them with --attributes"}
	}
	t := &table{from: s.data, users: f.UserIDs, items: log.ItemIDs}
	for _, a := range wanted {
		c, err := f.Column(a.Name)
		if err != nil {
			var names []string
			for _, c := range f.Columns {
				names = append(names, c.Name)
			}
			return nil, &dataset.Error{File: s.data, Field: a.Name, Msg: "no such attribute of users; there are " +
				strings.Join(names, ", "),
				Hint: "--set 'attributes=[{name: NAME}]' names others, and --attributes a table of them"}
		}
		if c.Kind == dataset.Numeric && len(a.Bands) == 0 {
			return nil, &dataset.Error{File: s.data, Field: a.Name, Msg: "is a number, and attacks predict classes",
				Hint: "give the attribute bands, as in attributes: [{name: " + a.Name + ", bands: [35, 45]}]"}
		}
		t.columns = append(t.columns, *c)
	}
	return t, nil
}

// among returns the table of the users that keep accepts, in ascending order.
func (t *table) among(keep func(user string) bool) *table {
	out := &table{from: t.from, hash: t.hash, items: t.items}
	of := make(map[string]int32, len(t.users))
	for i, u := range t.users {
		if keep(u) {
			of[u] = int32(i)
			out.users = append(out.users, u)
		}
	}
	_, out.users = dataset.Ascending(out.users)
	var rows []int32
	for _, u := range out.users {
		rows = append(rows, of[u])
		if t.lines != nil {
			out.lines = append(out.lines, t.lines[of[u]])
		}
	}
	for i := range t.columns {
		out.columns = append(out.columns, t.columns[i].Gather(rows))
	}
	return out
}

// Attribute is an attribute with the classes of the attacked users.
type Attribute struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // a class each; those of no user are left out
	Users  []int    `json:"users"`  // of each class

	class []int32 // by attacked user
}

// classes returns a column as classes. It fails on a user without a value or with an undeclared one, and if all users
// have the same class.
func (t *table) classes(k int, a AttributeConfig) (*Attribute, error) {
	c := &t.columns[k]
	if len(a.Bands) > 0 {
		banded, err := c.Bands(a.Name, a.Bands...)
		if err != nil {
			return nil, &dataset.Error{File: t.from, Field: a.Name, Msg: "cannot be cut into bands", Err: err}
		}
		c = &banded
	}
	values := c.Levels
	if len(a.Values) > 0 {
		values = a.Values
	}
	of := make([]int32, len(c.Levels))
	for i, level := range c.Levels {
		of[i] = int32(slices.Index(values, level))
	}
	count := make([]int, len(values))
	out := &Attribute{Name: a.Name, class: make([]int32, len(t.users))}
	for u, code := range c.Codes {
		if code < 0 {
			return nil, t.fail(u, a.Name, fmt.Sprintf("user %q has no value", t.users[u]), noValue)
		}
		k := of[code]
		if k < 0 {
			return nil, t.fail(u, a.Name, fmt.Sprintf("value %q of user %q is none of the declared %s", c.Levels[code],
				t.users[u], strings.Join(values, ", ")),
				"declare it in attributes, or leave values out to take what is there")
		}
		out.class[u] = k
		count[k]++
	}
	to := make([]int32, len(values))
	for k, n := range count {
		if n > 0 {
			to[k] = int32(len(out.Values))
			out.Values, out.Users = append(out.Values, values[k]), append(out.Users, n)
		}
	}
	for u, k := range out.class {
		out.class[u] = to[k]
	}
	if len(out.Values) < 2 {
		return nil, &dataset.Error{File: t.from, Field: a.Name,
			Msg: fmt.Sprintf("all %d users have the value %q: there is one class only", len(t.users),
				strings.Join(out.Values, "")),
			Hint: "leave the attribute out of attributes"}
	}
	return out, nil
}
