package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Log holds a table of interactions. Rows are ordered by user, then time; ties keep the order of the source file. All
// columns have the same length.
type Log struct {
	Name    string    // of the data set
	StandIn bool      // rows are synthetic
	Hash    string    // hex SHA-256 over the source files (see SourceHash), or over the generator's parameters
	Users   []int32   // index into UserIDs
	Items   []int32   // index into ItemIDs
	Times   []int64   // in the unit of the source; nil when the source has none
	Values  []float32 // rating; nil when the source has none
	// TimesPerUnit is the number of units of Times in one unit of the source: more than 1 if its times have fractions.
	// 0 means 1.
	TimesPerUnit int64
	Parts        []Part   // nil unless the source comes already split
	UserIDs      []string // ascending, see LessIDs; each has at least one row
	ItemIDs      []string // ascending, see LessIDs; each has at least one row
	// Complete is set if ItemIDs come from a list that was stated beforehand: items may have no row, and all of them
	// are items of the data.
	Complete bool
	// what the reader dropped, from raw to the rows here; nil when it dropped nothing; filters do not pass it on
	Ladder Ladder
}

// Len returns the number of rows.
func (l *Log) Len() int { return len(l.Users) }

// Rung returns the counts of users, items and rows under the given name.
func (l *Log) Rung(name string) Rung {
	return Rung{Name: name, Users: len(l.UserIDs), Items: len(l.ItemIDs), Rows: l.Len()}
}

// Offsets returns where each user's rows start: user u owns rows
// off[u]..off[u+1]-1. Its length is len(UserIDs)+1.
func (l *Log) Offsets() []int {
	off := make([]int, len(l.UserIDs)+1)
	for _, u := range l.Users {
		off[u+1]++
	}
	for u := range l.UserIDs {
		off[u+1] += off[u]
	}
	return off
}

// Keep returns the rows for which keep is true, in the same order, with users and
// items that lost all their rows removed and the rest renumbered in the same order.
func (l *Log) Keep(keep []bool) *Log {
	users, userIDs := survivors(l.Users, l.UserIDs, keep)
	items, itemIDs := survivors(l.Items, l.ItemIDs, keep)
	n := 0
	for _, k := range keep {
		if k {
			n++
		}
	}
	out := &Log{
		Name: l.Name, StandIn: l.StandIn, Hash: l.Hash, TimesPerUnit: l.TimesPerUnit, UserIDs: userIDs,
		ItemIDs: itemIDs,
		Users:   make([]int32, 0, n), Items: make([]int32, 0, n),
		Times: pick(l.Times, keep, n), Values: pick(l.Values, keep, n), Parts: pick(l.Parts, keep, n),
	}
	for row, k := range keep {
		if k {
			out.Users = append(out.Users, users[l.Users[row]])
			out.Items = append(out.Items, items[l.Items[row]])
		}
	}
	return out
}

// survivors maps old indices to new ones (-1 when removed) and lists the ids kept.
func survivors(col []int32, ids []string, keep []bool) ([]int32, []string) {
	seen := make([]bool, len(ids))
	for row, k := range keep {
		if k {
			seen[col[row]] = true
		}
	}
	to := make([]int32, len(ids))
	var kept []string
	for i, s := range seen {
		to[i] = -1
		if s {
			to[i] = int32(len(kept))
			kept = append(kept, ids[i])
		}
	}
	return to, kept
}

// LessIDs returns the comparison of ids that this package uses everywhere: numeric if every id is a 64-bit integer
// (equal numbers, such as 7 and 07, then in byte order), byte order otherwise. The order depends on the whole set, so
// that "10" follows "9" among numbers but precedes it among words.
func LessIDs(ids []string) func(a, b string) int {
	for _, id := range ids {
		if _, err := strconv.ParseInt(id, 10, 64); err != nil {
			return strings.Compare
		}
	}
	return func(a, b string) int {
		x, _ := strconv.ParseInt(a, 10, 64) // cannot fail: checked above
		y, _ := strconv.ParseInt(b, 10, 64)
		return cmp.Or(cmp.Compare(x, y), strings.Compare(a, b))
	}
}

// Ascending returns the rank of each id in the order of LessIDs, and the sorted ids.
func Ascending(ids []string) (rank []int32, sorted []string) {
	order := make([]int32, len(ids))
	for i := range order {
		order[i] = int32(i)
	}
	less := LessIDs(ids)
	slices.SortFunc(order, func(a, b int32) int { return less(ids[a], ids[b]) })
	rank, sorted = make([]int32, len(ids)), make([]string, len(ids))
	for r, i := range order {
		rank[i], sorted[r] = int32(r), ids[i]
	}
	return rank, sorted
}

// ascending returns the log with users and items in the order of their ids. That order can be another one when ids are
// gone: numbers alone are in the order of numbers, and beside a word in that of bytes.
func (l *Log) ascending() *Log {
	toUser, userIDs := Ascending(l.UserIDs)
	toItem, itemIDs := Ascending(l.ItemIDs)
	rows := make([]int, l.Len())
	for row := range rows {
		rows[row] = row
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(toUser[l.Users[a]], toUser[l.Users[b]]) })
	out := *l
	out.UserIDs, out.ItemIDs = userIDs, itemIDs
	out.Users, out.Items = gathered(l.Users, rows), gathered(l.Items, rows)
	for row := range rows {
		out.Users[row], out.Items[row] = toUser[out.Users[row]], toItem[out.Items[row]]
	}
	out.Times, out.Values, out.Parts = gathered(l.Times, rows), gathered(l.Values, rows), gathered(l.Parts, rows)
	return &out
}

// Valid returns an error if a log from another program or a cache violates an invariant: column lengths, indices, users
// ascending, every id used.
func (l *Log) Valid() error {
	n := l.Len()
	if n == 0 || len(l.Items) != n || l.Times != nil && len(l.Times) != n || l.Values != nil && len(l.Values) != n ||
		l.Parts != nil && len(l.Parts) != n {
		return errors.New("columns of different length")
	}
	users, items := make([]bool, len(l.UserIDs)), make([]bool, len(l.ItemIDs))
	for row := range n {
		u, i := l.Users[row], l.Items[row]
		if u < 0 || int(u) >= len(users) || i < 0 || int(i) >= len(items) || row > 0 && u < l.Users[row-1] ||
			l.Parts != nil && l.Parts[row] > Test {
			return fmt.Errorf("row %d", row)
		}
		users[u], items[i] = true, true
	}
	if slices.Contains(users, false) || slices.Contains(items, false) {
		return errors.New("id without rows")
	}
	return nil
}
