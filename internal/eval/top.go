package eval

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/tensor"
)

// Item is a recommended item with its score.
type Item struct {
	Index int32
	Score float64
}

// Indices returns the indices of items.
func Indices(items []Item) []int32 {
	indices := make([]int32, len(items))
	for k, x := range items {
		indices[k] = x.Index
	}
	return indices
}

// Top returns the k best items of every sample, best first, and among equal scores the lower index first. It returns
// fewer if exclusion leaves fewer. It fails if Options.Candidates is set.
func Top(ctx context.Context, s Scorer, samples []int32, k int, o Options) ([][]Item, error) {
	if k < 1 {
		return nil, fmt.Errorf("eval: top %d items, want at least 1", k)
	}
	if o.Candidates != nil {
		return nil, fmt.Errorf("eval: Candidates do not apply to the top items")
	}
	if sparse, ok := s.(Sparse); ok {
		if lists, ok, err := topSparse(ctx, sparse, samples, k, o); ok || err != nil {
			return lists, err
		}
	}
	lists := make([][]Item, len(samples))
	err := chunks(ctx, s, samples, o, func(i int, scores []tensor.Float) string {
		lists[i] = top(scores, k)
		return ""
	})
	if err != nil {
		return nil, err
	}
	return lists, nil
}

// top returns the k best items. It keeps the best so far in a heap, with the worst of them at its root. Items come in
// ascending order, so an item that only equals the root never enters. Once the heap is full, few items enter: eight at
// a time are compared with the root, and skipped together.
func top(scores []tensor.Float, k int) []Item {
	heap := make([]Item, 0, min(k, len(scores)))
	j := 0
	for ; j < len(scores) && len(heap) < cap(heap); j++ {
		if v := scores[j]; !excluded(v) {
			heap, _ = keep(heap, Item{int32(j), float64(v)})
		}
	}
	for j < len(scores) {
		root := tensor.Float(heap[0].Score)
		if v := scores[j:]; len(v) >= 8 && !(v[0] > root || v[1] > root || v[2] > root || v[3] > root ||
			v[4] > root || v[5] > root || v[6] > root || v[7] > root) {
			j += 8
			continue
		}
		for end := min(j+8, len(scores)); j < end; j++ {
			if v := float64(scores[j]); v > heap[0].Score {
				heap[0] = Item{int32(j), v}
				sink(heap)
			}
		}
	}
	slices.SortFunc(heap, best)
	return heap
}

// best compares items for a sort with the best first.
func best(a, b Item) int {
	if worse(b, a) {
		return -1
	}
	return 1
}

// worse reports whether a comes after b in a list: it has a lower score, or the same score and a higher index.
func worse(a, b Item) bool {
	return a.Score < b.Score || (a.Score == b.Score && a.Index > b.Index)
}

// sink restores the heap after its root was replaced.
func sink(heap []Item) {
	for p := 0; ; {
		c := 2*p + 1
		if c >= len(heap) {
			return
		}
		if c+1 < len(heap) && worse(heap[c+1], heap[c]) {
			c++
		}
		if !worse(heap[c], heap[p]) {
			return
		}
		heap[c], heap[p] = heap[p], heap[c]
		p = c
	}
}
