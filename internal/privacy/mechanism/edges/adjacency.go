package edges

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/internal/observe"
)

// Adjacency holds a 0/1 matrix of Rows x Cols in compressed sparse rows: row i has ones in the columns
// Idx[Ptr[i]:Ptr[i+1]], strictly ascending. For a bipartite graph of users and items it is the users x items block, not
// the square of all nodes.
type Adjacency struct {
	Rows, Cols int
	Ptr        []int64 // Rows + 1
	Idx        []int32
}

// Edges returns the number of ones.
func (a Adjacency) Edges() int64 { return int64(len(a.Idx)) }

// Cells returns the number of cells, Rows times Cols.
func (a Adjacency) Cells() int64 { return int64(a.Rows) * int64(a.Cols) }

// Row returns the columns of the ones in row i, ascending. Do not change them.
func (a Adjacency) Row(i int) []int32 { return a.Idx[a.Ptr[i]:a.Ptr[i+1]] }

// Validate returns an error for sizes that do not fit, for columns out of range and for rows that do not strictly
// ascend: a one listed twice would count double.
func (a Adjacency) Validate() error {
	switch {
	case a.Rows < 0 || a.Rows > math.MaxInt32 || a.Cols < 0 || a.Cols > math.MaxInt32:
		return fmt.Errorf("adjacency of %d x %d, want 0 to %d", a.Rows, a.Cols, math.MaxInt32)
	case len(a.Ptr) != a.Rows+1 || a.Ptr[0] != 0 || a.Ptr[a.Rows] != a.Edges():
		return errors.New("adjacency: ptr does not begin at 0, does not end at the number of entries in idx, or does " +
			"not have rows + 1 values")
	}
	for i := range a.Rows {
		if a.Ptr[i] > a.Ptr[i+1] || a.Ptr[i+1] > a.Edges() {
			return fmt.Errorf("adjacency: ptr of row %d is out of order", i)
		}
		last := int32(-1)
		for _, j := range a.Row(i) {
			if j <= last || int(j) >= a.Cols {
				return fmt.Errorf("adjacency: column %d after %d in row %d of %d columns, want ascending and in range",
					j, last, i, a.Cols)
			}
			last = j
		}
	}
	return nil
}

// Transpose returns the matrix with rows and columns exchanged.
func (a Adjacency) Transpose() Adjacency {
	t := Adjacency{Rows: a.Cols, Cols: a.Rows, Ptr: make([]int64, a.Cols+1), Idx: make([]int32, len(a.Idx))}
	for _, j := range a.Idx {
		t.Ptr[j+1]++
	}
	for j := range a.Cols {
		t.Ptr[j+1] += t.Ptr[j]
	}
	next := slices.Clone(t.Ptr)
	for i := range a.Rows {
		for _, j := range a.Row(i) {
			t.Idx[next[j]] = int32(i)
			next[j]++
		}
	}
	return t
}

// inCommon returns how many ones two matrices of one shape share. The checks of all mechanisms on matrices use it.
func inCommon(a, b Adjacency) (n int64) {
	for i := range a.Rows {
		n += mechanism.Common(a.Row(i), b.Row(i))
	}
	return n
}

// seen tells a test of a release of a as out, and returns the matrix that the test puts in its place.
func seen(r observe.Release, a, out Adjacency) Adjacency {
	if r == nil {
		return out
	}
	b := newBuilder(out.Rows, out.Cols, out.Edges())
	exact, released := make([]int32, a.Cols), make([]int32, a.Cols)
	for i := range a.Rows {
		clear(exact)
		clear(released)
		for _, j := range a.Row(i) {
			exact[j] = 1
		}
		for _, j := range out.Row(i) {
			released[j] = 1
		}
		observe.Row(r, -1, uint64(i), exact, released)
		for j, one := range released {
			if one == 1 {
				b.add(int64(i)*int64(a.Cols) + int64(j))
			}
		}
	}
	return b.finish()
}

// builder builds a matrix cell by cell, in ascending order.
type builder struct {
	out  Adjacency
	row  int
	base int64 // first cell of row
}

func newBuilder(rows, cols int, edges int64) *builder {
	return &builder{out: Adjacency{Rows: rows, Cols: cols, Ptr: make([]int64, rows+1), Idx: make([]int32, 0, edges)}}
}

func (b *builder) add(cell int64) {
	for cell >= b.base+int64(b.out.Cols) {
		b.row++
		b.base += int64(b.out.Cols)
		b.out.Ptr[b.row] = b.out.Edges()
	}
	b.out.Idx = append(b.out.Idx, int32(cell-b.base))
}

func (b *builder) finish() Adjacency {
	for b.row < b.out.Rows {
		b.row++
		b.out.Ptr[b.row] = b.out.Edges()
	}
	return b.out
}

// ones iterates over the cells with a one, in ascending order.
type ones struct {
	a    Adjacency
	row  int
	next int64 // edge
}

// cell returns the next one, and the largest int64 after the last.
func (w *ones) cell() int64 {
	if w.next == w.a.Edges() {
		return math.MaxInt64
	}
	for w.next >= w.a.Ptr[w.row+1] {
		w.row++
	}
	return int64(w.row)*int64(w.a.Cols) + int64(w.a.Idx[w.next])
}
