package membership

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"privrec/internal/attack/detect"
	"privrec/internal/attack/membership"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
	"privrec/internal/stats"
	"privrec/internal/tensor"
)

// candidates holds the rows or the users that the attacker is asked about.
type candidates struct {
	detect.Candidates
	users []int32   // attacked, by cluster
	items [][]int32 // by cluster, the rows that are asked about, or that the user is known to have
	at    []int     // by cluster, its first candidate
	level string
	last  bool  // they are users' last rows, of sequences
	rows  []int // by cluster, rows of the user, where the candidates are not all of them

	unlisted int // users with rows of whom imported lists show nothing: they are not attacked
}

// listedUsers tells which users have an imported list; nil: all users can be asked about, as with a model.
func listedUsers(t *target.Run) []bool {
	l, ok := t.Imported.(experiment.Listing)
	if !ok {
		return nil
	}
	out := make([]bool, t.Whole.Users)
	for u, list := range l.Lists(t.Whole.UserIDs) {
		out[u] = len(list) > 0
	}
	return out
}

// candidates lists the candidates. apart restricts them to users held out by a separate draw.
func (c Config) candidates(t *target.Run, apart []bool) (*candidates, error) {
	out := &candidates{level: c.Attack.Level, last: t.Sequences}
	held, shown := t.UsersHeld(), listedUsers(t)
	var users []int32
	for u := range t.Whole.Users {
		if shown != nil && !shown[u] && len(t.Whole.Train[u]) > 0 {
			out.unlisted++
			continue
		}
		if len(t.Whole.Train[u]) > 0 && (t.Last == nil || t.Last[u] >= 0) && (apart == nil || apart[u]) &&
			(c.Attack.Level == LevelUser || !held[u]) {
			users = append(users, int32(u))
		}
	}
	if n := c.Attack.Users; n > 0 && n < len(users) {
		users = dataset.NewLots(t.Held.Seed.Stream("membership users")).Some(t.Whole.UserIDs, users, n)
	}
	for _, u := range users {
		k := int32(len(out.users))
		items := t.Whole.Train[u]
		if t.Sequences {
			items = []int32{t.Last[u]}
			out.rows = append(out.rows, t.Rows[u])
		}
		out.at = append(out.at, len(out.Positive))
		if c.Attack.Level == LevelUser {
			out.Positive, out.Cluster = append(out.Positive, !held[u]), append(out.Cluster, k)
		} else {
			if c.Attack.NonMembers == Test {
				items = slices.Sorted(slices.Values(slices.Concat(items, t.Whole.Test[u])))
			}
			for _, i := range items {
				_, member := slices.BinarySearch(t.Given.Train[u], i)
				out.Positive, out.Cluster = append(out.Positive, member), append(out.Cluster, k)
			}
		}
		out.users, out.items = append(out.users, u), append(out.items, items)
	}
	out.Count = len(out.users)
	members := 0
	for _, m := range out.Positive {
		if m {
			members++
		}
	}
	if members == 0 || members == len(out.Positive) || out.Count < 2 {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"of %d candidates of %d users %d are members: there is nothing to tell apart", len(out.Positive), out.Count,
			members), Fix: "hold out another share with run.hold_out, attack more users with attack.users, or bring " +
			"lists of more users who have rows"}
	}
	return out, nil
}

// seen holds what a model shows of candidates. Values are by candidate, lists by cluster.
type seen struct {
	score    []float64 // of a row; mean over a user's rows
	place    []float64 // share of all items that score lower, equal ones one half; mean over a user's rows
	standard []float64 // score less the mean of the user's scores, over their deviation; mean over a user's rows
	lists    [][]int32 // best first
}

// look returns what a finished run shows of candidates. given holds the rows that it was trained on.
func (p *plan) look(ctx context.Context, dir string, given *dataset.Interactions, on *candidates) (*seen, error) {
	answers, err := target.Ask(ctx, p.Tasks, dir, p.Coins)
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	popular := popularity(given)
	s := &seen{score: make([]float64, len(on.Positive)), place: make([]float64, len(on.Positive)),
		standard: make([]float64, len(on.Positive)), lists: make([][]int32, on.Count)}
	names := dataset.IDsAt(given.UserIDs, on.users)
	return s, target.Scores(ctx, answers, p.On.Release, given.Items, names, func(k int, scores []tensor.Float) {
		u := on.users[k]
		if p.Attack.Strangers == Popular && len(given.Train[u]) == 0 {
			scores = popular
		}
		hidden := slices.Concat(given.Train[u], partOf(given.Valid, u))
		switch {
		case on.last: // lists leave out nothing
			hidden = nil
		case on.level == LevelUser: // the attacker leaves out what it knows that the user has
			hidden = slices.Concat(p.Whole.Train[u], partOf(p.Whole.Valid, u))
		}
		s.lists[k] = best(scores, hidden, p.Attack.K)
		s.fill(on, k, scores)
	})
}

