package slate

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// zhihuTables and mindTables hold the counts of the pairs in the paper and in the published
// files. Fewer pairs train on Zhihu here, because not all slates can be rebuilt.
var (
	zhihuTables = []dataset.Want{
		{Rung: dataset.Rung{Name: "pairs", Users: 7915, Rows: 213172}, Paper: true,
			From: "section 5.1 and the authors' index of pairs"},
		{Rung: dataset.Rung{Name: "train, histories released", Users: 6341, Rows: 170537}, Paper: true,
			From: "the authors' split"},
		{Rung: dataset.Rung{Name: dataset.RungTrain, Rows: 170537}, Paper: true, From: "the authors' split"},
		{Rung: dataset.Rung{Name: dataset.RungValid, Rows: 21317}, Paper: true, From: "the authors' split"},
		{Rung: dataset.Rung{Name: dataset.RungValid + ", complete", Rows: 13613}, Paper: true,
			From: "the pairs that the authors' programs use"},
		{Rung: dataset.Rung{Name: dataset.RungTest, Users: 817, Rows: 21317}, Paper: true, From: "the authors' split"},
		{Rung: dataset.Rung{Name: dataset.RungTest + ", complete", Rows: 13970}, Paper: true,
			From: "the pairs that the authors' programs use"},
		{Rung: dataset.Rung{Name: dataset.RungTest + ", complete, distinct clicks", Rows: 13870}, Paper: true,
			From: "those that their sequence metric takes"},
	}
	mindTables = []dataset.Want{
		{Rung: dataset.Rung{Name: "pairs", Users: 67992, Rows: 291595}, Paper: true,
			From: "section 5.1 and the authors' index of pairs"},
		{Rung: dataset.Rung{Name: "valid, released", Users: 6882, Rows: 29159}, Paper: true,
			From: "the authors' split"},
		{Rung: dataset.Rung{Name: "test, released", Users: 7005, Rows: 29159}, Paper: true, From: "the authors' split"},
		{Rung: dataset.Rung{Name: dataset.RungTrain, Rows: 233276}, Paper: true, From: "the authors' split"},
	}
)

// loadZhihu reads the tables extracted from the authors' Zhihu pickles. Test pairs keep the
// published order. Shorter slates are cut; longer ones are continued in the users' logs.
// SplitUsers removes the pairs of the two users on a border from validation; training and test
// stay as published.
func loadZhihu(ctx context.Context, name string, o Options) (*Set, error) {
	tab, owners, err := openTables(ctx, name, "zhihu", o)
	if err != nil {
		return nil, err
	}
	users, shown, clicked, err := tab.logged("user_items.tsv")
	if err != nil {
		return nil, err
	}
	if top := slices.Max(owners); int(top) >= len(users) {
		return nil, &dataset.Error{File: tab.folder,
			Msg: fmt.Sprintf("sequence2user.tsv names user %d, user_items.tsv has %d users", top, len(users))}
	}
	training, err := tab.training("train_reconstructed.tsv", len(users))
	if err != nil {
		return nil, err
	}
	valid, test, err := tab.evaluated(owners)
	if err != nil {
		return nil, err
	}
	a, b, _ := borders(len(owners))

	s := tab.set(name, owners)
	s.Users, s.Logged, s.Clicked = append(users, UnknownUser), append(shown, nil), append(clicked, nil)
	unknownUser := int32(len(users))
	s.Train = newPairs(o.T, o.L, len(training))
	short := dataset.Rung{Name: fmt.Sprintf("log too short for %d shown items", o.T)}
	for _, r := range training {
		if slate := lengthen(shown[r.user], r.slate, r.behaviour, o.T); slate != nil {
			s.Train.add(r.user, slate[:o.T], r.behaviour[:o.L], true)
		} else {
			short.Rows++
		}
	}
	add := func(p *Pairs, u int32, r pairRow) {
		if r.slate = lengthen(s.Logged[u], r.slate, r.behaviour, o.T); r.slate != nil || o.T <= tableT {
			p.pad(u, r)
		} else {
			short.Rows++
		}
	}
	s.Valid = newPairs(o.T, o.L, len(valid))
	found := owning(valid, distinct(owners[a:b]), shown)
	for i, r := range valid {
		add(s.Valid, orElse(found[i], unknownUser), r)
	}
	s.Test = newPairs(o.T, o.L, len(test))
	for i, r := range test {
		add(s.Test, owners[b+i], r)
	}
	s.Ladder = append(s.Ladder, dataset.Rung{Name: "train, histories released", Users: len(distinct(owners[:a])),
		Rows: a})
	if short.Rows > 0 {
		s.Ladder = append(s.Ladder, short)
	}
	s.rungs()
	if o.Split == SplitUsers {
		s.Valid = s.Valid.without(owners[a], owners[a-1] == owners[a]).without(owners[b], owners[b-1] == owners[b])
		s.Ladder = append(s.Ladder, s.Valid.rung("valid, users of no other part", nil))
	}
	s.unknown(o)
	s.Histories = chains(s.Train, len(s.Users), s.Logged)
	s.noteRelease(zhihuTables[0],
		"slates of the training pairs are rebuilt from the users' logs; on test, where the truth is known, the same "+
			"rule has 90.7 % of the items right",
		"validation and test pairs, their order, the vocabulary and the logged items are the authors' own: results "+
			"that need no training pairs have level A",
		lostPlaces)
	if n := s.Valid.count(unknownUser); n > 0 {
		s.Notes = append(s.Notes,
			fmt.Sprintf("the users of %d validation pairs could not be found: all shown items of these pairs are "+
				"unknown", n))
	}
	return s, nil
}

