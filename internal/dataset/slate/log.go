package slate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/registry"
)

// Log holds a table of shown items: which user saw which item when, and when the user clicked it. Rows are in the order
// of the file.
type Log struct {
	Name, Hash     string
	UserIDs        []string // in order of first appearance
	ItemIDs        []string // in order of first appearance
	Users, Items   []int32  // (rows) index into UserIDs and ItemIDs
	Shown, Clicked []int64  // (rows) times in one unit; Clicked is 0 without a click

	Left []string // sentences on what the file holds that was not read, or was read under an unusual name

	lines       []int32 // (rows) lines of the file; nil where there is none
	clickColumn string  // name of the column of Clicked
	once        bool    // rows that repeat in all columns count as one
}

var (
	zhihuColumns   = []string{"user", "answer", "impression timestamp", "click timestamp"}
	genericColumns = []string{"user", "item", "shown_at", "clicked_at"}
)

// ReadZhihu reads inter_impression.csv of ZhihuRec, without a header: user, answer, time shown,
// time clicked (0 without a click). Rows that repeat in all columns are counted and stay: the
// format does not say that they are one record, and the paper counts all rows.
func ReadZhihu(ctx context.Context, path string) (*Log, error) {
	in, err := format.OpenColumns(ctx, path, ",", zhihuColumns...)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readLog(in, path, [4]int{0, 1, 2, 3}, false)
}

// ReadGeneric reads a table with a header and columns for the user, the item, when it was shown, and when or whether it
// was clicked. c names these columns if they are not called user, item, shown_at or shown, and clicked_at or clicked.
// Other columns are left out. Times are whole numbers of one unit, above 0; 0 or an empty field means no click. A
// column of clicks that is not clicked_at and has no number above 1 holds flags: 1 is a click at the time of showing.
// An item can be shown to a user at one time only once. So rows that repeat in all columns, as in files joined or
// exported twice, are counted and used once.
func ReadGeneric(ctx context.Context, path string, form format.Form, c registry.Columns) (*Log, error) {
	in, err := format.OpenRows(ctx, path, form)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	at, err := genericAt(in, c)
	if err != nil {
		return nil, err
	}
	l, err := readLog(in, path, at, true)
	if err != nil {
		return nil, err
	}
	l.Left = append(l.Left, leftOf(in, at, c)...)
	if l.once = true; l.clickColumn != genericColumns[3] {
		l.flags()
	}
	return l, nil
}

// genericAt returns the positions of the four columns in a header.
func genericAt(in *format.Rows, c registry.Columns) (at [4]int, err error) {
	for i, x := range [4]struct {
		stated string
		is     format.Meaning
	}{{c.User, format.User}, {c.Item, format.Item}, {c.Shown, format.Shown}, {c.Clicked, format.Clicked}} {
		if x.stated != "" {
			if at[i], err = in.Column(x.stated); err != nil {
				return at, err
			}
			continue
		}
		if at[i], err = x.is.Column(in.Columns, in.Fail); err != nil {
			return at, err
		}
		if at[i] < 0 {
			sep := string(in.Form().Separator())
			return at, in.Fail("", "not the header: "+dataset.Quote([]byte(strings.Join(in.Columns, sep))),
				fmt.Sprintf("the first line must be %q, or have shown and clicked in place of the last two; %s "+
					"beside the table names columns that are called otherwise", strings.Join(genericColumns, sep),
					registry.ColumnsFile))
		}
	}
	return at, nil
}

// leftOf returns sentences on columns that are read under unusual names which no file of names states, and on columns
// that are not read.
func leftOf(in *format.Rows, at [4]int, c registry.Columns) (notes []string) {
	name := filepath.Base(in.Path())
	for i, x := range [4]struct {
		stated string
		is     format.Meaning
	}{{c.User, format.User}, {c.Item, format.Item}, {c.Shown, format.Shown}, {c.Clicked, format.Clicked}} {
		if column := in.Columns[at[i]]; x.stated == "" && !x.is.Usual(column) {
			notes = append(notes, name+": "+x.is.Taken(column))
		}
	}
	if unread := in.Unread(at[:]...); len(unread) > 0 {
		notes = append(notes, fmt.Sprintf("%s: not read: %s", name, strings.Join(unread, ", ")))
	}
	return notes
}

// flags replaces clicks that are flags by times, those of showing. A column with a number above 1 has times already.
func (l *Log) flags() {
	if !areFlags(l.Clicked) {
		return
	}
	for row, c := range l.Clicked {
		if c == 1 {
			l.Clicked[row] = l.Shown[row]
		}
	}
}

