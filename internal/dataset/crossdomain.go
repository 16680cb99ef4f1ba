package dataset

import (
	"fmt"
	"slices"

	"privrec/internal/rng"
)

// leaveOneOut returns one domain split leave-one-out: a user's last row is for test, the row before it for validation,
// the others for training. Users with fewer than three rows train with all of them. It omits a validation row whose
// item has no training row, and a test row whose item has neither a training row nor a remaining validation row. It
// also omits the test row of a user without a remaining validation row, as the program that prepared PriCDSR's data
// does. users are those of the log in another order.
func leaveOneOut(name string, l *Log, users []string) Domain {
	d := Domain{
		Name: name, Items: len(l.ItemIDs), ItemIDs: append([]string{""}, l.ItemIDs...),
		Train: make([][]int32, len(users)), Valid: make([]int32, len(users)), Test: make([]int32, len(users)),
	}
	at := make(map[string]int, len(l.UserIDs))
	for u, id := range l.UserIDs {
		at[id] = u
	}
	off := l.Offsets()
	known := make([]bool, d.Items+1)
	for k, id := range users {
		rows := l.Items[off[at[id]]:off[at[id]+1]]
		seq := make([]int32, len(rows))
		for i, item := range rows {
			seq[i] = item + 1
		}
		if n := len(seq); n >= 3 {
			d.Test[k], d.Valid[k], seq = seq[n-1], seq[n-2], seq[:n-2]
			d.Left.ValidRows++
			d.Left.TestRows++
		}
		d.Train[k] = seq
		for _, item := range seq {
			known[item] = true
		}
	}
	held := slices.Clone(known)
	for k, item := range d.Valid {
		if item != 0 && !known[item] {
			d.Valid[k] = 0
			d.Left.ValidItem++
		}
		held[d.Valid[k]] = true
	}
	held[0] = false
	for k, item := range d.Test {
		switch {
		case item == 0:
		case !held[item]:
			d.Test[k] = 0
			d.Left.TestItem++
		case d.Valid[k] == 0:
			d.Test[k] = 0
			d.Left.TestByValid++
		}
	}
	return d
}

// Counts returns how often each item (0..Items, 0 never) occurs in train, validation and test
// together.
func (d *Domain) Counts() []int64 {
	n := make([]int64, d.Items+1)
	for u, seq := range d.Train {
		for _, i := range seq {
			n[i]++
		}
		n[d.Valid[u]]++
		n[d.Test[u]]++
	}
	n[0] = 0
	return n
}

// Known returns which items (0..Items) occur in train or, if valid is set, in validation.
func (d *Domain) Known(valid bool) []bool {
	known := make([]bool, d.Items+1)
	for u, seq := range d.Train {
		for _, i := range seq {
			known[i] = true
		}
		if valid {
			known[d.Valid[u]] = true
		}
	}
	known[0] = false
	return known
}

// Matrix returns PriCDSR's sequential data matrix (definition 1) as one slice, user by user. A user's row has length
// columns, with the last items of train and validation; zeros in front fill a shorter row.
func (d *Domain) Matrix(length int, valid bool) []int32 {
	m := make([]int32, length*len(d.Train))
	for u, seq := range d.Train {
		if v := d.Valid[u]; valid && v != 0 {
			seq = append(slices.Clip(seq), v)
		}
		seq = seq[max(0, len(seq)-length):]
		copy(m[(u+1)*length-len(seq):], seq)
	}
	return m
}

// Lists returns n drawn items for each user, against which a held-out item is ranked. They are drawn without
// replacement, in proportion to Counts, and exclude the user's items of any part. users are the ids of the domain's
// users; a user's draws depend only on the seed and the id. With nil users they are drawn by place, as earlier programs
// did. Users without a validation and a test row get none.
func (d *Domain) Lists(n int, seed rng.Seed, users []string) ([][]int32, error) {
	counts := d.Counts()
	cum := make([]int64, len(counts))
	for i := 1; i < len(counts); i++ {
		cum[i] = cum[i-1] + counts[i]
	}
	total := cum[len(cum)-1]
	lists := make([][]int32, len(d.Train))
	taken := make([]int, d.Items+1) // user+1 for whom the item cannot be drawn
	draws := seed.Stream("dataset.cross.negatives/" + d.Name)
	for u, seq := range d.Train {
		if d.Valid[u] == 0 && d.Test[u] == 0 {
			continue
		}
		left := total
		out := func(item int32) {
			if item != 0 && taken[item] != u+1 {
				taken[item] = u + 1
				left -= counts[item]
			}
		}
		for _, i := range seq {
			out(i)
		}
		out(d.Valid[u])
		out(d.Test[u])
		var s rng.Stream
		if users != nil {
			s = draws.Of(users[u])
		} else {
			s = negativesByPlace(seed, d.Name, u)
		}
		list := make([]int32, 0, n)
		for len(list) < n {
			if left == 0 {
				return nil, fmt.Errorf("dataset: user %d has %d items of %s to be ranked against, want %d", u,
					len(list), d.Name, n)
			}
			item := drawLeft(&s, cum, taken, u+1, left)
			list = append(list, item)
			out(item)
		}
		lists[u] = list
	}
	return lists, nil
}

