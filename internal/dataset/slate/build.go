package slate

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"privrec/internal/dataset"
)

// Build makes the pairs of a log with times (specification: the paper's section 5.1 and
// the released program for Zhihu). Per user, records are sorted by the time shown,
// stable; for every window of L consecutive clicks, let t be its latest click: the
// slate is the first T records shown after t. A window with fewer records after it
// gives no pair, nor does a user with fewer than L clicks.
func Build(l *Log, o Options) (*Set, error) {
	if err := o.check(l.Name); err != nil {
		return nil, err
	}
	if len(l.ItemIDs) < o.T {
		return nil, smallCatalogue(l.Name, len(l.ItemIDs), o.T)
	}
	r := raw{name: l.Name, hash: l.Hash, users: l.UserIDs, items: l.ItemIDs, pairs: newPairs(o.T, o.L, len(l.Users)/4)}
	r.ladder = dataset.Ladder{l.rung(dataset.RungRaw, nil), l.rung("clicked", func(i int) bool { return l.Clicked[i] != 0 })}
	if early := l.rung("clicked before it was shown", l.early); early.Rows > 0 {
		if o.Early == EarlyRefuse {
			row := 0
			for !l.early(row) {
				row++
			}
			return nil, &dataset.Error{File: l.Name, Field: "clicked_at", Msg: fmt.Sprintf("%d clicks are before their show, the first in row %d: user %q was shown %q at %d and clicked at %d",
				early.Rows, row+1, l.UserIDs[l.Users[row]], l.ItemIDs[l.Items[row]], l.Shown[row], l.Clicked[row])}
		}
		r.ladder = append(r.ladder, early)
		r.notes = append(r.notes, fmt.Sprintf("%d clicks are before their show (option early: %s)", early.Rows, o.Early))
	}
	enough := dataset.Rung{Name: fmt.Sprintf("users of %d clicks", o.L)}
	windows := dataset.Rung{Name: fmt.Sprintf("windows of %d clicks", o.L)}
	for u, records := range l.byUser(o.FirstOnly) {
		clicks := l.clicks(records, o)
		shown, clicked := make([]int32, len(records)), make([]int32, len(clicks))
		for i, row := range records {
			shown[i] = l.Items[row]
		}
		for i, row := range clicks {
			clicked[i] = l.Items[row]
		}
		r.logged, r.clicks = append(r.logged, shown), append(r.clicks, clicked)
		if len(clicks) < o.L {
			continue
		}
		enough.Users++
		enough.Rows += len(clicks)
		windows.Users++
		for w := 0; w+o.L <= len(clicks); w += o.Stride {
			windows.Rows++
			window := clicks[w : w+o.L]
			var latest int64
			for _, row := range window {
				latest = max(latest, l.Clicked[row])
			}
			from := sort.Search(len(records), func(i int) bool { return l.Shown[records[i]] > latest })
			if from+o.T > len(records) {
				continue
			}
			b := slices.Clone(clicked[w : w+o.L])
			slices.Reverse(b)
			r.pairs.add(int32(u), shown[from:from+o.T], b, true)
		}
	}
	r.ladder = append(r.ladder, enough, windows)
	return r.finish(o)
}

// early says whether the item of a row was clicked before it was shown.
func (l *Log) early(row int) bool { return l.Clicked[row] != 0 && l.Clicked[row] < l.Shown[row] }

// byUser returns each user's rows in show order, ties as in the file.
func (l *Log) byUser(firstOnly bool) [][]int32 {
	out := make([][]int32, len(l.UserIDs))
	for row, u := range l.Users {
		out[u] = append(out[u], int32(row))
	}
	for u, rows := range out {
		slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(l.Shown[a], l.Shown[b]) })
		if firstOnly {
			met := map[int32]bool{}
			out[u] = slices.DeleteFunc(rows, func(row int32) bool {
				again := met[l.Items[row]]
				met[l.Items[row]] = true
				return again
			})
		}
	}
	return out
}

// clicks picks a user's clicks, in order.
func (l *Log) clicks(records []int32, o Options) []int32 {
	var out []int32
	for _, row := range records {
		if l.Clicked[row] != 0 && (o.Early != EarlyDrop || !l.early(int(row))) {
			out = append(out, row)
		}
	}
	if o.Clicks == OrderClicked {
		slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(l.Clicked[a], l.Clicked[b]) })
	}
	return out
}
