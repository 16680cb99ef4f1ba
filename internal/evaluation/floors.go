package evaluation

import (
	"context"

	"privrec/internal/metrics"
	"privrec/internal/metrics/definition"
	"privrec/internal/rng"
)

// draws is the number of random lists for each user in the random floor, and seed is their seed.
const (
	draws = 10
	seed  = 1
)

// floors measures popular and random items in place of the lists, for the users who have one and with as many items.
// own holds the items of each user's training rows, which are left out. Random lists are drawn, since definitions treat
// short lists differently and no expectation fits all of them. Both results are values by name of metric.
func floors(ctx context.Context, d definition.Definition, in *definition.Input, own []map[int32]bool,
	cutoffs []int) (popular, random map[string]float64, err error) {
	rank := metrics.RanksByCount(in.Train.By)
	order := make([]int32, len(rank))
	for item, r := range rank {
		order[r-1] = int32(item)
	}
	p := d.Measure(instead(in, func(u, n int, list []definition.Entry) []definition.Entry {
		for _, item := range order {
			if len(list) == n {
				break
			}
			if !own[u][item] {
				list = append(list, definition.Entry{Item: item, Rank: int64(len(list) + 1)})
			}
		}
		return list
	}), cutoffs)
	sums := map[string]float64{}
	for draw := range draws {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		r := d.Measure(instead(in, func(u, n int, list []definition.Entry) []definition.Entry {
			s := rng.Seed(seed).Stream("evaluation/random lists", uint64(draw), uint64(u))
			return pick(&s, own[u], len(in.Items), n, list)
		}), cutoffs)
		for _, v := range r.Values {
			sums[v.Name] += v.Value / draws
		}
	}
	popular = map[string]float64{}
	for _, v := range p.Values {
		popular[v.Name] = v.Value
	}
	return popular, sums, nil
}

// instead returns the input with other lists of the same lengths, in order of rank.
func instead(in *definition.Input, of func(u, n int, list []definition.Entry) []definition.Entry) *definition.Input {
	out := *in
	out.Ranked, out.Scored = true, false
	out.Users = make([]definition.User, len(in.Users))
	for u, user := range in.Users {
		out.Users[u].Truth = user.Truth
		if n := len(user.List); n > 0 {
			out.Users[u].List = of(u, n, make([]definition.Entry, 0, n))
		}
	}
	return &out
}

// pick appends n distinct random items that are not in own to a list, or all of them if there are fewer.
func pick(s *rng.Stream, own map[int32]bool, items, n int, list []definition.Entry) []definition.Entry {
	add := func(item int32) { list = append(list, definition.Entry{Item: item, Rank: int64(len(list) + 1)}) }
	if 2*(n+len(own)) < items { // most draws are new
		drawn := make(map[int32]bool, n)
		for len(list) < n {
			if item := int32(s.IntN(items)); !own[item] && !drawn[item] {
				drawn[item] = true
				add(item)
			}
		}
		return list
	}
	for _, item := range s.Perm(items) {
		if len(list) == n {
			break
		}
		if !own[item] {
			add(item)
		}
	}
	return list
}
