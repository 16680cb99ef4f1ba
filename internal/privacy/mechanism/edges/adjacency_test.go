package edges

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/rng"
)

// matrix reads rows of 0 and 1.
func matrix(rows ...string) Adjacency {
	a := Adjacency{Rows: len(rows), Ptr: []int64{0}}
	for _, r := range rows {
		a.Cols = len(r)
		for j, c := range r {
			if c == '1' {
				a.Idx = append(a.Idx, int32(j))
			}
		}
		a.Ptr = append(a.Ptr, a.Edges())
	}
	return a
}

// cellsOf numbers the ones, and so names a small matrix.
func cellsOf(a Adjacency) (bits int) {
	for i := range a.Rows {
		for _, j := range a.Row(i) {
			bits |= 1 << (i*a.Cols + int(j))
		}
	}
	return bits
}

func scattered(s *rng.Stream, rows, cols int, p float64) Adjacency {
	b := newBuilder(rows, cols, 0)
	for c := range int64(rows) * int64(cols) {
		if s.Float64() < p {
			b.add(c)
		}
	}
	return b.finish()
}

func TestAdjacencyValidates(t *testing.T) {
	for _, good := range []Adjacency{matrix("010", "000", "111"), matrix(), {Ptr: []int64{0}}, {Rows: 2, Ptr: []int64{0, 0, 0}}, matrix("", "")} {
		if err := good.Validate(); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for name, bad := range map[string]Adjacency{
		"want 0 to":    {Rows: -1, Ptr: []int64{0}},
		"want 0 to 2":  {Rows: 1, Cols: 1 << 31, Ptr: []int64{0, 0}},
		"ptr":          {Rows: 1, Cols: 1},
		"begin":        {Rows: 1, Cols: 2, Ptr: []int64{1, 1}, Idx: []int32{0}},
		"end":          {Rows: 1, Cols: 2, Ptr: []int64{0, 1}},
		"out of order": {Rows: 2, Cols: 2, Ptr: []int64{0, 2, 1}, Idx: []int32{0}},
		"row 1":        {Rows: 3, Cols: 2, Ptr: []int64{0, 1, 0, 1}, Idx: []int32{0}},
		"column 2":     {Rows: 1, Cols: 2, Ptr: []int64{0, 1}, Idx: []int32{2}},
		"column -1":    {Rows: 1, Cols: 2, Ptr: []int64{0, 1}, Idx: []int32{-1}},
		"after 1":      {Rows: 1, Cols: 2, Ptr: []int64{0, 2}, Idx: []int32{1, 1}},
		"0 after 1":    {Rows: 1, Cols: 2, Ptr: []int64{0, 2}, Idx: []int32{1, 0}},
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAdjacencyAgainstDense(t *testing.T) {
	s := rng.Seed(1).Stream("dense")
	for range 200 {
		a, b := scattered(&s, 1+s.IntN(6), 1+s.IntN(6), 0.4), Adjacency{}
		b = scattered(&s, a.Rows, a.Cols, 0.4)
		tr := a.Transpose()
		if err := tr.Validate(); err != nil || tr.Edges() != a.Edges() {
			t.Fatal(err)
		}
		rows, cols := a.Degrees()
		common, back := int64(0), tr.Transpose()
		dense := func(m Adjacency, i, j int) bool { return slices.Contains(m.Row(i), int32(j)) }
		for i := range a.Rows {
			for j := range a.Cols {
				if dense(a, i, j) != dense(tr, j, i) || dense(a, i, j) != dense(back, i, j) {
					t.Fatalf("cell %d %d of %v", i, j, a)
				}
				if dense(a, i, j) {
					rows[i]--
					cols[j]--
					if dense(b, i, j) {
						common++
					}
				}
			}
		}
		if slices.Max(rows) != 0 || slices.Min(rows) != 0 || slices.Max(cols) != 0 || slices.Min(cols) != 0 {
			t.Fatalf("degrees off by %v and %v", rows, cols)
		}
		if got := inCommon(a, b); got != common {
			t.Fatalf("%d ones in common, want %d", got, common)
		}
		w := ones{a: a}
		for i := range a.Rows {
			for _, j := range a.Row(i) {
				if c := w.cell(); c != int64(i*a.Cols)+int64(j) {
					t.Fatalf("cell %d, want row %d column %d", c, i, j)
				}
				w.next++
			}
		}
		if w.cell() != math.MaxInt64 {
			t.Fatal("cells after the last")
		}
	}
}

// Degrees returns the number of ones in every row and in every column.
func (a Adjacency) Degrees() (rows, cols []int32) {
	rows, cols = make([]int32, a.Rows), make([]int32, a.Cols)
	for i := range rows {
		rows[i] = int32(len(a.Row(i)))
	}
	for _, j := range a.Idx {
		cols[j]++
	}
	return rows, cols
}
