package nn

import "privrec/internal/graph"

// Settled is how many calls a propagation makes before it looks for a better order.
const Settled = settled

// Arrange makes p, which has been used, compute rows in the order of near.
func (p *Propagation) Arrange(near *graph.Near) error { return p.plan.arrange(near) }

// SetNearCache sets how many bytes count as near, and returns how to undo that.
func SetNearCache(bytes int) (undo func()) {
	old := nearCache
	nearCache = func() int { return bytes }
	return func() { nearCache = old }
}

// PieceOf returns how many of a product's entries a core takes at a time.
func PieceOf(entries, workers int) int { return pieceOf(entries, workers) }

// Cut returns the ranges of rows that cores take.
func Cut(ptr []int64, piece int) (spans [][2]int) {
	for _, c := range cut(UserSide, ptr, piece) {
		spans = append(spans, [2]int{c.lo, c.hi})
	}
	return spans
}
