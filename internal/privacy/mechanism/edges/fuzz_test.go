package edges

import (
	"math"
	"slices"
	"testing"
)

// Any arrays as a matrix: what is accepted is one, and can be taken apart and put
// together again.
func FuzzAdjacency(f *testing.F) {
	f.Add(2, 3, []byte{0, 2, 3}, []byte{0, 2, 1})
	f.Add(0, 0, []byte{0}, []byte{})
	f.Add(1, 1, []byte{0, 2}, []byte{0, 0})
	f.Fuzz(func(t *testing.T, rows, cols int, ptr, idx []byte) {
		a := Adjacency{Rows: rows, Cols: cols}
		for _, p := range ptr {
			a.Ptr = append(a.Ptr, int64(int8(p)))
		}
		for _, j := range idx {
			a.Idx = append(a.Idx, int32(int8(j)))
		}
		if err := a.Validate(); err != nil || a.Cols > 1000 {
			return
		}
		back := a.Transpose().Transpose()
		if err := back.Validate(); err != nil || !slices.Equal(back.Idx, a.Idx) || !slices.Equal(back.Ptr, a.Ptr) || inCommon(a, back) != a.Edges() {
			t.Fatalf("%v became %v: %v", a, back, err)
		}
		b := newBuilder(a.Rows, a.Cols, 0)
		for w := (&ones{a: a}); w.cell() != math.MaxInt64; w.next++ {
			b.add(w.cell())
		}
		if again := b.finish(); !slices.Equal(again.Idx, a.Idx) || !slices.Equal(again.Ptr, a.Ptr) {
			t.Fatalf("%v became %v", a, again)
		}
	})
}
