package slate

import (
	"cmp"
	"fmt"
	"slices"

	"privrec/internal/dataset"
)

// BuildMIND returns the pairs of MIND's logs, by default as the published program makes them. Let h be the history in a
// user's last log, latest click first, and e all items that the user's logs showed, joined in file order. Pair i = 0,
// 1, ... Most-1 is (e[i..i+T-1], h[i..i+L-1]), as long as both are long enough. [Options].Logs and Pairing choose
// otherwise. Logged holds the history, oldest first, and then all shown items, because both are candidates in the
// published program.
func BuildMIND(m *Impressions, o Options) (*Set, error) {
	if err := o.check(m.Name); err != nil {
		return nil, err
	}
	if len(m.ItemIDs) < o.T {
		return nil, smallCatalogue(m.Name, len(m.ItemIDs), o.T)
	}
	r := raw{name: m.Name, hash: m.Hash, users: m.UserIDs, items: m.ItemIDs,
		pairs: newPairs(o.T, o.L, 4*len(m.UserIDs)), ladder: m.ladder()}
	if n := len(m.repeated); n > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%d logs repeat an earlier one in number, user, time and items: they are left out", n))
	}
	logs := make([][]int32, len(m.UserIDs))
	for i := range m.Logs {
		u := m.Logs[i].User
		logs[u] = append(logs[u], int32(i))
	}
	enough := dataset.Rung{Name: fmt.Sprintf("users of %d clicks", o.L)}
	long := dataset.Rung{Name: fmt.Sprintf("users of %d clicks and %d shown items", o.L, o.T)}
	for u, mine := range logs {
		if o.Logs == LogsTime {
			slices.SortStableFunc(mine, func(a, b int32) int { return cmp.Compare(m.Logs[a].Time, m.Logs[b].Time) })
		}
		history := m.Logs[mine[len(mine)-1]].History
		var shown, clicked []int32
		for _, i := range mine {
			shown = append(shown, m.Logs[i].Shown...)
			for k, c := range m.Logs[i].Clicked {
				if c {
					clicked = append(clicked, m.Logs[i].Shown[k])
				}
			}
		}
		r.logged = append(r.logged, slices.Concat(history, shown))
		r.clicks, r.also = append(r.clicks, history), append(r.also, clicked)
		if len(history) >= o.L {
			enough.Users++
			enough.Rows += len(history)
			if len(shown) >= o.T {
				long.Users++
				long.Rows += len(shown)
			}
		}
		if o.Pairing == PairLog {
			m.pairLogs(&r, mine, o)
			continue
		}
		latest := slices.Clone(history)
		slices.Reverse(latest)
		for i := 0; i < o.Most && i+o.L <= len(latest) && i+o.T <= len(shown); i++ {
			r.pairs.add(int32(u), shown[i:i+o.T], latest[i:i+o.L], true)
		}
	}
	r.ladder = append(r.ladder, enough, long)
	return r.finish(o)
}

// pairLogs pairs the end of each log's history with the beginning of its slate.
func (m *Impressions) pairLogs(r *raw, logs []int32, o Options) {
	n := 0
	for _, i := range logs {
		log := m.Logs[i]
		if len(log.History) < o.L || len(log.Shown) < o.T || o.Most > 0 && n == o.Most {
			continue
		}
		b := slices.Clone(log.History[len(log.History)-o.L:])
		slices.Reverse(b)
		r.pairs.add(log.User, log.Shown[:o.T], b, true)
		n++
	}
}

// ladder returns the counts of the shown items, including those of repeated logs, then the shown items of repeated
// logs, then the clicked ones. The items of the first rung include those of the histories.
func (m *Impressions) ladder() dataset.Ladder {
	all := dataset.Rung{Name: dataset.RungRaw, Users: len(m.UserIDs), Items: len(m.ItemIDs)}
	users, items := make([]bool, len(m.UserIDs)), make([]bool, len(m.ItemIDs))
	clicked := dataset.Rung{Name: "clicked"}
	for _, log := range m.Logs {
		all.Rows += len(log.Shown)
		for k, c := range log.Clicked {
			if c {
				clicked.Rows++
				users[log.User], items[log.Shown[k]] = true, true
			}
		}
	}
	clicked.Users, clicked.Items = trues(users), trues(items)
	if len(m.repeated) == 0 {
		return dataset.Ladder{all, clicked}
	}
	clear(users)
	clear(items)
	again := dataset.Rung{Name: "repeated logs"}
	for _, log := range m.repeated {
		again.Rows += len(log.Shown)
		users[log.User] = true
		for _, x := range log.Shown {
			items[x] = true
		}
	}
	all.Rows += again.Rows
	again.Users, again.Items = trues(users), trues(items)
	return dataset.Ladder{all, again, clicked}
}
