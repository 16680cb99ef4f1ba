package exact

import (
	"iter"
	"math/big"
	"strings"
)

// Row holds a sequence of ids as a string, one byte each: 1 to m, each at most once, and 0 for padding.
type Row string

// String returns the ids with commas between them.
func (r Row) String() string {
	var s strings.Builder
	for i := range len(r) {
		if i > 0 {
			s.WriteByte(',')
		}
		s.WriteString(big.NewInt(int64(r[i])).String())
	}
	return s.String()
}

// Rows yields every row of a length over m items.
func Rows(m, length int) iter.Seq[Row] {
	row := make([]byte, length)
	used := make([]bool, m+1)
	var fill func(at int, yield func(Row) bool) bool
	fill = func(at int, yield func(Row) bool) bool {
		if at == length {
			return yield(Row(row))
		}
		for id := 0; id <= m; id++ {
			if id > 0 && used[id] {
				continue
			}
			row[at], used[id] = byte(id), true
			on := fill(at+1, yield)
			if used[id] = false; !on {
				return false
			}
		}
		return true
	}
	return func(yield func(Row) bool) { fill(0, yield) }
}

// SequenceClass is a kind of neighbouring sequences (PriCDSR paper, definition 2: one cell has another value, or two
// cells of a row are exchanged). The kinds are told apart because some mechanisms handle zeros separately.
type SequenceClass string

// The kinds of neighbouring sequences.
const (
	ItemItem  SequenceClass = "item for item"                        // a cell holds another item
	ZeroItem  SequenceClass = "zero for item"                        // a cell holds an item, or none
	SwapFull  SequenceClass = "swap of items, no zeros"              // two items exchanged in a row without zeros
	SwapClear SequenceClass = "swap of items, no zero gets in front" // by exchanges, of both of them
	SwapFront SequenceClass = "swap of items, zero in front"         // of both of them
	SwapAfter SequenceClass = "swap of items, zero gets in front"    // by exchanges
	SwapZero  SequenceClass = "swap of item and zero"
)

// SequenceClasses returns all kinds.
func SequenceClasses() []SequenceClass {
	return []SequenceClass{ItemItem, ZeroItem, SwapFull, SwapClear, SwapFront, SwapAfter, SwapZero}
}

// SequencePairs yields the neighbours of a class among the rows of a length over m items, each pair
// once.
func SequencePairs(class SequenceClass, m, length int) iter.Seq2[Row, Row] {
	if related, ok := relations[class]; ok {
		return rowPairs(related, m, length)
	}
	return func(yield func(a, b Row) bool) {
		for a := range Rows(m, length) {
			for b, c := range neighbours(a, m) {
				if a < b && c == class && !yield(a, b) {
					return
				}
			}
		}
	}
}

// neighbours yields the neighbours of a row with their classes.
func neighbours(a Row, m int) iter.Seq2[Row, SequenceClass] {
	return func(yield func(Row, SequenceClass) bool) {
		for i := range len(a) {
			for v := range m + 1 {
				if byte(v) == a[i] || v > 0 && strings.IndexByte(string(a), byte(v)) >= 0 {
					continue
				}
				class := ItemItem
				if v == 0 || a[i] == 0 {
					class = ZeroItem
				}
				if !yield(a[:i]+Row([]byte{byte(v)})+a[i+1:], class) {
					return
				}
			}
			for j := i + 1; j < len(a); j++ {
				if a[i] == a[j] {
					continue
				}
				b := []byte(a)
				b[i], b[j] = b[j], b[i]
				if !yield(Row(b), swapClass(a, i, j)) {
					return
				}
			}
		}
	}
}

// swapClass returns the class of a swap of cells i < j, which depends on where the zeros of the row are. A zero can get
// in front of both if at least as many other items stand behind it as cells of the pair stand before it: if those items
// are drawn, they move these cells behind the zero.
func swapClass(a Row, i, j int) SequenceClass {
	if a[i] == 0 || a[j] == 0 {
		return SwapZero
	}
	class := SwapFull
	for z := range len(a) {
		if a[z] != 0 {
			continue
		}
		if z < i {
			return SwapFront
		}
		before, behind := 1, 0
		if j < z {
			before = 2
		}
		for c := z + 1; c < len(a); c++ {
			if a[c] != 0 && c != j {
				behind++
			}
		}
		if before <= behind {
			class = SwapAfter
		} else if class == SwapFull {
			class = SwapClear
		}
	}
	return class
}
