package dpmf

import (
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// form describes one of the two methods.
type form struct {
	method   string  // in Table 2
	distance float64 // D, between two values of a cell
	cells    func(d *dataset.Sequential, items int, s rng.Stream) (*cells, error)
}

// The two methods.
var (
	explicit = form{"DPMF_exp", highest - lowest, rated}
	implicit = form{"DPMF_imp", 1, had}
)

// The range of ratings. It is public: data with other ratings are refused.
const (
	lowest  = 1
	highest = 5
)

// cells holds the cells with a value, by user and by item.
type cells struct {
	users, items side
}

// side holds the cells of every row of one side.
type side struct {
	start []int     // cells of row k are start[k]:start[k+1]
	other []int32   // row of the other side
	value []float64 // m
}

func (s *side) len() int { return len(s.start) - 1 }

// newCells returns the cells of users, sorted by item too.
func newCells(users side, items int) *cells {
	c := &cells{users: users, items: side{start: make([]int, items+1), other: make([]int32, len(users.other)),
		value: make([]float64, len(users.other))}}
	for _, i := range users.other {
		c.items.start[i+1]++
	}
	for i := range items {
		c.items.start[i+1] += c.items.start[i]
	}
	next := slices.Clone(c.items.start)
	for u := range users.len() {
		for k := users.start[u]; k < users.start[u+1]; k++ {
			at := next[users.other[k]]
			c.items.other[at], c.items.value[at] = int32(u), users.value[k]
			next[users.other[k]]++
		}
	}
	return c
}

// rated returns the training rows with their ratings as cells.
func rated(d *dataset.Sequential, items int, _ rng.Stream) (*cells, error) {
	if d.Ratings == nil {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"train dpmf-exp factors ratings, which recipe %q of %s does not keep", d.Recipe, d.Name),
			Fix: "train dpmf-imp takes data without ratings"}
	}
	s := side{start: []int{0}}
	for u, row := range d.Train {
		for k, item := range row {
			r := d.Ratings[u][k]
			if !(r >= lowest && r <= highest) {
				return nil, &dataset.Error{File: d.Name, Field: "rating",
					Msg: fmt.Sprintf("user %q rates item %q with %v, want %d to %d: the noise is for that range",
						d.UserIDs[u], d.ItemIDs[item], r, lowest, highest)}
			}
			s.other, s.value = append(s.other, item-1), append(s.value, float64(r))
		}
		s.start = append(s.start, len(s.other))
	}
	return newCells(s, items), nil
}

// had returns cells with 1 for each item that a user has, and 0 for as many other items, drawn uniformly from a stream
// for each user.
func had(d *dataset.Sequential, items int, draws rng.Stream) (*cells, error) {
	s := side{start: []int{0}}
	for u, row := range d.Train {
		have := slices.Clone(row)
		slices.Sort(have)
		if have = slices.Compact(have); len(have) >= items {
			return nil, &dataset.Error{File: d.Name,
				Msg: fmt.Sprintf("user %q has all %d items in train: there is no negative to draw", d.UserIDs[u],
					items)}
		}
		for _, item := range have {
			s.other, s.value = append(s.other, item-1), append(s.value, 1)
		}
		mine := draws.Sub(uint64(u))
		for range have {
			for {
				item := int32(mine.IntN(items))
				if _, has := slices.BinarySearch(have, item+1); !has {
					s.other, s.value = append(s.other, item), append(s.value, 0)
					break
				}
			}
		}
		s.start = append(s.start, len(s.other))
	}
	return newCells(s, items), nil
}
