package exposure

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset/slate"
	"privrec/internal/rng"
)

// Names of the floors, as [NewFloor] takes them.
const (
	FloorRandom       = "random"        // a uniformly random order for each pair
	FloorPopularity   = "popularity"    // the most clicked in the training pairs first
	FloorCooccurrence = "co-occurrence" // the most clicked before slates that show the same items first
	// the most often clicked for each time shown first: the kind of an item, not its user
	FloorKindRatio = "kind-ratio"
	FloorNull      = "null" // popularity under the name of an attack that does not read the slate
)

// Floors lists the names of all floors. The first three stand beside every attack.
func Floors() []string {
	return []string{FloorRandom, FloorPopularity, FloorCooccurrence, FloorKindRatio, FloorNull}
}

// NewFloor returns the floor with this name, with a single list, from training pairs over a vocabulary of vocab tokens.
// Only the random floor uses the seed. It fails on an unknown name and on a token outside the vocabulary.
func NewFloor(name string, train *slate.Pairs, vocab int, seed rng.Seed) (Ranker, error) {
	if vocab <= int(slate.FirstItem) {
		return nil, fmt.Errorf("floor %s: a vocabulary of %d tokens has no items", name, vocab)
	}
	switch name {
	case FloorRandom:
		return NewRandom(vocab, seed), nil
	case FloorPopularity, FloorNull:
		return NewPopularity(train, vocab)
	case FloorCooccurrence:
		return NewCooccurrence(train, vocab)
	case FloorKindRatio:
		return NewKindRatio(train, vocab)
	}
	return nil, fmt.Errorf("floor %q is none of %q", name, Floors())
}

// counts returns for every token how often it is shown and clicked in pairs, without the specials.
func counts(p *slate.Pairs, vocab int) (shown, clicked []int32, err error) {
	shown, clicked = make([]int32, vocab), make([]int32, vocab)
	count := func(what string, tokens []int32, into []int32, width int) error {
		for i, v := range tokens {
			switch {
			case v < 0 || int(v) >= vocab:
				return fmt.Errorf("training pair %d: %s token %d is outside the vocabulary of %d", i/width, what, v,
					vocab)
			case v >= slate.FirstItem:
				into[v]++
			}
		}
		return nil
	}
	if err := count("slate", p.Slates, shown, p.T); err != nil {
		return nil, nil, err
	}
	return shown, clicked, count("behaviour", p.Behaviours, clicked, p.L)
}

// Fixed answers every slate with the same order of items.
type Fixed struct {
	order []int32 // all items, best first
	class []int32 // per token: items of equal score share a class, best is 0
}

// newFixed orders the items by better, and equal items by token.
func newFixed(vocab int, better func(a, b int32) int) *Fixed {
	f := &Fixed{order: make([]int32, 0, vocab), class: make([]int32, vocab)}
	for v := slate.FirstItem; int(v) < vocab; v++ {
		f.order = append(f.order, v)
	}
	slices.SortStableFunc(f.order, better)
	class := int32(0)
	for i, v := range f.order {
		if i > 0 && better(f.order[i-1], v) != 0 {
			class++
		}
		f.class[v] = class
	}
	return f
}

// NewPopularity ranks items by their number of clicks in the training pairs. Items of equal count are in the order of
// the candidates or, without candidates, of their tokens, which may be numbered by how often items are shown or
// clicked.
func NewPopularity(train *slate.Pairs, vocab int) (*Fixed, error) {
	_, clicked, err := counts(train, vocab)
	if err != nil {
		return nil, fmt.Errorf("popularity floor: %w", err)
	}
	return newFixed(vocab, func(a, b int32) int { return cmp.Compare(clicked[b], clicked[a]) }), nil
}

// NewKindRatio ranks items by clicked/(shown+1), counted in the training pairs, then by clicks. It reads neither slate
// nor user. Among the logged items of a user it finds items of the kind that is clicked before slates and not shown in
// them, such as older news.
func NewKindRatio(train *slate.Pairs, vocab int) (*Fixed, error) {
	shown, clicked, err := counts(train, vocab)
	if err != nil {
		return nil, fmt.Errorf("kind ratio floor: %w", err)
	}
	return newFixed(vocab, func(a, b int32) int {
		x := int64(clicked[a]) * int64(shown[b]+1) // cross-multiplied: no rounding makes or breaks ties
		y := int64(clicked[b]) * int64(shown[a]+1)
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(clicked[b], clicked[a]))
	}), nil
}

// Lists returns 1.
func (f *Fixed) Lists() int { return 1 }

// Rank implements [Ranker].
func (f *Fixed) Rank(ctx context.Context, p *slate.Pairs, rows []int32, depth int, candidates func(row int32) []int32,
	visit func(row int32, lists [][]int32) error) error {
	return blocks(ctx, p, rows, depth, 1, func(row int32, lists [][]int32) error {
		if candidates == nil {
			lists[0] = append(lists[0], f.order[:min(depth, len(f.order))]...)
			return nil
		}
		all := candidates(row)
		for _, v := range all {
			if v < slate.FirstItem || int(v) >= len(f.class) {
				return notAnItem(row, v, len(f.class))
			}
		}
		s := slices.Clone(all)
		slices.SortStableFunc(s, func(a, b int32) int { return cmp.Compare(f.class[a], f.class[b]) })
		lists[0] = append(lists[0], s[:min(depth, len(s))]...)
		return nil
	}, visit)
}

func notAnItem(row, v int32, vocab int) error {
	return fmt.Errorf("ranking slates: candidate %d of row %d is not an item: items are %d to %d", v, row,
		slate.FirstItem, vocab-1)
}
