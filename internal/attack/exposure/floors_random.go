package exposure

import (
	"context"

	"privrec/internal/dataset/slate"
	"privrec/internal/rng"
)

// Random answers each pair with uniformly random orders of the items.
type Random struct {
	vocab, lists int
	stream       rng.Stream
}

// NewRandom makes a floor with one random list. Its guesses for a row depend only on the seed and the row's
// number, and a shorter list is the beginning of a longer one.
func NewRandom(vocab int, seed rng.Seed) *Random { return NewRandomLists(vocab, 1, seed) }

// NewRandomLists makes a floor with independent random lists, which may name the same items.
func NewRandomLists(vocab, lists int, seed rng.Seed) *Random {
	return &Random{vocab: vocab, lists: max(lists, 1), stream: seed.Stream("exposure random floor")}
}

// Lists returns the number of independent lists.
func (r *Random) Lists() int { return r.lists }

// Rank implements [Ranker].
func (r *Random) Rank(ctx context.Context, p *slate.Pairs, rows []int32, depth int, candidates func(row int32) []int32, visit func(row int32, lists [][]int32) error) error {
	return blocks(ctx, p, rows, depth, r.lists, func(row int32, lists [][]int32) error {
		n := max(0, r.vocab-int(slate.FirstItem))
		var among []int32
		if candidates != nil {
			among = candidates(row)
			n = len(among)
			for _, v := range among {
				if v < slate.FirstItem || int(v) >= r.vocab {
					return notAnItem(row, v, r.vocab)
				}
			}
		}
		moved := make(map[int]int, min(depth, n)) // Fisher-Yates from the front; only moved places are stored
		for j := range lists {
			clear(moved)
			s := r.stream.Sub(uint64(row), uint64(j))
			for i := range min(depth, n) {
				k := i + s.IntN(n-i)
				v, ok := moved[k]
				if !ok {
					v = k
				}
				if w, ok := moved[i]; ok {
					moved[k] = w
				} else {
					moved[k] = i
				}
				if among == nil {
					lists[j] = append(lists[j], slate.FirstItem+int32(v))
				} else {
					lists[j] = append(lists[j], among[v])
				}
			}
		}
		return nil
	}, visit)
}