// lookAtLists returns what imported lists show of candidates. At the level of users the attacker leaves out the items
// that it knows the user has; for rows the lists are used as they are. Every candidate needs a list.
func (c Config) lookAtLists(a experiment.Listing, on *candidates, known *dataset.Interactions) (*seen, error) {
	if err := experiment.Stored(a, c.Attack.K); err != nil {
		return nil, run.WithHint(err, fmt.Sprintf("take attack.k=%d at most, or bring longer lists", a.Longest()))
	}
	item := make(map[string]int32, known.Items)
	for i, id := range known.ItemIDs {
		item[id] = int32(i)
	}
	names := dataset.IDsAt(known.UserIDs, on.users)
	s := &seen{lists: make([][]int32, on.Count)}
	short, least := 0, c.Attack.K
	for k, list := range a.Lists(names) {
		hidden := known.Train[on.users[k]]
		if on.level != LevelUser {
			hidden = nil
		}
		for _, id := range list {
			if _, had := slices.BinarySearch(hidden, item[id]); !had && len(s.lists[k]) < c.Attack.K {
				s.lists[k] = append(s.lists[k], item[id])
			}
		}
		if n := len(s.lists[k]); n < c.Attack.K {
			short, least = short+1, min(least, n)
		}
	}
	if short == 0 {
		return s, nil
	}
	left := ""
	if on.level == LevelUser {
		left = " besides what the user is known to have"
	}
	fix := fmt.Sprintf("take attack.k=%d, or bring longer lists: how long a list is must not tell a member", least)
	if least == 0 {
		fix = "bring longer lists, or leave these users out of them: how long a list is must not tell a member"
	}
	return nil, &run.UsageError{Message: fmt.Sprintf(
		"the lists of %d of the %d attacked users have fewer than attack.k=%d items%s, one has %d", short, on.Count,
		c.Attack.K, left, least), Fix: fix}
}

// fill records what the scores of all items say about one user's candidates.
func (s *seen) fill(on *candidates, k int, scores []tensor.Float) {
	sorted := slices.Sorted(slices.Values(scores))
	n := len(on.items[k])
	score, place, standard := make([]float64, n), make([]float64, n), make([]float64, n)
	for j, i := range on.items[k] {
		lo, _ := slices.BinarySearch(sorted, scores[i])
		hi := lo
		for hi < len(sorted) && sorted[hi] == scores[i] {
			hi++
		}
		score[j], place[j], standard[j] = float64(scores[i]), float64(lo+hi)/2/float64(len(sorted)),
			membership.Standard(scores, int(i))
	}
	at := on.at[k]
	if on.level == LevelUser {
		s.score[at], s.place[at], s.standard[at] = stats.Mean(score), stats.Mean(place), stats.Mean(standard)
		return
	}
	copy(s.score[at:], score)
	copy(s.place[at:], place)
	copy(s.standard[at:], standard)
}

// popularity counts the training rows of items.
func popularity(d *dataset.Interactions) []tensor.Float {
	out := make([]tensor.Float, d.Items)
	for _, items := range d.Train {
		for _, i := range items {
			out[i]++
		}
	}
	return out
}

func partOf(lists [][]int32, u int32) []int32 {
	if lists == nil {
		return nil
	}
	return lists[u]
}

// best returns the k items with the highest scores that are not hidden. Of equal scores the lower number comes first.
func best(scores []tensor.Float, hidden []int32, k int) []int32 {
	out := make([]bool, len(scores))
	for _, i := range hidden {
		out[i] = true
	}
	order := make([]int32, 0, len(scores))
	for i := range scores {
		if !out[i] {
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(scores[b], scores[a]) })
	return order[:min(k, len(order))]
}

// missing scores rows by the items absent from lists. An item in the user's own list is none of their rows, since lists
// leave these out. An absent item that many other users' lists have scores highest.
func (s *seen) missing(on *candidates, items int) []float64 {
	count := make([]float64, items)
	for _, l := range s.lists {
		for _, i := range l {
			count[i]++
		}
	}
	out := make([]float64, 0, len(on.Positive))
	for k, rows := range on.items {
		for _, i := range rows {
			x := count[i]
			if p := slices.Index(s.lists[k], i); p >= 0 {
				x = float64(p-len(s.lists[k])) - 1
			}
			out = append(out, x)
		}
	}
	return out
}

// placed scores users' last rows by their places in lists, 0 if a list lacks the item.
func (s *seen) placed(on *candidates) []float64 {
	out := make([]float64, len(on.Positive))
	for k, rows := range on.items {
		if p := slices.Index(s.lists[k], rows[0]); p >= 0 {
			out[on.at[k]] = float64(len(s.lists[k]) - p)
		}
	}
	return out
}