// loadMIND reads the tables extracted from the authors' MIND pickles. Training pairs were not
// published, so the published validation pairs train. SplitUsers divides the test users in
// halves, drawn by the seed, one for validation and one for test, in the published order.
// SplitReleased keeps all test pairs together and has no validation.
func loadMIND(ctx context.Context, name string, o Options) (*Set, error) {
	tab, owners, err := openTables(ctx, name, "mind", o)
	if err != nil {
		return nil, err
	}
	valid, test, err := tab.evaluated(owners)
	if err != nil {
		return nil, err
	}
	a, b, _ := borders(len(owners))
	s := tab.set(name, owners)
	index := map[string]int32{}
	user := func(id string) int32 {
		if id == "-1" {
			id = UnknownUser
		}
		u, ok := index[id]
		if !ok {
			u = int32(len(s.Users))
			index[id], s.Users = u, append(s.Users, id)
		}
		return u
	}
	s.Train = newPairs(o.T, o.L, len(valid))
	for _, r := range valid {
		if r.user != "-1" { // so that the unknown user is last
			user(r.user)
		}
	}
	released := newPairs(o.T, o.L, len(test))
	for _, r := range test {
		released.pad(user(r.user), r)
	}
	for _, r := range valid {
		s.Train.pad(user(r.user), r)
	}
	s.Ladder = append(s.Ladder,
		dataset.Rung{Name: "valid, released", Users: len(distinct(owners[a:b])), Rows: b - a},
		released.rung("test, released", nil))
	s.Valid, s.Test = newPairs(o.T, o.L, 0), released
	if o.Split == SplitUsers {
		s.Valid, s.Test = halves(released, s.Users, o.Seed)
	}
	s.rungs()
	s.unknown(o)
	s.Histories = chains(s.Train, len(s.Users), nil)
	s.noteRelease(mindTables[0],
		"the authors published no training pairs: their validation pairs train here, about 26,000 in place of 233,276",
		"the users of the training pairs are not known: a chain of overlapping windows counts as one user, and all "+
			"pairs outside of chains as one more",
		"the other items that a user was shown are not known: the protocol with logged candidates is left out",
		lostPlaces)
	return s, nil
}

// pad appends a row with OOV in place of deleted items, cut to T and L. A pair that lost an item stays incomplete when
// cut, because the place of the lost item is unknown.
func (p *Pairs) pad(user int32, r pairRow) {
	p.Users, p.Complete = append(p.Users, user), append(p.Complete, r.complete)
	fill := func(dst, list []int32, n int) []int32 {
		dst = append(dst, list[:min(n, len(list))]...)
		for i := len(list); i < n; i++ {
			dst = append(dst, OOV)
		}
		return dst
	}
	p.Slates, p.Behaviours = fill(p.Slates, r.slate, p.T), fill(p.Behaviours, r.behaviour, p.L)
}

// without returns the pairs without those of one user, if drop is set.
func (p *Pairs) without(user int32, drop bool) *Pairs {
	if !drop {
		return p
	}
	var rows []int32
	for i, u := range p.Users {
		if u != user {
			rows = append(rows, int32(i))
		}
	}
	return p.Select(rows)
}

// count returns the number of pairs of a user.
func (p *Pairs) count(user int32) int {
	n := 0
	for _, u := range p.Users {
		if u == user {
			n++
		}
	}
	return n
}

// halves returns the pairs of p in two parts, which keep their order. Each user, given by id, goes to either part with
// the same chance, by a draw about the id.
func halves(p *Pairs, ids []string, seed rng.Seed) (first, second *Pairs) {
	lots, side := dataset.NewLots(seed.Stream("slate/halves")), map[int32]int{}
	for _, u := range distinct(p.Users) {
		if lots.User(ids[u]) >= 0.5 {
			side[u] = 1
		}
	}
	var rows [2][]int32
	for i, u := range p.Users {
		rows[side[u]] = append(rows[side[u]], int32(i))
	}
	return p.Select(rows[0]), p.Select(rows[1])
}

// distinct returns the distinct values of a column, ascending.
func distinct(col []int32) []int32 {
	out := slices.Clone(col)
	slices.Sort(out)
	return slices.Compact(out)
}

// orElse returns u, or otherwise if u is negative.
func orElse(u, otherwise int32) int32 {
	if u < 0 {
		return otherwise
	}
	return u
}
