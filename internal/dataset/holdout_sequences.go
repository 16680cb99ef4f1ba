package dataset

import "slices"

// Sequences returns sequences without the held-out users and rows. Training rows are drawn as Parts draws them. Users
// and items keep their numbers.
func (h HoldOut) Sequences(s *Sequential) *Sequential {
	users := h.UsersHeld(s.UserIDs)
	lots, drawn := h.rows()
	out := s.without(func(u int) func(row int) bool {
		numbers := lots.Rows(s.UserIDs[u], len(s.Train[u]), func(k int) string { return s.ItemIDs[s.Train[u][k]] })
		return func(row int) bool { return drawn(numbers[row]) || users[u] }
	})
	for _, part := range []*[][]int32{&out.Valid, &out.Test} {
		*part = slices.Clone(*part)
		for u := range *part {
			if users[u] {
				(*part)[u] = nil
			}
		}
	}
	if t := out.Times; t != nil {
		for _, part := range []*[][]int64{&t.Valid, &t.Test} {
			*part = slices.Clone(*part)
			for u := range *part {
				if users[u] {
					(*part)[u] = nil
				}
			}
		}
	}
	return out
}

// WithoutLast returns sequences that lack the last training row of every user with at least two.
func (s *Sequential) WithoutLast() *Sequential {
	return s.without(func(u int) func(row int) bool {
		return func(row int) bool { return row > 0 && row == len(s.Train[u])-1 }
	})
}

// without returns sequences that lack the training rows for which drop is true. drop is called for every user, and its
// result for that user's rows in order.
func (s *Sequential) without(drop func(u int) func(row int) bool) *Sequential {
	out := *s
	out.Train = make([][]int32, len(s.Train))
	if s.Ratings != nil {
		out.Ratings = make([][]float32, len(s.Ratings))
	}
	if s.Times != nil {
		t := *s.Times
		t.Train = make([][]int64, len(s.Times.Train))
		out.Times = &t
	}
	for u, rows := range s.Train {
		dropped := drop(u)
		for k, item := range rows {
			if dropped(k) {
				continue
			}
			out.Train[u] = append(out.Train[u], item)
			if s.Ratings != nil {
				out.Ratings[u] = append(out.Ratings[u], s.Ratings[u][k])
			}
			if s.Times != nil {
				out.Times.Train[u] = append(out.Times.Train[u], s.Times.Train[u][k])
			}
		}
	}
	return &out
}

// Pairs returns the pairs of users and items in sequences without their order, each once. Item i of the pairs is id i+1
// of the sequences.
func (s *Sequential) Pairs() *Interactions {
	part := func(lists [][]int32) [][]int32 {
		if lists == nil {
			return nil
		}
		out := make([][]int32, len(lists))
		for u, items := range lists {
			for _, item := range items {
				out[u] = append(out[u], item-1)
			}
			slices.Sort(out[u])
			out[u] = slices.Compact(out[u])
		}
		return out
	}
	return &Interactions{Name: s.Name, Recipe: s.Recipe, Users: s.Users, Items: s.Items, UserIDs: s.UserIDs,
		ItemIDs: s.ItemIDs[1:],
		Train:   part(s.Train), Valid: part(s.Valid), Test: part(s.Test), Features: s.Features, Ladder: s.Ladder,
		Source: s.Source}
}
