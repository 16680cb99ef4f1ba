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

// Top returns the k best items of every sample, best first, and of equal scores the lower index first. It
// returns fewer where exclusion leaves fewer. It fails where Options.Candidates is set.
func Top(ctx context.Context, s Scorer, samples []int32, k int, o Options) ([][]Item, error) {
	if k < 1 {
		return nil, fmt.Errorf("eval: top %d items, want at least 1", k)
	}
	if o.Candidates != nil {
		return nil, fmt.Errorf("eval: Candidates do not apply to the top items")
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

// top keeps the k best items so far in a heap, with the worst of them at its root. Items come in ascending order,
// so an item that only equals the root never enters.
func top(scores []tensor.Float, k int) []Item {
	heap := make([]Item, 0, min(k, len(scores)))
	for j, v := range scores {
		switch {
		case excluded(v):
		case len(heap) < cap(heap):
			heap = append(heap, Item{int32(j), float64(v)})
			for c := len(heap) - 1; c > 0 && worse(heap[c], heap[(c-1)/2]); c = (c - 1) / 2 {
				heap[c], heap[(c-1)/2] = heap[(c-1)/2], heap[c]
			}
		case float64(v) > heap[0].Score:
			heap[0] = Item{int32(j), float64(v)}
			sink(heap)
		}
	}
	slices.SortFunc(heap, func(a, b Item) int {
		if worse(b, a) {
			return -1
		}
		return 1
	})
	return heap
}

// worse orders items from the end of a list: by lower score, then by higher index.
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
