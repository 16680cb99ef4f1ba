package autograd

import (
	"math/bits"
	"slices"
)

// coalesce adds up the look-ups by row, in order of recording, and sorts the rows.
func (e *entry) coalesce(t *Tape) {
	e.rows = e.set.unite(e.rows[:0], e.lookups, e.p.Value.Rows)
	w := e.p.Value.Cols
	e.vals = t.Buffer(len(e.rows), w)
	add := job{kernel: scatterFresh, dst: e.vals.Data, w: w}
	for _, p := range e.lookups {
		e.place = slices.Grow(e.place[:0], len(p.idx))[:len(p.idx)]
		e.set.places(e.place, p.idx, e.rows)
		add.a, add.idx = p.node.dy(), e.place
		t.columns(len(p.idx), w, add)
		add.kernel = scatterKernel
	}
}

// rowSet finds the rows of a table that look-ups name. It has a bit for every row, which needs no comparisons and stays
// in the nearest cache. If look-ups are few compared with the table, it sorts them instead, which is cheaper than going
// through all bits.
type rowSet struct {
	bits   []uint64
	before []int32 // how many rows are in the words before; nil: the bits are not in use
}

// wordsPerIndex is the number of words of bits that may be scanned for each index that is looked up.
const wordsPerIndex = 8

// unite appends the rows of all look-ups, each once and ascending. n is the number of rows of the table.
func (s *rowSet) unite(rows []int32, lookups []lookup, n int) []int32 {
	indices, words := 0, (n+63)/64
	for _, p := range lookups {
		indices += len(p.idx)
	}
	s.before = s.before[:0]
	if words > wordsPerIndex*indices {
		for _, p := range lookups {
			rows = append(rows, p.idx...)
		}
		slices.Sort(rows)
		return slices.Compact(rows)
	}
	s.bits = slices.Grow(s.bits[:0], words)[:words]
	clear(s.bits)
	for _, p := range lookups {
		for _, k := range p.idx {
			s.bits[k>>6] |= 1 << (k & 63)
		}
	}
	for i, word := range s.bits {
		s.before = append(s.before, int32(len(rows)))
		for ; word != 0; word &= word - 1 {
			rows = append(rows, int32(i<<6+bits.TrailingZeros64(word)))
		}
	}
	return rows
}

// places sets place[i] to the position of idx[i] in rows, a result of unite.
func (s *rowSet) places(place, idx, rows []int32) {
	if len(s.before) == 0 {
		for i, k := range idx {
			at, _ := slices.BinarySearch(rows, k)
			place[i] = int32(at)
		}
		return
	}
	for i, k := range idx {
		below := s.bits[k>>6] & (1<<(k&63) - 1)
		place[i] = s.before[k>>6] + int32(bits.OnesCount64(below))
	}
}
