package definition

import (
	"maps"
	"slices"
)

// frequencies returns how often each item is among the first k of the averaged users' lists.
func (r *run) frequencies(k int) map[int32]int64 {
	counts := map[int32]int64{}
	for _, s := range r.averaged {
		for _, i := range s.list[:min(k, len(s.list))] {
			counts[i]++
		}
	}
	return counts
}

// gini returns sum_j (2j-n-1) c_j / (n sum c) over n items, c ascending: the given counts, and zeros for the other
// items. It is 0 if all counts are equal, and for no counts.
func gini[K comparable](counts map[K]int64, n int) float64 {
	return share(tilt(counts, n), float64(n)*float64(total(counts)))
}

// tilt returns sum_j (2j-n-1) c_j over n items, c ascending.
func tilt[K comparable](counts map[K]int64, n int) float64 {
	c := slices.Sorted(maps.Values(counts))
	sum := 0.0
	for j, x := range c {
		sum += float64(2*(n-len(c)+j+1)-n-1) * float64(x)
	}
	return sum
}

func total[K comparable](counts map[K]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}
