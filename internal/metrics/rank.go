package metrics

import (
	"fmt"
	"slices"
)

// RanksByCount returns the rank out[j] of every item j by its count, most frequent first, equal counts by index.
func RanksByCount(counts []int64) []int32 {
	order := make([]int32, len(counts))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		switch {
		case counts[a] > counts[b]:
			return -1
		case counts[a] < counts[b]:
			return 1
		}
		return 0
	})
	ranks := make([]int32, len(counts))
	for position, item := range order {
		ranks[item] = int32(position) + 1
	}
	return ranks
}

// beyond is a rank below the end of every list.
const beyond = 1 << 30

// RanksIn returns the ranks of items in a list. Each item that the list lacks gets a rank of its own below its end.
func RanksIn(list, items []int32) []int32 {
	at := make(map[int32]int32, len(list))
	for k, i := range list {
		at[i] = int32(k + 1)
	}
	out := make([]int32, len(items))
	for j, i := range items {
		if out[j] = at[i]; out[j] == 0 {
			out[j] = beyond + int32(j)
		}
	}
	return out
}

// PopularityRanks returns the popularity floor: the rank of each target if items are ordered by counts, their number of
// occurrences in the training data, the same for every sample. A target is an index into counts.
func PopularityRanks(counts []int64, targets []int32) ([]int32, error) {
	all := RanksByCount(counts)
	ranks := make([]int32, len(targets))
	for i, y := range targets {
		if y < 0 || int(y) >= len(all) {
			return nil, fmt.Errorf("popularity floor: target %d of sample %d is outside the %d items", y, i, len(all))
		}
		ranks[i] = all[y]
	}
	return ranks, nil
}
