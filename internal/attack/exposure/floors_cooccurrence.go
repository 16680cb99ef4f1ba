package exposure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"privrec/internal/dataset/slate"
)

// shrink is added to the number of times an item is shown, so that one shown once does not decide.
const shrink = 5

// Cooccurrence scores item v for a slate s by counts of the training pairs alone:
//
//	score(v | s) = sum over places a of s of n(a, v) / (n(a) + 5)
//
// n(a, v) is how often v is clicked right before a slate shows a, repeats within a pair counted, and n(a) is
// how often a is shown. Apart from the 5, a term is L times the mean share of v among the clicks before a is
// shown. Items with equal scores are ranked by clicks, then in the order of the candidates or, without
// candidates, by token. Items that no training pair shows add nothing.
//
// This definition gives the reference scores for Zhihu to the digit. Plain counts, n(a, v) without a
// denominator, are within 0.01 of it.
type Cooccurrence struct {
	start   []int64 // per token, vocab+1: its clicked items are item[start:start+1]
	item    []int32
	weight  []float64 // n(a, v) / (n(a) + 5)
	clicked []int32
	popular *Fixed
	scratch sync.Pool // of *cooccurrenceScratch; what a scratch held before never shows
}

type cooccurrenceScratch struct {
	score   []float64 // per token, 0 between rows
	touched []int32
	top     []int32
}

// NewCooccurrence counts the training pairs. It takes 12 bytes of memory for each pair of items that occur
// together. It fails on a token outside the vocabulary.
func NewCooccurrence(train *slate.Pairs, vocab int) (*Cooccurrence, error) {
	shown, clicked, err := counts(train, vocab)
	if err != nil {
		return nil, fmt.Errorf("co-occurrence floor: %w", err)
	}
	popular, err := NewPopularity(train, vocab)
	if err != nil {
		return nil, err
	}
	c := &Cooccurrence{start: make([]int64, vocab+1), clicked: clicked, popular: popular}
	c.scratch.New = func() any { return &cooccurrenceScratch{score: make([]float64, vocab)} }

	// Pairs by the items they show: those of item a are pair[from[a]:from[a+1]].
	from, pair := make([]int64, vocab+1), []int32(nil)
	for a, n := range shown {
		from[a+1] = from[a] + int64(n)
	}
	pair = make([]int32, from[vocab])
	next := slices.Clone(from)
	for i, a := range train.Slates {
		if a >= slate.FirstItem {
			pair[next[a]] = int32(i / train.T)
			next[a]++
		}
	}
	together, seen := make([]int32, vocab), []int32(nil)
	for a := range vocab {
		seen = seen[:0]
		for _, i := range pair[from[a]:from[a+1]] {
			for _, v := range train.Behaviour(int(i)) {
				if v < slate.FirstItem {
					continue
				}
				if together[v] == 0 {
					seen = append(seen, v)
				}
				together[v]++
			}
		}
		slices.Sort(seen)
		for _, v := range seen {
			c.item = append(c.item, v)
			c.weight = append(c.weight, float64(together[v])/float64(shown[a]+shrink))
			together[v] = 0
		}
		c.start[a+1] = int64(len(c.item))
	}
	return c, nil
}

// Lists returns 1.
func (c *Cooccurrence) Lists() int { return 1 }

// Rank implements [Ranker].
func (c *Cooccurrence) Rank(ctx context.Context, p *slate.Pairs, rows []int32, depth int,
	candidates func(row int32) []int32, visit func(row int32, lists [][]int32) error) error {
	vocab := len(c.clicked)
	return blocks(ctx, p, rows, depth, 1, func(row int32, lists [][]int32) error {
		w := c.scratch.Get().(*cooccurrenceScratch)
		defer c.scratch.Put(w)
		for _, a := range p.Slate(int(row)) {
			if a < 0 || int(a) >= vocab {
				return fmt.Errorf("ranking slates: token %d of row %d is outside the vocabulary of %d", a, row, vocab)
			}
		}
		var among []int32
		if candidates != nil {
			among = candidates(row)
			for _, v := range among {
				if v < slate.FirstItem || int(v) >= vocab {
					return notAnItem(row, v, vocab)
				}
			}
		}
		c.add(w, p.Slate(int(row)))
		if candidates == nil {
			w.top = c.best(w, depth)
		} else {
			w.top = append(w.top[:0], among...)
			slices.SortStableFunc(w.top, func(a, b int32) int {
				return cmp.Or(cmp.Compare(w.score[b], w.score[a]), cmp.Compare(c.clicked[b], c.clicked[a]))
			})
		}
		lists[0] = append(lists[0], w.top[:min(depth, len(w.top))]...)
		for _, v := range w.touched {
			w.score[v] = 0
		}
		return nil
	}, visit)
}

// add scores the items that were clicked before the tokens of s.
func (c *Cooccurrence) add(w *cooccurrenceScratch, s []int32) {
	w.touched = w.touched[:0]
	for _, a := range s {
		lo, hi := c.start[a], c.start[a+1]
		weight := c.weight[lo:hi]
		for i, v := range c.item[lo:hi] {
			if w.score[v] == 0 {
				w.touched = append(w.touched, v)
			}
			w.score[v] += weight[i]
		}
	}
}

// best returns the depth best of all items: first those with a score, from a heap that has the worst kept item
// as its root, then the most clicked of the others.
func (c *Cooccurrence) best(w *cooccurrenceScratch, depth int) []int32 {
	order := func(a, b int32) int { // negative: a ranks above b
		return cmp.Or(cmp.Compare(w.score[b], w.score[a]), cmp.Compare(c.clicked[b], c.clicked[a]), cmp.Compare(a, b))
	}
	heap := w.top[:0]
	for _, v := range w.touched {
		switch {
		case len(heap) < depth:
			heap = append(heap, v)
			for i := len(heap) - 1; i > 0 && order(heap[(i-1)/2], heap[i]) < 0; i = (i - 1) / 2 {
				heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
			}
		case w.score[v] >= w.score[heap[0]] && order(v, heap[0]) < 0:
			heap[0] = v
			for i := 0; ; {
				worst := i
				for _, child := range [2]int{2*i + 1, 2*i + 2} {
					if child < len(heap) && order(heap[worst], heap[child]) < 0 {
						worst = child
					}
				}
				if worst == i {
					break
				}
				heap[i], heap[worst] = heap[worst], heap[i]
				i = worst
			}
		}
	}
	slices.SortFunc(heap, order)
	for _, v := range c.popular.order {
		if len(heap) >= depth {
			break
		}
		if w.score[v] == 0 {
			heap = append(heap, v)
		}
	}
	return heap
}
