package metrics

import (
	"fmt"
	"slices"
)

// Several lists for one sample, as the exposure attack gives them: one for each click it infers. A target counts
// wherever it is found, so only its best rank over the lists matters. Source: Xin et al., "On the User Behavior Leakage
// from Recommender System Exposure" (TOIS 2023), section 5.2, in the form of the authors' program; see
// [Metric.ListsDefinition].

// Lists measures samples that have several ranked lists of items each. It reuses memory between samples, so only one
// goroutine may use it. The zero value is ready.
type Lists struct {
	stamp []int32 // per item: the sample that saw it last
	now   int32
}

// BestRanks appends to dst, for each target, its best rank over the lists. It appends 0 if no list holds the target, or
// if the same target occurs earlier among the targets, so that a repeated target is found at most once. A negative
// target is never found.
func BestRanks(dst []int32, lists [][]int32, targets []int32) []int32 {
	for i, y := range targets {
		best := int32(0)
		if y >= 0 && !slices.Contains(targets[:i], y) {
			for _, list := range lists {
				reach := int32(len(list))
				if best > 0 {
					reach = min(reach, best-1)
				}
				for at, item := range list[:reach] {
					if item == y {
						best = int32(at) + 1
						break
					}
				}
			}
		}
		dst = append(dst, best)
	}
	return dst
}

// Distinct sets dst[r-1] to |U_r|, the number of distinct items in the top r of any list, for r = 1 to
// len(dst). Items are not negative.
func (s *Lists) Distinct(dst []int32, lists [][]int32) {
	if s.now++; s.now < 0 { // wrapped after 2^31 samples
		clear(s.stamp)
		s.now = 1
	}
	count := int32(0)
	for r := range dst {
		for _, list := range lists {
			if r >= len(list) {
				continue
			}
			item := int(list[r])
			if item >= len(s.stamp) {
				s.stamp = append(s.stamp, make([]int32, max(item+1, 2*len(s.stamp))-len(s.stamp))...)
			}
			if s.stamp[item] != s.now {
				s.stamp[item] = s.now
				count++
			}
		}
		dst[r] = count
	}
}

// OfLists returns the metric of one sample from the best ranks r of its targets over several lists, 0 for a
// target that no list holds. It is the mean over the targets of 1 (Recall), 1/log2(1+r) (NDCG, without an ideal
// DCG) or 1/r (MRR), each 0 for r > K. A sample without targets counts 0. OfLists panics for other kinds and
// for negative ranks.
func (m Metric) OfLists(ranks []int32) float64 {
	if len(ranks) == 0 {
		return 0
	}
	sum := 0.0
	for _, r := range ranks {
		if r < 0 {
			panic(fmt.Sprintf("metrics: %v of the best rank %d", m, r))
		}
		if r == 0 || int(r) > m.K {
			continue
		}
		best := m.Kind.measure().best
		if best == nil {
			panic("metrics: " + m.Kind.String() + " of several lists")
		}
		sum += best(int(r))
	}
	return sum / float64(len(ranks))
}

// ListsDefinition returns one line that describes the value of [Metric.OfLists].
func (m Metric) ListsDefinition() string {
	gain := m.Kind.measure().inLists
	if gain == "" {
		return m.String() + ": not defined for several lists"
	}
	return fmt.Sprintf("%v: mean over the n targets of %s, 0 when r > %d; r is the best rank over all lists, n is "+
		"not cut, there is no ideal DCG", m, gain, m.K)
}
