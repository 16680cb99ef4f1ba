package auditing

import (
	"context"
	"math"

	"privrec/internal/attack/membership"
	"privrec/internal/tensor"
)

// columns returns for every canary the standing of its item among all items, by the cosine with the sum of the user's
// other items, each scaled to length 1. An item is represented by its scores for all other users, so nothing comes from
// what the canary's own user is shown.
func (w *work) columns(ctx context.Context, s *subject, dir string) ([]float64, error) {
	var users []string
	number := map[int]int{} // of a user among those asked for, by number in the data
	for u, rows := range s.rows.Train {
		if len(rows) > 0 {
			number[u] = len(users)
			users = append(users, s.rows.UserIDs[u])
		}
	}
	lists, err := w.ask(ctx, dir, "", users, s.rows.Items)
	if err != nil {
		return nil, err
	}
	item := make(map[string]int, s.rows.Items)
	for i, name := range s.rows.ItemIDs[1:] {
		item[name] = i
	}
	all := make([][]float64, s.rows.Items)
	for i := range all {
		all[i] = make([]float64, len(users))
	}
	for k, l := range lists {
		for _, x := range l.Items {
			all[item[x.Item]][k] = x.Score
		}
	}
	out := make([]float64, len(s.lines))
	tensor.Parallel(len(out), 4, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			c := s.lines[k]
			out[k] = beside(all, number[c.At], s.rows.Train[c.At], c.Items[0])
		}
	})
	return out, nil
}

// beside returns the standing of an item among all items by the cosine with the sum of others, each scaled to length 1.
// Column own of the items' vectors counts as 0. Items have ids from 1.
func beside(all [][]float64, own int, others []int32, at int32) float64 {
	length := make([]float64, len(all))
	for i, x := range all {
		n := 0.0
		for j, v := range x {
			if j != own {
				n += v * v
			}
		}
		length[i] = math.Sqrt(n)
	}
	sum := make([]float64, len(all[0]))
	for _, i := range others {
		if n := length[i-1]; i != at && n > 0 {
			for j, v := range all[i-1] {
				sum[j] += v / n
			}
		}
	}
	sum[own] = 0
	cosines := make([]float64, len(all)) // but for the length of the sum, which is the same for all
	for i, x := range all {
		if length[i] == 0 {
			continue
		}
		for j, v := range sum {
			cosines[i] += v * x[j] / length[i]
		}
	}
	return membership.Standard(cosines, int(at-1))
}
