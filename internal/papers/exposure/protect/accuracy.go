package protect

import (
	"math"
	"slices"

	"privrec/internal/dataset/slate"
)

// Accuracy returns the recommendation accuracy of slates (equation 18 of the paper): the
// share of their positions that hold an item which the user clicked in any of
// their slates, and the share of the distinct items of a slate, as the released program counts.
// Both are averaged over the pairs whose user's clicks are known, and NaN where there
// is none. Whether the user would have clicked an item that they were never shown is not
// known: it counts as not. Unknown items are never clicked, and one item together.
func Accuracy(set *slate.Set, p *slate.Pairs) (ofPositions, ofDistinct float64) {
	n := 0
	met := make([]int32, 0, p.T)
	for i, u := range p.Users {
		if u < 0 || int(u) >= len(set.Clicked) || set.Clicked[u] == nil {
			continue
		}
		hits, distinctHits := 0, 0
		met = met[:0]
		for _, item := range p.Slate(i) {
			_, clicked := slices.BinarySearch(set.Clicked[u], item)
			again := slices.Contains(met, item)
			if !again {
				met = append(met, item)
			}
			if clicked {
				hits++
				if !again {
					distinctHits++
				}
			}
		}
		n++
		ofPositions += float64(hits) / float64(p.T)
		ofDistinct += float64(distinctHits) / float64(len(met))
	}
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	return ofPositions / float64(n), ofDistinct / float64(n)
}
