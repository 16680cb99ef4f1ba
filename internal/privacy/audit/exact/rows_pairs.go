package exact

import (
	"iter"
	"slices"
	"strings"
)

// More kinds of pairs, for mechanisms that promise more than definition 2 or something else. One
// interaction that is added, removed, replaced or moved in a history makes another row of kind
// SameItems, MoreItem or OtherItem: the row has the last items of the history, each once, and gains
// at most one and loses at most one.
const (
	SameItems SequenceClass = "same items, another order"
	MoreItem  SequenceClass = "an item more"
	OtherItem SequenceClass = "another item, in any order"
	SameCells SequenceClass = "whole row, zeros where they were"
	AnyRow    SequenceClass = "whole row"
)

// relations maps each of these kinds to a test whether two rows form such a pair.
var relations = map[SequenceClass]func(a, b Row) bool{
	SameItems: func(a, b Row) bool { lost, gained := changed(a, b); return lost+gained == 0 },
	MoreItem:  func(a, b Row) bool { lost, gained := changed(a, b); return lost+gained == 1 },
	OtherItem: func(a, b Row) bool { lost, gained := changed(a, b); return lost == 1 && gained == 1 },
	SameCells: func(a, b Row) bool {
		for i := range len(a) {
			if (a[i] == 0) != (b[i] == 0) {
				return false
			}
		}
		return true
	},
	AnyRow: func(a, b Row) bool { return true },
}

// changed returns how many items of a are missing in b, and how many of b in a.
func changed(a, b Row) (lost, gained int) {
	lacks := func(x, y Row) (n int) {
		for i := range len(x) {
			if x[i] != 0 && strings.IndexByte(string(y), x[i]) < 0 {
				n++
			}
		}
		return n
	}
	return lacks(a, b), lacks(b, a)
}

// rowPairs yields the pairs of rows for which related is true, each once.
func rowPairs(related func(a, b Row) bool, m, length int) iter.Seq2[Row, Row] {
	return func(yield func(a, b Row) bool) {
		rows := slices.Collect(Rows(m, length))
		for i, a := range rows {
			for _, b := range rows[i+1:] {
				if related(a, b) && !yield(a, b) {
					return
				}
			}
		}
	}
}