// readLog reads four columns: user, item, time shown, time clicked. With mayLack, an empty click
// time means no click, and true and false are 1 and 0.
func readLog(in *format.Rows, name string, at [4]int, mayLack bool) (*Log, error) {
	l := &Log{Name: name, clickColumn: in.Columns[at[3]]}
	var users, items dataset.Interner
	var shown, clicked format.Clock
	err := each(in, func(v [][]byte) error {
		for _, i := range at[:2] {
			if why := format.NoID(v[i]); why != "" {
				return in.Fail(in.Columns[i], why, "every row needs a user and an item")
			}
		}
		if err := addTime(in, &shown, at[2], 1); err != nil {
			return err
		}
		known := false
		if mayLack {
			var c int64
			if c, known = word(v[at[3]]); known {
				clicked.AddWhole(c)
			}
		}
		if !known {
			if err := addTime(in, &clicked, at[3], 0); err != nil {
				return err
			}
		}
		l.Users, l.Items = append(l.Users, users.ID(v[at[0]])), append(l.Items, items.ID(v[at[1]]))
		l.lines = append(l.lines, int32(in.Line()))
		return nil
	})
	if err == nil {
		err = l.times(in, at, &shown, &clicked)
	}
	if err != nil {
		return nil, err
	}
	l.UserIDs, l.ItemIDs = users.IDs, items.IDs
	l.Hash, err = in.Digest()
	return l, err
}

// addTime adds the time in column i of a row, which must be at least least.
func addTime(in *format.Rows, c *format.Clock, i int, least int64) error {
	field := in.Columns[i]
	if t := in.Fields[i]; len(t) == 0 || least > 0 && string(t) == "0" {
		return in.Fail(field, "missing time",
			"every row says when the item was shown; a click time of 0 means no click")
	}
	if err := in.AddTime(c, i); err != nil {
		return err
	}
	if t := c.Whole[len(c.Whole)-1]; t < least {
		return in.Fail(field, fmt.Sprintf("%d is below %d", t, least), "")
	}
	return nil
}

// times sets the columns of times, both counted in one unit. Clicks that are flags stay unchanged.
func (l *Log) times(in *format.Rows, at [4]int, shown, clicked *format.Clock) (err error) {
	per := max(shown.PerUnit(), clicked.PerUnit())
	if l.Shown, err = shown.Times(in.Path(), in.Columns[at[2]], per); err != nil {
		return err
	}
	if counted := format.Counted(per); counted != "" {
		l.Left = append(l.Left, filepath.Base(in.Path())+": "+counted)
	}
	if clicked.PerUnit() == 1 && areFlags(clicked.Whole) {
		per = 1
	}
	l.Clicked, err = clicked.Times(in.Path(), in.Columns[at[3]], per)
	return err
}

// areFlags reports whether clicks are flags, 0 and 1, instead of times.
func areFlags(clicked []int64) bool {
	return !slices.ContainsFunc(clicked, func(c int64) bool { return c > 1 })
}

// word returns the click that an empty field or a truth value stands for.
func word(b []byte) (clicked int64, known bool) {
	switch string(b) {
	case "", "false", "False", "FALSE":
		return 0, true
	case "true", "True", "TRUE":
		return 1, true
	}
	return 0, false
}

// remaining returns the log without the rows of users that o forgets. Users and items are numbered in the order in
// which they first appear in the rows that remain, as a reader numbers them in a file of these rows.
func (l *Log) remaining(o Options) *Log {
	if o.gone == nil {
		return l
	}
	gone := o.gone(l.UserIDs)
	drop := make([]bool, len(l.Users))
	for row, u := range l.Users {
		drop[row] = gone[u]
	}
	out := l.without(drop)
	var users, items dataset.Interner
	for row := range out.Users {
		out.Users[row] = users.ID([]byte(l.UserIDs[out.Users[row]]))
		out.Items[row] = items.ID([]byte(l.ItemIDs[out.Items[row]]))
	}
	out.UserIDs, out.ItemIDs = users.IDs, items.IDs
	return out
}

// rung returns the counts of the rows for which keep is true; nil takes all rows.
func (l *Log) rung(name string, keep func(row int) bool) dataset.Rung {
	users, items := make([]bool, len(l.UserIDs)), make([]bool, len(l.ItemIDs))
	r := dataset.Rung{Name: name}
	for row, u := range l.Users {
		if keep == nil || keep(row) {
			users[u], items[l.Items[row]] = true, true
			r.Rows++
		}
	}
	r.Users, r.Items = trues(users), trues(items)
	return r
}

func trues(flags []bool) int {
	n := 0
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}
