package slate

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"privrec/internal/dataset"
)

// Build returns the pairs of a log with times (section 5.1 of the paper and the published program for Zhihu).
// It sorts each user's records by the time shown, stable. For every window of L consecutive clicks, let t be the latest
// time at which one of its items was shown or clicked. The slate is the first T records shown after t. A window with
// fewer records after it gives no pair, and neither does a user with fewer than L clicks.
//
// The published program takes only the latest click for t. That is the same if items are clicked after they were shown.
// Otherwise its slate can hold records of the window, which are the answers, and an attack finds a leak in data that
// have none.
//
// Build fails, whatever the options, on a log with more clicks before their item was shown than after. The
// [*dataset.Error] names the line of the first.
func Build(l *Log, o Options) (*Set, error) {
	if err := o.check(l.Name); err != nil {
		return nil, err
	}
	l = l.remaining(o)
	if len(l.ItemIDs) < o.T {
		return nil, smallCatalogue(l.Name, len(l.ItemIDs), o.T)
	}
	r := raw{name: l.Name, hash: l.Hash, users: l.UserIDs, items: l.ItemIDs, pairs: newPairs(o.T, o.L, len(l.Users)/4)}
	r.ladder = dataset.Ladder{l.rung(dataset.RungRaw, nil)}
	l = r.repeats(l)
	clicks := l.rung("clicked", func(i int) bool { return l.Clicked[i] != 0 })
	r.ladder = append(r.ladder, clicks)
	early, err := r.early(l, clicks.Rows, o)
	if err != nil {
		return nil, err
	}
	n := newLosses(o)
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
		if !n.user(len(clicks)) {
			continue
		}
		lost := n.lost.Rows
		for w := 0; w+o.L <= len(clicks); w += o.Stride {
			n.windows.Rows++
			latest := l.latest(clicks[w : w+o.L])
			from := sort.Search(len(records), func(i int) bool { return l.Shown[records[i]] > latest })
			if from+o.T > len(records) {
				n.window(len(records) - from)
				continue
			}
			b := slices.Clone(clicked[w : w+o.L])
			slices.Reverse(b)
			r.pairs.add(int32(u), shown[from:from+o.T], b, true)
		}
		if n.lost.Rows > lost {
			n.lost.Users++
		}
	}
	r.ladder = append(r.ladder, n.rungs()...)
	r.lack, r.hint = n.none(len(l.UserIDs), early, clicks.Rows)
	return r.finish(o)
}

// latest returns the latest time at which an item of a window is shown or clicked.
func (l *Log) latest(window []int32) int64 {
	var t int64
	for _, row := range window {
		t = max(t, l.Clicked[row], l.Shown[row])
	}
	return t
}

// byUser returns each user's rows in the order shown, ties as in the file.
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

// clicks returns a user's clicks, in order.
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

// losses counts the users, clicks and windows that give no pair.
type losses struct {
	o                            Options
	enough, below, windows, lost dataset.Rung
	last                         int // lost windows with no item shown after them
}

func newLosses(o Options) *losses {
	return &losses{o: o,
		enough:  dataset.Rung{Name: fmt.Sprintf("users of %d clicks", o.L)},
		below:   dataset.Rung{Name: fmt.Sprintf("users below %d clicks", o.L)},
		windows: dataset.Rung{Name: fmt.Sprintf("windows of %d clicks", o.L)},
		lost:    dataset.Rung{Name: fmt.Sprintf("windows without %d items after them", o.T)},
	}
}

// user counts a user with this many clicks and reports whether they fill a window.
func (n *losses) user(clicks int) bool {
	if clicks < n.o.L {
		n.below.Users++
		n.below.Rows += clicks
		return false
	}
	n.enough.Users++
	n.enough.Rows += clicks
	n.windows.Users++
	return true
}

// window counts a window with too few items after it for a slate.
func (n *losses) window(after int) {
	n.lost.Rows++
	if after == 0 {
		n.last++
	}
}

// rungs returns the rungs, without losses of 0.
func (n *losses) rungs() dataset.Ladder {
	out := dataset.Ladder{n.enough}
	if n.below.Users > 0 {
		out = append(out, n.below)
	}
	out = append(out, n.windows)
	if n.lost.Rows > 0 {
		out = append(out, n.lost)
	}
	return out
}

// none returns why there may be no pair, and what to do. early is the number of all clicks before their item was shown.
func (n *losses) none(users, early, clicks int) (lack, hint string) {
	if n.windows.Rows == 0 {
		lack, hint = fmt.Sprintf(": none of %d users has %d clicks", users, n.o.L), "choose shorter behaviours"
	} else {
		lack, hint = fmt.Sprintf(": none of %d windows of %d clicks has %d items shown after it", n.windows.Rows, n.o.L,
			n.o.T), "choose shorter slates or behaviours"
		if n.last > 0 {
			lack += fmt.Sprintf(", %d have none at all", n.last)
			hint = "do the times of shown and clicked items have the same unit and clock? else " + hint
		}
	}
	if n.o.Early == EarlyDrop && early > 0 {
		lack += fmt.Sprintf("; early: drop took %d of %d clicks", early, clicks)
		hint = "early: keep uses clicks before their show, or " + hint
	}
	return lack, hint
}
