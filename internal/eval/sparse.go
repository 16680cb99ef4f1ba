package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"

	"privrec/internal/progress"
	"privrec/internal/tensor"
)

// Sparse is a Scorer that gives most items the same score for every sample. Top then looks at the others alone.
type Sparse interface {
	Scorer
	// Rest returns the scores (Items()) of items that a sample does not change.
	Rest() []float64
	// Changed returns what makes a function for one goroutine: the items whose scores a sample changes, each
	// once, and the scores that Score gives them. Both are valid until its next call. nil: too many change. It
	// fails on samples that Score refuses.
	Changed(samples []int32) (worker func() func(sample int32) (items []int32, scores []tensor.Float), err error)
}

// sparseBlock is the number of samples between two looks at the context. sparseGrain is that of a core at a time, which
// needs memory for all items.
const (
	sparseBlock = 4096
	sparseGrain = 128
)

// topSparse returns the lists of Top. ok is false if the scorer has none to give that way.
func topSparse(ctx context.Context, s Sparse, samples []int32, k int, o Options) (lists [][]Item, ok bool, err error) {
	if o.Chunk < 0 {
		return nil, false, nil // chunks refuses it
	}
	size, rest := cmp.Or(o.Chunk, sparseBlock), s.Rest()
	for _, v := range rest {
		if v := float64(tensor.Float(v)); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false, nil // Score is refused for it
		}
	}
	worker, err := s.Changed(samples)
	if worker == nil || err != nil {
		return nil, false, err
	}
	order := make([]Item, len(rest)) // the best first
	for j, v := range rest {
		order[j] = Item{int32(j), float64(tensor.Float(v))}
	}
	slices.SortFunc(order, func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Index, b.Index))
	})
	lists = make([][]Item, len(samples))
	shown := progress.Begin(ctx, "rank", len(samples))
	defer shown.End()
	for lo := 0; lo < len(samples); lo += size {
		if ctx.Err() != nil {
			return nil, false, fmt.Errorf("eval: after %d of %d samples: %w", lo, len(samples), context.Cause(ctx))
		}
		hi := min(lo+size, len(samples))
		faults := make([]error, hi-lo)
		tensor.Parallel(hi-lo, sparseGrain, func(_, from, to int) {
			r := ranker{changed: worker(), order: order, stamp: make([]int32, len(rest)), k: min(k, len(rest))}
			for i := lo + from; i < lo+to; i++ {
				if lists[i], faults[i-lo] = r.list(samples[i], i, o); faults[i-lo] != nil {
					break
				}
			}
		})
		for _, err := range faults {
			if err != nil {
				return nil, false, err
			}
		}
		shown.Add(hi - lo)
		if o.OnChunk != nil {
			o.OnChunk(hi, len(samples))
		}
	}
	return lists, true, nil
}

// ranker ranks samples by the scores that they change and those of the rest.
type ranker struct {
	changed func(sample int32) ([]int32, []tensor.Float)
	order   []Item  // all items by the scores of the rest, the best first
	stamp   []int32 // per item: the sample, counted from 1, that changed or excluded it last
	now     int32
	k       int
}

// list returns the best items of a sample at a position.
func (r *ranker) list(sample int32, at int, o Options) (list []Item, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("eval: sample %d (position %d): panic: %v\n%s", sample, at, p, debug.Stack())
		}
	}()
	r.now++
	items, scores := r.changed(sample)
	if j, ok := tensor.Finite(scores); !ok {
		for i, v := range scores { // the first by number, as for scores of all items
			if f := float64(v); (math.IsNaN(f) || math.IsInf(f, 0)) && items[i] < items[j] {
				j = i
			}
		}
		return nil, fmt.Errorf("eval: sample %d (position %d): score of item %d is %v: %w", sample, at, items[j],
			scores[j], ErrNotFinite)
	}
	if o.Exclude != nil {
		for _, j := range o.Exclude(sample) {
			if j < 0 || int(j) >= len(r.stamp) {
				return nil, fmt.Errorf("eval: sample %d (position %d): excluded item %d is outside the %d items",
					sample, at, j, len(r.stamp))
			}
			r.stamp[j] = r.now
		}
	}
	heap := make([]Item, 0, r.k)
	for i, j := range items {
		if r.stamp[j] != r.now {
			r.stamp[j] = r.now
			heap, _ = keep(heap, Item{j, float64(scores[i])})
		}
	}
	for _, x := range r.order {
		if r.stamp[x.Index] == r.now {
			continue
		}
		kept := false
		if heap, kept = keep(heap, x); !kept {
			break // those that follow are worse
		}
	}
	slices.SortFunc(heap, best)
	return heap, nil
}

// keep puts an item into a heap with the worst item at its root, in place of that one if the heap has no room. It
// reports whether the item is in.
func keep(heap []Item, x Item) ([]Item, bool) {
	if len(heap) < cap(heap) {
		heap = append(heap, x)
		for c := len(heap) - 1; c > 0 && worse(heap[c], heap[(c-1)/2]); c = (c - 1) / 2 {
			heap[c], heap[(c-1)/2] = heap[(c-1)/2], heap[c]
		}
		return heap, true
	}
	if !worse(heap[0], x) {
		return heap, false
	}
	heap[0] = x
	sink(heap)
	return heap, true
}
