package slate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset"
)

// HistoriesRecipe is the name of the split that Sequences makes.
const HistoriesRecipe = "histories"

// Sequences returns the clicks of the set's training users split leave-one-out. Items have their names in the data. It
// leaves out users without a history and tokens that are not items.
func (s *Set) Sequences() (*dataset.Sequential, error) {
	l := &dataset.Log{Name: s.Name, StandIn: s.StandIn, Hash: s.historiesHash()}
	place := make([]int32, s.Vocab) // of a token among the ids, from 1
	for _, clicks := range s.Histories {
		for _, token := range clicks {
			if token >= FirstItem {
				place[token] = 1
			}
		}
	}
	tokenOf := map[string]int{}
	for token, used := range place {
		if used == 0 {
			continue
		}
		name := s.Items[token]
		if first, ok := tokenOf[name]; ok {
			return nil, &dataset.Error{File: s.Name, Field: "item", Msg: fmt.Sprintf("tokens %d and %d are both %.40q",
				first, token, name)}
		}
		if strings.ContainsAny(name, "\t\n\r") { // found out before the training, not after it
			return nil, &dataset.Error{File: s.Name, Field: "item",
				Msg: fmt.Sprintf("%.40q has a tab or a line break, which the list of a run's items cannot hold", name)}
		}
		tokenOf[name] = token
		l.ItemIDs = append(l.ItemIDs, name)
		place[token] = int32(len(l.ItemIDs))
	}
	var users []int
	for u, clicks := range s.Histories {
		if slices.ContainsFunc(clicks, func(token int32) bool { return token >= FirstItem }) {
			users, l.UserIDs = append(users, u), append(l.UserIDs, s.Users[u])
		}
	}
	byID := dataset.LessIDs(l.UserIDs) // the order of a log
	slices.SortFunc(users, func(a, b int) int { return byID(s.Users[a], s.Users[b]) })
	for k, u := range users {
		l.UserIDs[k] = s.Users[u]
		for _, token := range s.Histories[u] {
			if token >= FirstItem {
				l.Users, l.Items = append(l.Users, int32(k)), append(l.Items, place[token]-1)
			}
		}
	}
	if l.Len() == 0 {
		return nil, &dataset.Error{File: s.Name, Msg: "the set knows no histories of training users"}
	}
	r := dataset.Recipe{Name: HistoriesRecipe, Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
		Notes: s.Notes}
	out, err := r.Apply(l, nil)
	if err != nil {
		return nil, err
	}
	out.Source.Level = s.Level
	return out, nil
}

// historiesHash returns a hash of the histories and of the tokens in them.
func (s *Set) historiesHash() string {
	h := sha256.New()
	write := func(n int) { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }
	h.Write([]byte(s.Hash))
	write(s.Vocab)
	for u, clicks := range s.Histories {
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
