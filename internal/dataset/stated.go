package dataset

import (
	"cmp"
	"fmt"
	"slices"
)

// Stated holds a list of ids that was stated beforehand. It is not taken from the rows, so it does not depend on who is
// among them.
type Stated struct {
	File   string `json:"file"` // as it was named
	SHA256 string `json:"sha256"`
	IDs    int    `json:"ids"`
	Left   int    `json:"rows_left_out"` // rows of ids that the list does not have

	Names []string `json:"-"` // the ids, ascending, see LessIDs
}

// String returns the list as part of a sentence.
func (s Stated) String() string {
	return fmt.Sprintf("the %d ids of %s (SHA-256 %.12s)", s.IDs, s.File, s.SHA256)
}

// Decisions says what about data was decided by rows of many users, and what was not. A guarantee for one user or one
// row must take the former as public, or count it.
type Decisions struct {
	// Filters lists the steps of the recipe that count rows of many users: one user can decide whether rows of others
	// stay.
	Filters []string
	// Published is set if rows, items and split are the published ones; hash is that of the files.
	Published bool
}

// Decisions returns what the recipe lets the rows of a log decide.
func (r Recipe) Decisions(published bool) Decisions {
	d := Decisions{Published: published}
	if r.MinItem > 0 {
		d.Filters = append(d.Filters, minRung("items", r.MinItem))
	}
	if r.Core > 0 {
		d.Filters = append(d.Filters, fmt.Sprintf("%d-core", r.Core))
	}
	return d
}

// Of returns the log with only these items and these users; nil keeps those of the log. All items of the list get
// numbers, in its order, even without rows, and so do all users. Rows of others are left out and counted.
func (l *Log) Of(items, users *Stated) *Log {
	if items == nil && users == nil {
		return l
	}
	place := func(of *Stated, ids []string) (to []int32, names []string) {
		to = make([]int32, len(ids))
		if of == nil {
			for i := range ids {
				to[i] = int32(i)
			}
			return to, ids
		}
		at := make(map[string]int32, len(of.Names))
		for i, id := range of.Names {
			at[id] = int32(i)
		}
		for i, id := range ids {
			to[i] = -1
			if k, ok := at[id]; ok {
				to[i] = k
			}
		}
		return to, of.Names
	}
	toItem, itemIDs := place(items, l.ItemIDs)
	toUser, userIDs := place(users, l.UserIDs)
	keep := make([]bool, l.Len())
	for row := range keep {
		keep[row] = toItem[l.Items[row]] >= 0 && toUser[l.Users[row]] >= 0
		switch {
		case toItem[l.Items[row]] < 0:
			items.Left++
		case toUser[l.Users[row]] < 0:
			users.Left++
		}
	}
	out := &Log{Name: l.Name, StandIn: l.StandIn, Hash: l.Hash, TimesPerUnit: l.TimesPerUnit, ItemIDs: itemIDs,
		UserIDs: userIDs, Complete: items != nil}
	var rows []int
	for row, k := range keep {
		if k {
			rows = append(rows, row)
		}
	}
	if users != nil { // whose order may be another one than that of the ids that have rows
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(toUser[l.Users[a]], toUser[l.Users[b]]) })
	}
	for _, row := range rows {
		out.Users, out.Items = append(out.Users, toUser[l.Users[row]]), append(out.Items, toItem[l.Items[row]])
	}
	out.Times, out.Values, out.Parts = gathered(l.Times, rows), gathered(l.Values, rows), gathered(l.Parts, rows)
	if users != nil {
		return out
	}
	return out.withRows()
}

// withRows returns the log without users who have no row.
func (l *Log) withRows() *Log {
	has := make([]bool, len(l.UserIDs))
	for _, u := range l.Users {
		has[u] = true
	}
	to, n := make([]int32, len(has)), 0
	ids := make([]string, 0, len(has))
	for u, h := range has {
		if to[u] = int32(n); h {
			ids, n = append(ids, l.UserIDs[u]), n+1
		}
	}
	out := *l
	out.UserIDs, out.Users = ids, make([]int32, len(l.Users))
	for row, u := range l.Users {
		out.Users[row] = to[u]
	}
	return &out
}
