package dataset

import (
	"fmt"
	"math"
	"slices"
)

// ratings returns drawn rows of the data, at most one per user.
func (p Planting) ratings(d *Interactions) ([]Canary, error) {
	if d.Ratings == nil {
		return nil, withoutRatings(d.Name)
	}
	users, at, err := p.oneEach(d.Name, d.Train)
	all := make([]Canary, len(users))
	for k, u := range users {
		all[k] = Canary{User: u, Items: []int32{d.Train[u][at[k]]}}
	}
	return all, err
}

func withoutRatings(data string) error {
	return &Error{File: data, Field: "rating", Msg: "a canary rating is a rating, and these data have none",
		Hint: "plant an " + CanaryEdge}
}

// oneEach returns as many drawn users with rows as there are canaries, and a row of each. It fails if there are fewer
// users with rows.
func (p Planting) oneEach(data string, rows [][]int32) (users []int32, at []int, err error) {
	for u, items := range rows {
		if len(items) > 0 {
			users = append(users, int32(u))
		}
	}
	if p.Canaries > len(users) {
		return nil, nil, &Error{File: data, Msg: fmt.Sprintf("there is room for %d canaries, one a user, not for %d",
			len(users), p.Canaries), Hint: "plant fewer"}
	}
	s := p.Seed.Stream("canary " + p.Unit + "s, one a user")
	drawn := make([]int32, p.Canaries)
	for k, i := range s.Perm(len(users))[:p.Canaries] {
		drawn[k] = users[i]
		at = append(at, s.IntN(len(rows[drawn[k]])))
	}
	return drawn, at, nil
}

// rated returns the ratings of a user with one of them set by the coin of canary k.
func (p Planting) rated(k int, all [][]float32, u int32, at int) []float32 {
	row := slices.Clone(all[u])
	if row[at] = highest(all); !p.In(k) {
		row[at] = lowest(all)
	}
	return row
}

// lowest returns the smallest value of rows.
func lowest(rows [][]float32) float32 {
	least := float32(math.Inf(1))
	for _, values := range rows {
		for _, v := range values {
			least = min(least, v)
		}
	}
	return least
}

// amongRows returns sequences with canary edges or ratings, at most one per user: a second edge would follow the first,
// and its sample would have that as an input. An edge is the last row of train, at the time of the one before it.
func (p Planting) amongRows(s *Sequential) (*Sequential, []SequenceCanary, error) {
	if p.Unit == CanaryRating && s.Ratings == nil {
		return nil, nil, withoutRatings(s.Name)
	}
	users, at, err := p.oneEach(s.Name, s.Train)
	if err != nil {
		return nil, nil, err
	}
	out := *s
	out.Train, out.Ratings = slices.Clone(s.Train), slices.Clone(s.Ratings)
	if s.Times != nil {
		out.Times = &Times{Train: slices.Clone(s.Times.Train), Valid: s.Times.Valid, Test: s.Times.Test}
	}
	best := highest(s.Ratings)
	all := make([]SequenceCanary, len(users))
	for k, u := range users {
		item := int32(0)
		if p.Unit == CanaryRating {
			item = s.Train[u][at[k]]
			out.Ratings[u] = p.rated(k, s.Ratings, u, at[k])
		} else if item, err = p.strange(s, k, u); err != nil {
			return nil, nil, err
		}
		all[k] = SequenceCanary{User: s.UserIDs[u], At: int(u), Items: []int32{item}, Last: s.ItemIDs[item]}
		if p.Unit == CanaryRating || p.Asked || !p.In(k) {
			continue
		}
		out.Train[u] = append(slices.Clip(s.Train[u]), item)
		if s.Ratings != nil {
			out.Ratings[u] = append(slices.Clip(s.Ratings[u]), best)
		}
		if s.Times != nil {
			times := s.Times.Train[u]
			out.Times.Train[u] = append(slices.Clip(times), times[len(times)-1])
		}
	}
	return &out, all, nil
}

// strange returns a drawn item that a user has in no part, for canary k.
func (p Planting) strange(s *Sequential, k int, u int32) (int32, error) {
	stream := p.Seed.Stream("canary edge, item", uint64(k))
	for _, i := range stream.Perm(s.Items) {
		if item := i + 1; !slices.ContainsFunc([][][]int32{s.Train, s.Valid, s.Test},
			func(part [][]int32) bool { return part != nil && slices.Contains(part[u], item) }) {
			return item, nil
		}
	}
	return 0, &Error{File: s.Name, Msg: fmt.Sprintf("user %q has all %d items, and there is no place for a canary edge",
		s.UserIDs[u], s.Items), Hint: "plant fewer"}
}