// drawLeft returns an item that the user can still get, drawn in proportion to its count. It draws by rejection or, if
// that takes long, from the items that are left.
func drawLeft(s *rng.Stream, cum []int64, taken []int, user int, left int64) int32 {
	total := cum[len(cum)-1]
	for range 64 {
		item, _ := slices.BinarySearch(cum, int64(s.IntN(int(total)))+1)
		if taken[item] != user {
			return int32(item)
		}
	}
	at := int64(s.IntN(int(left)))
	for i := 1; i < len(cum); i++ {
		if w := cum[i] - cum[i-1]; taken[i] != user {
			if at < w {
				return int32(i)
			}
			at -= w
		}
	}
	panic("dataset: counts do not add up")
}

// Cross holds two domains with the same users, for sequential cross-domain models. Do not change it once it is made.
type Cross struct {
	Name    string
	Users   int      // 0..Users-1, the same users in both domains
	UserIDs []string // ascending
	Domains [2]Domain
	Ladder  Ladder
	Source  Source
}

// Domain holds one domain of a Cross: each user's items in time order, split leave-one-out.
type Domain struct {
	Name    string
	Items   int       // 1..Items; 0 is padding
	ItemIDs []string  // Items+1 original ids, ItemIDs[0] is ""
	Train   [][]int32 // per user, in time order, every item once
	Valid   []int32   // per user, 0: none
	Test    []int32   // per user, 0: none
	Left    LeftOut   // held-out rows that are not ranked
}

// LeftOut counts the held-out rows of a domain and those among them that are not ranked. The
// test rows left out are TestItem + TestByValid.
type LeftOut struct {
	ValidRows int `json:"valid_rows"`     // held out, before any was left out
	TestRows  int `json:"test_rows"`      // held out, before any was left out
	ValidItem int `json:"valid_new_item"` // validation rows whose item no training row has
	// test rows whose item neither a training row nor a ranked validation row has
	TestItem int `json:"test_new_item"`
	// test rows with a known item, left out only because the validation row of the same user is
	TestByValid int `json:"test_by_their_valid"`
}

// Test returns the number of test rows left out.
func (l LeftOut) Test() int { return l.TestItem + l.TestByValid }

// Join fills in the users and the two domains with the indices pick, from the filtered rows of all the named domains.
// It keeps the users who remain in every domain. The ladder gets one rung per domain.
func (c *Cross) Join(names []string, logs []*Log, pick [2]int) error {
	logs, shared := common(logs)
	if len(shared) == 0 {
		return &Error{File: c.Name, Msg: "no user is left in every domain"}
	}
	c.Users, c.UserIDs = len(shared), shared
	for i, l := range logs {
		c.Ladder = append(c.Ladder, l.Rung(names[i]))
	}
	for i, k := range pick {
		c.Domains[i] = leaveOneOut(names[k], logs[k], shared)
	}
	if n := sharedItems(logs[pick[0]], logs[pick[1]]); n > 0 {
		c.Source.Notes = append(slices.Clip(c.Source.Notes),
			fmt.Sprintf("%d items are in both domains; each domain counts them as its own", n))
	}
	return nil
}

// Judge compares the ladder with the expected counts and sets the level of evidence.
func (c *Cross) Judge(wants []Want) {
	c.Source.Checks = c.Ladder.Compare(wants)
	c.Source.Level = grade(c.Source.StandIn, splitOwn, false, c.Source.Checks)
}

// common returns the logs with only the users that all of them have, without filtering items again, and the ids of
// these users.
func common(logs []*Log) ([]*Log, []string) {
	in := map[string]int{}
	for _, l := range logs {
		for _, id := range l.UserIDs {
			in[id]++
		}
	}
	out := make([]*Log, len(logs))
	for i, l := range logs {
		keep := make([]bool, l.Len())
		for row, u := range l.Users {
			keep[row] = in[l.UserIDs[u]] == len(logs)
		}
		out[i] = l.Keep(keep)
	}
	return out, out[0].UserIDs
}

// sharedItems returns the number of ids that two logs have in common.
func sharedItems(a, b *Log) (n int) {
	in := make(map[string]bool, len(a.ItemIDs))
	for _, id := range a.ItemIDs {
		in[id] = true
	}
	for _, id := range b.ItemIDs {
		if in[id] {
			n++
		}
	}
	return n
}
