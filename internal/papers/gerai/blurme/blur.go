package blurme

import (
	"cmp"
	"math"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// The ways to choose items from a list.
const (
	Greedy = "greedy" // in the order of the list
	Random = "random" // uniformly
	Ranked = "ranked" // in proportion to the place, counted from the end of the list
)

// added holds the items that users add to their rows.
type added struct {
	items [][]int32 // A_u, in the order in which they were chosen
	short int       // users whose list had fewer items than they were to add
}

// add returns the items that every user adds. share is p.
func add(d *dataset.Interactions, class *dataset.Column, lists [][]int32, share float64, choose string,
	seed rng.Seed) *added {
	a := &added{items: make([][]int32, d.Users)}
	for u, items := range d.Train {
		c := other(class.Codes[u], len(lists), seed.Stream("blurme.class", uint64(u)))
		var free []int32 // items of the list that the user does not have, in its order
		var weight []float64
		for r, i := range lists[c] {
			if _, has := slices.BinarySearch(items, i); !has {
				free, weight = append(free, i), append(weight, float64(len(lists[c])-r))
			}
		}
		switch choose {
		case Random:
			draw := seed.Stream("blurme.items", uint64(u))
			draw.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
		case Ranked:
			free = inProportion(free, weight, seed.Stream("blurme.items", uint64(u)))
		}
		n := number(share, len(items))
		if len(free) < n {
			n = len(free)
			a.short++
		}
		a.items[u] = free[:n:n]
	}
	return a
}

// number returns the share of n rows, rounded up. It treats a share as the decimal fraction that was written: a tenth
// of 70 rows is 7, although binary arithmetic gives slightly more.
func number(share float64, n int) int { return int(math.Ceil(share*float64(n) - 1e-9)) }

// other returns a random class other than c.
func other(c int32, classes int, draw rng.Stream) int32 {
	k := int32(draw.IntN(classes - 1))
	if k >= c {
		k++
	}
	return k
}

// inProportion returns items in a random order by draws without replacement, in proportion to weights: items with
// smaller exponential numbers of these rates come first.
func inProportion(items []int32, weight []float64, draw rng.Stream) []int32 {
	type arrival struct {
		item int32
		at   float64
	}
	all := make([]arrival, len(items))
	for k, i := range items {
		all[k] = arrival{i, -math.Log(1-draw.Float64()) / weight[k]}
	}
	slices.SortStableFunc(all, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	out := make([]int32, len(all))
	for k, x := range all {
		out[k] = x.item
	}
	return out
}

// Counts holds the effects of the additions on the rows.
type Counts struct {
	Rows  int `json:"added_rows"`  // in training
	Users int `json:"added_users"` // with an added row
	Short int `json:"short_users"` // whose list had fewer items than they were to add
	Test  int `json:"added_test"`  // added rows that were test rows, which are test rows no more
	Valid int `json:"added_valid"` // the same of validation rows
}

// blur returns the rows with the users' additions, and without these pairs in test and validation. An added rating is
// the item's mean in training.
func blur(d *dataset.Interactions, a *added) (*dataset.Interactions, Counts) {
	mean := means(d)
	x, n := *d, Counts{Short: a.short}
	x.Train, x.Ratings, x.Test = make([][]int32, d.Users), make([][]float32, d.Users), make([][]int32, d.Users)
	if d.Valid != nil {
		x.Valid = make([][]int32, d.Users)
	}
	for u, items := range a.items {
		n.Rows += len(items)
		if len(items) > 0 {
			n.Users++
		}
		more := slices.Sorted(slices.Values(items))
		x.Train[u], x.Ratings[u] = merge(d.Train[u], d.Ratings[u], more, mean)
		x.Test[u] = without(d.Test[u], more, &n.Test)
		if d.Valid != nil {
			x.Valid[u] = without(d.Valid[u], more, &n.Valid)
		}
	}
	return &x, n
}

// means returns every item's mean rating in training, 0 for an item without any.
func means(d *dataset.Interactions) []float32 {
	sum, count := make([]float64, d.Items), make([]float64, d.Items)
	for u, items := range d.Train {
		for k, i := range items {
			sum[i] += float64(d.Ratings[u][k])
			count[i]++
		}
	}
	mean := make([]float32, d.Items)
	for i := range mean {
		mean[i] = float32(sum[i] / max(1, count[i]))
	}
	return mean
}

// merge returns the union of two ascending lists without a common item, with ratings.
func merge(items []int32, ratings []float32, more []int32, mean []float32) ([]int32, []float32) {
	out, values := make([]int32, 0, len(items)+len(more)), make([]float32, 0, len(items)+len(more))
	for k, i := range items {
		for len(more) > 0 && more[0] < i {
			out, values, more = append(out, more[0]), append(values, mean[more[0]]), more[1:]
		}
		out, values = append(out, i), append(values, ratings[k])
	}
	for _, i := range more {
		out, values = append(out, i), append(values, mean[i])
	}
	return out, values
}

// without returns the items that are not in others, both ascending. It counts those left out.
func without(items, others []int32, count *int) []int32 {
	out := make([]int32, 0, len(items))
	for _, i := range items {
		if _, is := slices.BinarySearch(others, i); is {
			*count++
		} else {
			out = append(out, i)
		}
	}
	return out
}

// has reports whether a user added an item.
func (a *added) has(u int, i int32) bool { return slices.Contains(a.items[u], i) }
