package definition

import (
	"cmp"
	"slices"
	"strings"
)

// byRank returns a list ordered by rank; without ranks by score, largest first; without either in the order of the
// file. Equal scores keep the order of the file. Source: RecBole, LensKit and privrec all take lists in this order.
func byRank(in *Input, list []Entry) []Entry {
	list = slices.Clone(list)
	switch {
	case in.Ranked:
		slices.SortStableFunc(list, func(a, b Entry) int { return cmp.Compare(a.Rank, b.Rank) })
	case in.Scored:
		slices.SortStableFunc(list, byScore)
	}
	return list
}

// byScoreFirst returns a list ordered by score, largest first, whatever ranks it has; without scores it is ordered as
// by byRank. Equal scores keep the order of the file. Source: elliot/recommender/generic/Proxy/Proxy.py,
// read_recommendations, which sorts by prediction with Python's stable sort.
func byScoreFirst(in *Input, list []Entry) []Entry {
	if !in.Scored {
		return byRank(in, list)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, byScore)
	return list
}

// byScore compares entries for a sort with the larger score first.
func byScore(a, b Entry) int { return cmp.Compare(b.Score, a.Score) }

// byScoreAndName returns a list ordered by score, largest first. Items of equal score are ordered by their ids in
// descending order of bytes. A score is a 32-bit float here, so scores that differ by less are equal. Without scores
// the order is that of byRank. Source: trec_eval 9.0.8, form_res_rels.c, comp_sim_docno, and struct TEXT_RESULTS, whose
// sim is a float.
func byScoreAndName(in *Input, list []Entry) []Entry {
	if !in.Scored {
		return byRank(in, list)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Entry) int {
		if c := cmp.Compare(float32(b.Score), float32(a.Score)); c != 0 {
			return c
		}
		return strings.Compare(in.Items[b.Item], in.Items[a.Item])
	})
	return list
}

// byQuicksort returns a list ordered by score, largest first. Of a repeated item it keeps the first place and the last
// score, as a dictionary does. Equal scores stand in the order in which numba's quicksort leaves them, which is not
// stable from 16 items on; ranx sorts twice. Without scores the order is that of byRank. Source: ranx 0.3.21,
// data_structures/run.py, Run.from_df and make_comparable, and data_structures/common.py, sort_dict_by_value; numba
// 0.68.1, misc/quicksort.py.
func byQuicksort(in *Input, list []Entry) []Entry {
	if !in.Scored {
		return lastOf(byRank(in, list))
	}
	list = lastOf(list)
	for range 2 { // Run sorts when it is made, and make_comparable sorts again
		out := make([]Entry, 0, len(list))
		for _, i := range quicksort(list) {
			out = append(out, list[i])
		}
		list = out
	}
	return list
}

// lastOf returns one entry of every item, at its first place and with its last score.
func lastOf(list []Entry) []Entry {
	at := make(map[int32]int, len(list))
	var out []Entry
	for _, e := range list {
		if i, seen := at[e.Item]; seen {
			out[i].Score = e.Score
			continue
		}
		at[e.Item] = len(out)
		out = append(out, e)
	}
	return out
}

// small is the length under which numba sorts by insertion.
const small = 15

// quicksort returns the order of a list by negated score, as numba's argsort finds it.
func quicksort(list []Entry) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	less := func(a, b int) bool { return -list[a].Score < -list[b].Score }
	type part struct{ low, high int }
	todo := []part{{0, len(list) - 1}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		low, high := p.low, p.high
		for high-low >= small {
			i := partition(order, low, high, less)
			if high-i > i-low {
				if high > i {
					todo = append(todo, part{i + 1, high})
				}
				high = i - 1
			} else {
				if i > low {
					todo = append(todo, part{low, i - 1})
				}
				low = i + 1
			}
		}
		for i := low + 1; i <= high; i++ {
			for j := i; j > low && less(order[j], order[j-1]); j-- {
				order[j], order[j-1] = order[j-1], order[j]
			}
		}
	}
	return order
}

// partition splits order[low:high+1] around the median of its first, middle and last entry, and returns where that
// stands.
func partition(order []int, low, high int, less func(a, b int) bool) int {
	mid := (low + high) >> 1
	swap := func(a, b int) { order[a], order[b] = order[b], order[a] }
	if less(order[mid], order[low]) {
		swap(low, mid)
	}
	if less(order[high], order[mid]) {
		swap(high, mid)
	}
	if less(order[mid], order[low]) {
		swap(low, mid)
	}
	pivot := order[mid]
	swap(high, mid)
	i, j := low, high-1
	for {
		for i < high && less(order[i], pivot) {
			i++
		}
		for j >= low && less(pivot, order[j]) {
			j--
		}
		if i >= j {
			break
		}
		swap(i, j)
		i, j = i+1, j-1
	}
	swap(i, high)
	return i
}
