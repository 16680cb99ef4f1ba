package exposure

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/rng"
)

// load reads the sequences; set is nil unless they are those of a set of slates.
func (d SASRecData) load(ctx context.Context, seed rng.Seed) (s *dataset.Sequential, set *slate.Set, err error) {
	if d.Recipe != HistoriesRecipe {
		s, err = registry.Load(ctx, d.Name, d.Recipe, registry.Options{Seed: seed})
		return s, nil, err
	}
	set, err = slate.Load(ctx, d.Name, slate.Options{Split: d.Split, Seed: seed, T: d.Slate, L: d.Behaviour})
	if err != nil {
		return nil, nil, err
	}
	s, err = sasrecHistories(set)
	return s, set, err
}

// sasrecHistories is the clicks of a set's training users under leave-one-out; items go by
// their names in the data. Users without a history are left out, and so are tokens that
// are no items.
func sasrecHistories(set *slate.Set) (*dataset.Sequential, error) {
	l := &dataset.Log{Name: set.Name, StandIn: set.StandIn, Hash: sasrecHash(set)}
	place := make([]int32, set.Vocab) // of a token among the ids, from 1
	for _, clicks := range set.Histories {
		for _, token := range clicks {
			if token >= slate.FirstItem {
				place[token] = 1
			}
		}
	}
	tokenOf := map[string]int{}
	for token, used := range place {
		if used == 0 {
			continue
		}
		name := set.Items[token]
		if first, ok := tokenOf[name]; ok {
			return nil, &dataset.Error{File: set.Name, Field: "item", Msg: fmt.Sprintf("tokens %d and %d are both %.40q", first, token, name)}
		}
		if strings.ContainsAny(name, "\t\n\r") { // found out before the training, not after it
			return nil, &dataset.Error{File: set.Name, Field: "item", Msg: fmt.Sprintf("%.40q has a tab or a line break, which the list of a run's items cannot hold", name)}
		}
		tokenOf[name] = token
		l.ItemIDs = append(l.ItemIDs, name)
		place[token] = int32(len(l.ItemIDs))
	}
	var users []int
	for u, clicks := range set.Histories {
		if slices.ContainsFunc(clicks, func(token int32) bool { return token >= slate.FirstItem }) {
			users, l.UserIDs = append(users, u), append(l.UserIDs, set.Users[u])
		}
	}
	byID := dataset.LessIDs(l.UserIDs) // the order of a log
	slices.SortFunc(users, func(a, b int) int { return byID(set.Users[a], set.Users[b]) })
	for k, u := range users {
		l.UserIDs[k] = set.Users[u]
		for _, token := range set.Histories[u] {
			if token >= slate.FirstItem {
				l.Users, l.Items = append(l.Users, int32(k)), append(l.Items, place[token]-1)
			}
		}
	}
	if l.Len() == 0 {
		return nil, &dataset.Error{File: set.Name, Msg: "the set knows no histories of training users"}
	}
	r := dataset.Recipe{Name: HistoriesRecipe, Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true}, Notes: set.Notes}
	s, err := r.Apply(l, nil)
	if err != nil {
		return nil, err
	}
	s.Source.Level = set.Level
	return s, nil
}

// sasrecHash identifies the histories and the tokens that they are made of.
func sasrecHash(set *slate.Set) string {
	h := sha256.New()
	write := func(n int) { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }
	h.Write([]byte(set.Hash))
	write(set.Vocab)
	for u, clicks := range set.Histories {
		if len(clicks) == 0 {
			continue
		}
		write(u)
		write(len(clicks))
		for _, token := range clicks {
			write(int(token))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sasrecPart is the held-out items of one side, each with what came before it.
type sasrecPart struct {
	users    []int32   // with an item that training knows, ascending
	contexts [][]int32 // items before it, oldest first
	targets  []int32   // item index from 0
	unknown  int       // held-out items that no training row has: misses of every ranking
}

// sasrecHeldOut lists the validation items, or the test items, whose users are then known up
// to their validation item.
func sasrecHeldOut(s *dataset.Sequential, test bool) sasrecPart {
	side, rung := s.Valid, dataset.RungValid
	if test {
		side, rung = s.Test, dataset.RungTest
	}
	var p sasrecPart
	for u, items := range side {
		if len(items) == 0 {
			continue
		}
		before := s.Train[u]
		if test && s.Valid != nil {
			before = slices.Concat(before, s.Valid[u])
		}
		p.users = append(p.users, int32(u))
		p.contexts = append(p.contexts, before)
		p.targets = append(p.targets, items[0]-1)
	}
	if all, ok := s.Ladder.Get(rung); ok {
		p.unknown = all.Rows - len(p.users)
	}
	return p
}
