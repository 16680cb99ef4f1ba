package slate

import (
	"context"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// Log is a table of shown items: which user saw which item when, and when the user clicked it.
// Rows are in the order of the file.
type Log struct {
	Name, Hash     string
	UserIDs        []string // in order of first appearance
	ItemIDs        []string // in order of first appearance
	Users, Items   []int32  // (rows) index into UserIDs and ItemIDs
	Shown, Clicked []int64  // (rows) times in one unit; Clicked is 0 without a click

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
	return readLog(in, path, false)
}

// ReadGeneric reads a table with the header user, item, shown_at, clicked_at. Times are whole
// numbers of one unit, above 0; clicked_at is 0 or empty without a click. An item can be shown
// to a user at one time only once. So rows that repeat in all columns, as in files joined or
// exported twice, are counted and used once.
func ReadGeneric(ctx context.Context, path string, form format.Form) (*Log, error) {
	in, err := openTable(ctx, path, form, genericColumns...)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	l, err := readLog(in, path, true)
	if err != nil {
		return nil, err
	}
	l.once = true
	return l, nil
}

// readLog reads the four columns. With mayLack, an empty click time means no click.
func readLog(in *format.Rows, name string, mayLack bool) (*Log, error) {
	l := &Log{Name: name, clickColumn: in.Columns[3]}
	users, items := ids{}, ids{}
	err := each(in, func(v [][]byte) error {
		for i := range 2 {
			if len(v[i]) == 0 {
				return in.Fail(in.Columns[i], "empty", "every row needs a user and an item")
			}
		}
		shown, err := instant(in, 2, v[2], 1)
		if err != nil {
			return err
		}
		var clicked int64
		if !mayLack || len(v[3]) > 0 {
			if clicked, err = instant(in, 3, v[3], 0); err != nil {
				return err
			}
		}
		l.Users, l.Items = append(l.Users, users.of(v[0])), append(l.Items, items.of(v[1]))
		l.Shown, l.Clicked = append(l.Shown, shown), append(l.Clicked, clicked)
		l.lines = append(l.lines, int32(in.Line()))
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.UserIDs, l.ItemIDs = users.names, items.names
	l.Hash, err = in.Digest()
	return l, err
}

// instant parses the time in column i.
func instant(in *format.Rows, i int, b []byte, least int64) (int64, error) {
	if len(b) == 0 || least > 0 && string(b) == "0" {
		return 0, in.Fail(in.Columns[i], "missing time", "every row says when the item was shown; a click time of 0 means no click")
	}
	return integer(in, in.Columns[i], b, least, math.MaxInt64)
}

// rung counts the rows for which keep is true; nil takes all rows.
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

// ids numbers strings in order of first appearance.
type ids struct {
	index map[string]int32
	names []string
}

func (n *ids) of(b []byte) int32 {
	if i, ok := n.index[string(b)]; ok {
		return i
	}
	if n.index == nil {
		n.index = map[string]int32{}
	}
	i := int32(len(n.names))
	n.names = append(n.names, string(b))
	n.index[n.names[i]] = i
	return i
}
