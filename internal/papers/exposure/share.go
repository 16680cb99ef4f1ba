package exposure

import (
	"fmt"
	"slices"

	"privrec/internal/dataset/slate"
)

// part holds pairs that are released together, with the name of their part of the set.
type part struct {
	name  string
	pairs *slate.Pairs // as they were before any protection
}

// shares holds how much of the releases is about one user. Both are counts of true data, over all parts: for users in
// one part alone the largest of the parts, for others the sum of theirs.
type shares struct {
	T       int
	Slates  int    // most of one user
	Item    int    // most positions, over all slates of a user, that hold one item; unknown items are one
	Known   int    // the same of the items that have a token of their own
	Apart   bool   // no user is in two parts
	Unknown string // why slates of one user cannot be told; empty: they can, and the above hold
}

// sharesOf returns the slates and positions by user. If any part of the set has pairs with unknown users, these may
// belong to any user, so nothing is counted.
func sharesOf(set *slate.Set, parts []part) shares {
	s := shares{Apart: true}
	type row struct{ user, part, at int32 }
	var rows []row
	for k, p := range parts {
		s.T = max(s.T, p.pairs.T)
		if n := unknownUsers(set, p); n > 0 {
			return shares{T: s.T, Unknown: fmt.Sprintf(
				"the users of %d %s pairs are not known: how many slates one user has cannot be said", n, p.name)}
		}
		for i, u := range p.pairs.Users {
			rows = append(rows, row{u, int32(k), int32(i)})
		}
	}
	// counts do not depend on the order of one user's
	slices.SortFunc(rows, func(a, b row) int { return int(a.user) - int(b.user) })
	held, seen := make([]int, set.Vocab), []int32(nil)
	for from := 0; from < len(rows); {
		to := from
		for ; to < len(rows) && rows[to].user == rows[from].user; to++ {
			r := rows[to]
			s.Apart = s.Apart && r.part == rows[from].part
			for _, item := range parts[r.part].pairs.Slate(int(r.at)) {
				if held[item]++; held[item] == 1 {
					seen = append(seen, item)
				}
			}
		}
		for _, item := range seen {
			if s.Item = max(s.Item, held[item]); item >= slate.FirstItem {
				s.Known = max(s.Known, held[item])
			}
			held[item] = 0
		}
		seen = seen[:0]
		s.Slates = max(s.Slates, to-from)
		from = to
	}
	return s
}

// unknownUsers returns the number of pairs of a part without a user, including those that a sample of the part left
// out.
func unknownUsers(set *slate.Set, p part) (n int) {
	all := [][]int32{p.pairs.Users}
	if p.name == "train" {
		all = append(all, set.Train.Users)
	}
	for _, users := range all {
		unknown := 0
		for _, u := range users {
			if u < 0 || int(u) >= len(set.Users) || set.Users[u] == slate.UnknownUser {
				unknown++
			}
		}
		n = max(n, unknown)
	}
	return n
}

// partNames returns the names of parts.
func partNames(parts []part) (list []string) {
	for _, p := range parts {
		list = append(list, p.name)
	}
	return list
}

// released returns the parts whose slates a run, or each setting of its sweep, releases.
func (x *attackRun) released() []part {
	list := []part{{"test", x.Set.Test}}
	switch c := x.cfg; {
	case c.Protect.On() && c.Protect.Attacker == AttackerAdaptive:
		list = append(list, part{"train", x.Set.Train}, part{"valid", x.Set.Valid})
	case !c.Protect.On() && slices.Contains(c.Sweep.Attackers, AttackerAdaptive):
		list = append(list, part{"train", x.sample(x.Set.Train)}, part{"valid", x.Set.Valid})
	}
	return list
}
