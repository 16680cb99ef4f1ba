package tensor

import (
	"fmt"

	"privrec/internal/tensor/kernel"
)

// Pattern is a sparse matrix of ones in compressed rows: row i has its ones in
// the columns Idx[Ptr[i]:Ptr[i+1]]. NewPattern checks it once, so that products
// need no check of every column. The zero value is the empty matrix.
type Pattern struct {
	ptr  []int64
	idx  []int32
	cols int
}

// NewPattern returns the pattern of len(ptr)-1 rows and cols columns. It keeps
// ptr and idx, which must not change while it is in use. It fails on
// offsets that do not rise from 0 to len(idx) and on a column outside 0..cols-1.
func NewPattern(cols int, ptr []int64, idx []int32) (Pattern, error) {
	if len(ptr) == 0 || ptr[0] != 0 || ptr[len(ptr)-1] != int64(len(idx)) || cols < 0 {
		return Pattern{}, fmt.Errorf("tensor: pattern of %d columns: %d offsets for %d entries do not rise from 0", cols, len(ptr), len(idx))
	}
	for i := 1; i < len(ptr); i++ {
		if ptr[i] < ptr[i-1] {
			return Pattern{}, fmt.Errorf("tensor: pattern: offsets fall at row %d", i)
		}
	}
	for e, j := range idx {
		if uint32(j) >= uint32(cols) {
			return Pattern{}, fmt.Errorf("tensor: pattern: entry %d is in column %d of %d", e, j, cols)
		}
	}
	return Pattern{ptr: ptr, idx: idx, cols: cols}, nil
}

// Rows returns the number of rows.
func (p Pattern) Rows() int { return max(0, len(p.ptr)-1) }

// Cols returns the number of columns.
func (p Pattern) Cols() int { return p.cols }

// Gather computes rows lo to hi of diag(left) P diag(right) x, on the calling
// goroutine: row i-lo of dst (hi-lo, d) becomes left[i] times the sum of
// right[j] x_j over the columns j of row i, added up in their order and scaled
// last. left has Rows elements, right has Cols, and x is (Cols, d). dst must not
// overlap x.
func (p Pattern) Gather(lo, hi int, left, right []Float, x, dst Matrix) {
	check("gather", x)
	check("gather", dst)
	if lo < 0 || hi < lo || hi > p.Rows() || len(left) != p.Rows() || len(right) != p.cols ||
		x.Rows != p.cols || dst.Rows != hi-lo || dst.Cols != x.Cols {
		panic(fmt.Sprintf("tensor: gather: rows %d..%d of a %d x %d pattern, %d and %d factors, of %d x %d into %d x %d",
			lo, hi, p.Rows(), p.cols, len(left), len(right), x.Rows, x.Cols, dst.Rows, dst.Cols))
	}
	if lo == hi || x.Cols == 0 {
		return
	}
	if x.Rows == 0 {
		for i := range dst.Rows {
			clear(Row(dst, i))
		}
		return
	}
	kernel.GatherRows(p.ptr[lo:hi+1], p.idx, left[lo:hi], &right[0], &x.Data[0], x.Stride, &dst.Data[0], dst.Stride, dst.Cols)
}

// Row returns the columns of row i, not to be changed.
func (p Pattern) Row(i int) []int32 { return p.idx[p.ptr[i]:p.ptr[i+1]] }
