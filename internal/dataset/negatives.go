package dataset

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"privrec/internal/rng"
)

// Negatives draws items that a user does not have, uniformly or by popularity. It does not change after it is made, so
// goroutines may share it, each with its own stream.
type Negatives struct {
	items int
	seen  [][]int32 // per user: distinct items, ascending
	cum   []float64 // nil for uniform; cum[i] is the weight of items 1..i, cum[0] = 0
}

// NewNegatives returns a sampler for the sequences (item ids 1..items) of each user in train. It does not draw items in
// alsoMet either, further sequences such as those of test. power is the exponent of popularity: 0 draws uniformly, 1 in
// proportion to the number of occurrences in train, 0.75 as word2vec does. With power above 0, items that never occur
// in train have weight 0.
func NewNegatives(items int, power float64, train [][]int32, alsoMet ...[][]int32) (*Negatives, error) {
	if items < 1 || power < 0 || math.IsNaN(power) || math.IsInf(power, 0) {
		return nil, fmt.Errorf("dataset: negatives need items >= 1 and a finite power >= 0, got %d and %v", items,
			power)
	}
	n := &Negatives{items: items}
	counts := make([]float64, items+1)
	for k, seqs := range append([][][]int32{train}, alsoMet...) {
		for u, seq := range seqs {
			if u >= len(n.seen) {
				n.seen = append(n.seen, nil)
			}
			n.seen[u] = append(n.seen[u], seq...)
			for _, i := range seq {
				if i < 1 || int(i) > items {
					return nil, fmt.Errorf("dataset: user %d has item %d, outside 1..%d", u, i, items)
				}
				if k == 0 {
					counts[i]++
				}
			}
		}
	}
	for u := range n.seen {
		slices.Sort(n.seen[u])
		n.seen[u] = slices.Compact(n.seen[u])
	}
	if power > 0 {
		n.cum = make([]float64, items+1)
		for i := 1; i <= items; i++ {
			w := 0.0
			if counts[i] > 0 {
				w = math.Pow(counts[i], power)
			}
			n.cum[i] = n.cum[i-1] + w
		}
		if n.cum[items] == 0 {
			return nil, fmt.Errorf("dataset: negatives by popularity need at least one occurrence")
		}
	}
	return n, nil
}

// Seen reports whether user u has the item. A user without a sequence has none.
func (n *Negatives) Seen(u int, item int32) bool {
	_, ok := slices.BinarySearch(n.met(u), item)
	return ok
}

func (n *Negatives) met(u int) []int32 {
	if uint(u) >= uint(len(n.seen)) {
		return nil
	}
	return n.seen[u]
}

// Draw returns an item that user u does not have. Draws are exact: rejection first, and after 32 draws in a row of the
// user's items, one draw over the remaining items. It fails for a user who has every item that can be drawn.
func (n *Negatives) Draw(u int, s *rng.Stream) (int32, error) {
	for range 32 {
		if i := n.any(s); !n.Seen(u, i) {
			return i, nil
		}
	}
	var unmet []int32
	var cum []float64
	total := 0.0
	k, seen := 0, n.met(u)
	for i := int32(1); int(i) <= n.items; i++ {
		if k < len(seen) && seen[k] == i {
			k++
			continue
		}
		w := 1.0
		if n.cum != nil {
			w = n.cum[i] - n.cum[i-1]
		}
		if w > 0 {
			total += w
			unmet, cum = append(unmet, i), append(cum, total)
		}
	}
	if len(unmet) == 0 {
		return 0, fmt.Errorf("dataset: user %d has every item, no negative can be drawn", u)
	}
	at := s.Float64() * total
	return unmet[min(sort.Search(len(cum), func(j int) bool { return cum[j] > at }), len(unmet)-1)], nil
}

// any draws an item, whether the user has it or not.
func (n *Negatives) any(s *rng.Stream) int32 {
	if n.cum == nil {
		return int32(1 + s.IntN(n.items))
	}
	at := s.Float64() * n.cum[n.items]
	return int32(min(sort.Search(n.items, func(j int) bool { return n.cum[j+1] > at })+1, n.items))
}
