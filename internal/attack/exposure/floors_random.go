package exposure

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset/slate"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Random answers each pair with uniformly random orders of the items.
type Random struct {
	vocab, lists int
	stream       rng.Stream
}

// NewRandom returns a floor with one random list. Its guesses for a row depend only on the seed and the row's number,
// and a shorter list is the beginning of a longer one.
func NewRandom(vocab int, seed rng.Seed) *Random { return NewRandomLists(vocab, 1, seed) }

// NewRandomLists returns a floor with independent random lists, which may name the same items.
func NewRandomLists(vocab, lists int, seed rng.Seed) *Random {
	return &Random{vocab: vocab, lists: max(lists, 1), stream: seed.Stream("exposure random floor")}
}

// Lists returns the number of independent lists.
func (r *Random) Lists() int { return r.lists }

// Rank implements [Ranker].
func (r *Random) Rank(ctx context.Context, p *slate.Pairs, rows []int32, depth int, candidates func(row int32) []int32,
	visit func(row int32, lists [][]int32) error) error {
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

const (
	blockRows = 512 // rows ranked before they are visited: what bounds memory
	unitRows  = 4   // rows a parallel unit ranks
)

// blocks ranks rows (nil: all) block by block, several rows at once, and visits them in order. It calls rank from
// several goroutines to fill the given empty lists; the result of rank must depend only on the row.
func blocks(ctx context.Context, p *slate.Pairs, rows []int32, depth, lists int,
	rank func(row int32, lists [][]int32) error, visit func(row int32, lists [][]int32) error) error {
	if err := checkRank(p, rows, depth); err != nil {
		return err
	}
	n := len(rows)
	at := func(i int) int32 { return rows[i] }
	if rows == nil {
		n, at = p.Len(), func(i int) int32 { return int32(i) }
	}
	size := min(n, blockRows)
	buffer, faults := make([][]int32, size*lists), make([]error, size)
	for lo := 0; lo < n; lo += size {
		if ctx.Err() != nil {
			return fmt.Errorf("ranking slates: after %d of %d: %w", lo, n, context.Cause(ctx))
		}
		hi := min(lo+size, n)
		tensor.Parallel(hi-lo, unitRows, func(_, from, to int) {
			for i := from; i < to; i++ {
				own := buffer[i*lists : (i+1)*lists]
				for j := range own {
					own[j] = own[j][:0]
				}
				faults[i] = rank(at(lo+i), own)
			}
		})
		for i := range hi - lo {
			if faults[i] != nil {
				return faults[i]
			}
			if err := visit(at(lo+i), buffer[i*lists:(i+1)*lists:(i+1)*lists]); err != nil {
				return err
			}
		}
	}
	return nil
}

// deal distributes the items of one list over the lists: item q (from 0) goes to place q/len(lists) of list q mod
// len(lists). All lists together hold the same guesses as the one.
func deal(lists [][]int32, one []int32) {
	for j := range lists {
		lists[j] = lists[j][:0]
	}
	for q, v := range one {
		lists[q%len(lists)] = append(lists[q%len(lists)], v)
	}
}

// merge appends to one the first depth distinct items of several lists, by rank, then by list: the guesses that the
// lists make with the budget of one list.
func merge(one []int32, lists [][]int32, depth int) []int32 {
	for r, more := 0, true; more; r++ {
		more = false
		for _, list := range lists {
			if r >= len(list) {
				continue
			}
			more = true
			if v := list[r]; len(one) < depth && !slices.Contains(one, v) {
				one = append(one, v)
			}
		}
		more = more && len(one) < depth
	}
	return one
}

// dealt is a ranker whose single list is distributed over several lists.
type dealt struct {
	Ranker
	lists int
}

// Deal returns a ranker that distributes the single list of r over disjoint lists, and so makes as many guesses as a
// ranker with that many lists: item q (from 0) of the list is at place q/lists of list q mod lists. It fails on a
// ranker with several lists and on fewer than one list.
func Deal(r Ranker, lists int) (Ranker, error) {
	if r.Lists() != 1 || lists < 1 {
		return nil, fmt.Errorf("dealing %d lists out to %d: want one list and at least one", r.Lists(), lists)
	}
	return dealt{r, lists}, nil
}

// Lists implements [Ranker].
func (d dealt) Lists() int { return d.lists }

// Rank implements [Ranker].
func (d dealt) Rank(ctx context.Context, p *slate.Pairs, rows []int32, depth int, candidates func(row int32) []int32,
	visit func(row int32, lists [][]int32) error) error {
	out := make([][]int32, d.lists)
	return d.Ranker.Rank(ctx, p, rows, depth*d.lists, candidates, func(row int32, lists [][]int32) error {
		deal(out, lists[0])
		return visit(row, out)
	})
}
