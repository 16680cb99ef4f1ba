package nn

import (
	"fmt"
	"time"

	"privrec/internal/graph"
	"privrec/internal/tensor"
)

// schedule holds the order in which a propagation computes rows. Rows that share neighbours are computed one after the
// other, so that the core still has their vectors near it. Tables that only the propagation sees have their rows in
// this order too, so it reads and writes them from front to back. A row adds up its neighbours in the order in which
// the graph numbers them, so no bit of a result changes.
type schedule struct {
	rows            [2]tensor.Pattern // of users over items, of items over users: rows by place, columns by node
	inner           [2]tensor.Pattern // the same, with columns by place
	nodeAt, placeOf [2][]int32        // the node of a side at each place, and back
	leftAt, rightAt [2][]tensor.Float // factors by place
	chunks          []chunk
	moved           bool // places are not in the order of the nodes
}

// arrange sets the places by near; nil keeps the order of the graph.
func (p *plan) arrange(near *graph.Near) error {
	g := p.graph
	rows := [2]graph.Rows{{Ptr: g.UserPtr, Idx: g.UserItem}, {Ptr: g.ItemPtr, Idx: g.ItemUser}}
	var s schedule
	if near != nil {
		rows, s.moved = [2]graph.Rows{near.Users, near.Items}, true
	}
	if len(g.UserItem) != len(g.ItemUser) {
		return fmt.Errorf("nn: propagation: users have %d edges, items %d", len(g.UserItem), len(g.ItemUser))
	}
	for side, r := range rows {
		pattern, err := tensor.NewPattern(p.size(Side(1-side)), r.Ptr, r.Idx)
		if err != nil {
			return fmt.Errorf("nn: propagation: %s: %w", [2]string{"items of users", "users of items"}[side], err)
		}
		if pattern.Rows() != p.size(Side(side)) {
			return fmt.Errorf("nn: propagation: the rows of the graph do not fit %d users and %d items", g.Users,
				g.Items)
		}
		s.rows[side] = pattern
	}
	if p.left == nil {
		left, right := p.norm.Factors(g)
		p.left, p.right = floats(left), floats(right)
	}
	s.inner = s.rows
	for side, r := range rows {
		n := p.size(Side(side))
		s.nodeAt[side] = r.At
		left, right := p.part(p.left, Side(side)), p.part(p.right, Side(side))
		if near == nil {
			s.nodeAt[side] = numbers(n)
			s.placeOf[side], s.leftAt[side], s.rightAt[side] = s.nodeAt[side], left, right
		} else {
			s.placeOf[side] = make([]int32, n)
			s.leftAt[side], s.rightAt[side] = make([]tensor.Float, n), make([]tensor.Float, n)
			for place, v := range r.At {
				s.placeOf[side][v], s.leftAt[side][place], s.rightAt[side][place] = int32(place), left[v], right[v]
			}
		}
		s.chunks = append(s.chunks, cut(Side(side), r.Ptr, pieceOf(2*g.Edges(), tensor.Workers()))...)
	}
	if s.moved {
		for side, r := range rows {
			places := make([]int32, len(r.Idx))
			for e, v := range r.Idx {
				places[e] = s.placeOf[1-side][v]
			}
			inner, err := tensor.NewPattern(p.size(Side(1-side)), r.Ptr, places)
			if err != nil {
				return fmt.Errorf("nn: propagation: rows by place: %w", err)
			}
			s.inner[side] = inner
		}
	}
	p.schedule = s
	return nil
}

func numbers(n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(i)
	}
	return x
}

// pieceOf returns the number of a product's entries that a core handles at a time.
func pieceOf(entries, workers int) int {
	return min(max(entries/(corePieces*workers), leastEdges), mostEdges)
}

// cut splits the places of a side into chunks of at most piece entries, or of one row.
func cut(side Side, ptr []int64, piece int) (chunks []chunk) {
	for lo := 0; lo < len(ptr)-1; {
		hi := lo + 1
		for hi < len(ptr)-1 && hi-lo < piece/edgesPerRow && ptr[hi+1]-ptr[lo] <= int64(piece) {
			hi++
		}
		chunks = append(chunks, chunk{side, lo, hi})
		lo = hi
	}
	return chunks
}

// place returns the place of node v, counted over both sides, among those of its side.
func (p *plan) place(side Side, v int32) int { return int(p.placeOf[side][int(v)-p.first(side)]) }

// spot returns the row of node v in a table by place of both sides.
func (p *plan) spot(v int32) int {
	side := UserSide
	if int(v) >= p.graph.Users {
		side = ItemSide
	}
	return p.first(side) + p.place(side, v)
}

// aggregate computes the rows at places lo to hi of a side into dst, which has all
// rows of the side, by node.
func (p *plan) aggregate(side Side, rows tensor.Pattern, lo, hi int, left, right []tensor.Float, x origin,
	dst tensor.Matrix) {
	if p.moved {
		x.gatherTo(rows, lo, hi, left, right, dst, p.nodeAt[side][lo:])
	} else {
		x.gather(rows, lo, hi, left, right, tensor.RowsView(dst, lo, hi))
	}
}

// settled is the number of calls after which a propagation looks for a better order of the rows. The search takes about
// as long as these calls.
const settled = 50

// nearCache returns the number of bytes that count as near a core.
var nearCache = tensor.NearCache

// improve searches once for an order of the rows that moves less memory, and takes it if it is faster here. That
// depends on how much slower a core reads distant memory, so both orders are timed. Small tables are near in any order.
// Noise keeps the order of the graph: it takes rows in runs of consecutive nodes, and in another order it would lose
// more than a faster product gains.
func (w *work) improve() error {
	p := w.plan
	p.calls++
	if p.calls != settled || w.call.Noise != nil ||
		max(p.graph.Users, p.graph.Items)*p.cols*w.valueBytes() <= nearCache() {
		return nil
	}
	near := p.graph.Near()
	if near == nil {
		return nil
	}
	old := p.schedule
	if err := p.arrange(near); err != nil {
		return err
	}
	tried, src := [2]schedule{old, p.schedule}, w.entries()
	var least [2]time.Duration
	for range tries {
		for k := range tried {
			p.schedule = tried[k]
			start := time.Now()
			w.rehearse(src, p.table(0))
			if took := time.Since(start); least[k] == 0 || took < least[k] {
				least[k] = took
			}
		}
	}
	if least[0] < least[1] {
		p.schedule = old
	}
	return nil
}

// rehearse does the work of one layer into dst, to time it. The rows of src are by node but are taken as if they were
// by place.
func (w *work) rehearse(src [2]origin, dst tensor.Matrix) {
	tensor.Parallel(len(w.chunks), 1, func(c, _, _ int) {
		ch := w.chunks[c]
		other := 1 - ch.side
		src[other].gather(w.inner[ch.side], ch.lo, ch.hi, w.leftAt[ch.side], w.rightAt[other],
			tensor.RowsView(w.half(dst, ch.side), ch.lo, ch.hi))
	})
}

// tries is the number of times each order is timed.
const tries = 5
