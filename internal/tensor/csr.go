package tensor

import (
	"fmt"
	"slices"

	"privrec/internal/tensor/kernel"
)

// CSR is a sparse matrix in compressed rows: row i holds the entries Ptr[i] to
// Ptr[i+1] of Idx (columns) and Val. The zero value is the empty 0 x 0 matrix.
type CSR struct {
	Rows, Cols int
	Ptr        []int64
	Idx        []int32
	Val        []Float
}

// FromTriplets builds a rows x cols matrix from entries (ri[e], ci[e], val[e]).
// Entries keep their order within a row. Repeated entries are kept, so products
// add them up. It fails on an index outside the matrix.
func FromTriplets(rows, cols int, ri, ci []int32, val []Float) (*CSR, error) {
	if rows < 0 || cols < 0 || len(ri) != len(ci) || len(ri) != len(val) {
		return nil, fmt.Errorf("tensor: triplets: %d x %d matrix from %d rows, %d columns, %d values",
			rows, cols, len(ri), len(ci), len(val))
	}
	m := &CSR{Rows: rows, Cols: cols, Ptr: make([]int64, rows+1), Idx: make([]int32, len(ri)),
		Val: make([]Float, len(ri))}
	for e, r := range ri {
		if r < 0 || int(r) >= rows || ci[e] < 0 || int(ci[e]) >= cols {
			return nil, fmt.Errorf("tensor: triplets: entry %d at (%d, %d) outside %d x %d", e, r, ci[e], rows, cols)
		}
		m.Ptr[r+1]++
	}
	for i := range rows {
		m.Ptr[i+1] += m.Ptr[i]
	}
	next := slices.Clone(m.Ptr[:rows])
	for e, r := range ri {
		k := next[r]
		next[r]++
		m.Idx[k], m.Val[k] = ci[e], val[e]
	}
	return m, nil
}

// Transpose returns the transposed matrix, with the columns of a row in ascending
// order.
func (m *CSR) Transpose() *CSR {
	t := &CSR{Rows: m.Cols, Cols: m.Rows, Ptr: make([]int64, m.Cols+1), Idx: make([]int32, len(m.Idx)),
		Val: make([]Float, len(m.Val))}
	for _, j := range m.Idx {
		t.Ptr[j+1]++
	}
	for i := range t.Rows {
		t.Ptr[i+1] += t.Ptr[i]
	}
	next := slices.Clone(t.Ptr[:t.Rows])
	for i := range m.Rows {
		for e := m.Ptr[i]; e < m.Ptr[i+1]; e++ {
			k := next[m.Idx[e]]
			next[m.Idx[e]]++
			t.Idx[k], t.Val[k] = int32(i), m.Val[e]
		}
	}
	return t
}

// spmmGrain is the number of rows a worker takes at a time.
const spmmGrain = 64

// MulDense sets dst = m x, where x is Cols x d and dst is Rows x d. Each row sums its entries in stored order. dst must
// not overlap x. It panics if the parts of m are inconsistent, because the kernel reads rows of x without a check.
func (m *CSR) MulDense(dst, x Matrix) {
	m.fits(0, m.Rows, dst, x)
	Parallel(m.Rows, spmmGrain, func(_, lo, hi int) { m.rows(lo, hi, RowsView(dst, lo, hi), x, false) })
}

// AddRows adds the entries of rows lo to hi of m, in stored order, to dst, each times its
// row of x, on the calling goroutine; dst is (hi-lo) x d.
func (m *CSR) AddRows(lo, hi int, dst, x Matrix) {
	m.fits(lo, hi, dst, x)
	m.rows(lo, hi, dst, x, true)
}

// fits panics unless rows lo to hi of m x have the shape of dst.
func (m *CSR) fits(lo, hi int, dst, x Matrix) {
	check("sparse product", x)
	check("sparse product", dst)
	if lo < 0 || hi < lo || hi > m.Rows || x.Rows != m.Cols || dst.Rows != hi-lo || dst.Cols != x.Cols {
		panic(fmt.Sprintf("tensor: sparse product: rows %d..%d of %d x %d times %d x %d into %d x %d",
			lo, hi, m.Rows, m.Cols, x.Rows, x.Cols, dst.Rows, dst.Cols))
	}
	if len(m.Ptr) != m.Rows+1 && (m.Rows > 0 || len(m.Ptr) > 0) {
		panic(fmt.Sprintf("tensor: sparse product: %d row offsets for %d rows", len(m.Ptr), m.Rows))
	}
}

// rows computes rows whose shapes fit. It reads no entry after theirs, not even to fetch ahead.
func (m *CSR) rows(lo, hi int, dst, x Matrix, add bool) {
	if lo == hi || x.Cols == 0 {
		return
	}
	first, end := m.Ptr[lo], m.Ptr[hi]
	at := first
	for i := lo; i < hi; i++ {
		if m.Ptr[i+1] < at {
			panic(fmt.Sprintf("tensor: sparse product: offsets fall at row %d", i))
		}
		at = m.Ptr[i+1]
	}
	for e, j := range m.Idx[first:end] {
		if uint32(j) >= uint32(m.Cols) {
			panic(fmt.Sprintf("tensor: sparse product: entry %d is in column %d of %d", first+int64(e), j, m.Cols))
		}
	}
	kernel.SpMMRows(m.Ptr[lo:hi+1], m.Idx[:end], m.Val[:end], firstOf(x), x.Stride, firstOf(dst), dst.Stride, dst.Cols,
		add)
}

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
		return Pattern{}, fmt.Errorf("tensor: pattern of %d columns: %d offsets for %d entries do not rise from 0",
			cols, len(ptr), len(idx))
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
	if dst.Rows != hi-lo {
		panic(fmt.Sprintf("tensor: gather: rows %d..%d into %d rows", lo, hi, dst.Rows))
	}
	p.gather(lo, hi, left, right, x, dst, nil)
}

// MulRows computes rows lo to hi of the matrix with the pattern's entries val, in their order, times x,
// on the calling goroutine: row i-lo of dst (hi-lo, d) becomes the sum of val[e] times row Idx[e] of x
// (Cols, d) over the entries e of row i. dst must not overlap x.
func (p Pattern) MulRows(lo, hi int, val []Float, x, dst Matrix) {
	check("sparse product", x)
	check("sparse product", dst)
	if lo < 0 || hi < lo || hi > p.Rows() || len(val) != len(p.idx) || x.Rows != p.cols || dst.Rows != hi-lo ||
		dst.Cols != x.Cols {
		panic(fmt.Sprintf("tensor: sparse product: rows %d..%d of a %d x %d pattern, %d values, times %d x %d into "+
			"%d x %d",
			lo, hi, p.Rows(), p.cols, len(val), x.Rows, x.Cols, dst.Rows, dst.Cols))
	}
	if lo < hi && x.Cols > 0 {
		kernel.SpMMRows(p.ptr[lo:hi+1], p.idx, val, firstOf(x), x.Stride, firstOf(dst), dst.Stride, dst.Cols, false)
	}
}

// GatherTo computes Gather, but writes row i to row to[i-lo] of dst, which may have any number of rows. to may continue
// with the places of the rows from hi on, which are then fetched ahead.
func (p Pattern) GatherTo(lo, hi int, left, right []Float, x, dst Matrix, to []int32) {
	checkPlaces(lo, hi, dst, to)
	p.gather(lo, hi, left, right, x, dst, to)
}

// checkPlaces panics unless rows lo to hi may go to rows to of dst.
func checkPlaces(lo, hi int, dst Matrix, to []int32) {
	if lo < 0 || hi < lo || len(to) < hi-lo {
		panic(fmt.Sprintf("tensor: gather: rows %d..%d to %d places", lo, hi, len(to)))
	}
	for _, r := range to[:hi-lo] {
		if uint32(r) >= uint32(dst.Rows) {
			panic(fmt.Sprintf("tensor: gather: into row %d of %d", r, dst.Rows))
		}
	}
}

// Fetch prefetches rows of m into the caches of the core while it does something else. It changes nothing, and pays off
// for scattered rows that are used about a microsecond later.
func Fetch(m Matrix, rows []int32) {
	for _, r := range rows {
		if uint32(r) >= uint32(m.Rows) {
			panic(fmt.Sprintf("tensor: fetch: row %d of %d", r, m.Rows))
		}
	}
	if len(rows) > 0 && m.Cols > 0 {
		check("fetch", m)
		kernel.FetchRows(rows, &m.Data[0], m.Stride, m.Cols)
	}
}

func (p Pattern) gather(lo, hi int, left, right []Float, x, dst Matrix, to []int32) {
	check("gather", x)
	if p.empty(lo, hi, left, right, x.Rows, x.Cols, dst, to) {
		return
	}
	kernel.GatherRows(p.ptr[lo:hi+1], p.idx, left[lo:hi], &right[0], &x.Data[0], x.Stride, &dst.Data[0], dst.Stride,
		dst.Cols, to)
}

// empty panics unless rows lo to hi of p can be gathered from rows x cols into dst. It reports whether nothing is left
// to do: there is no result, or its rows are zero, which it has cleared.
func (p Pattern) empty(lo, hi int, left, right []Float, rows, cols int, dst Matrix, to []int32) bool {
	check("gather", dst)
	if lo < 0 || hi < lo || hi > p.Rows() || len(left) != p.Rows() || len(right) != p.cols ||
		rows != p.cols || dst.Cols != cols {
		panic(fmt.Sprintf("tensor: gather: rows %d..%d of a %d x %d pattern, %d and %d factors, of %d x %d into %d x "+
			"%d",
			lo, hi, p.Rows(), p.cols, len(left), len(right), rows, cols, dst.Rows, dst.Cols))
	}
	if lo == hi || cols == 0 {
		return true
	}
	if rows > 0 {
		return false
	}
	for i := range hi - lo {
		if to != nil {
			i = int(to[i])
		}
		clear(Row(dst, i))
	}
	return true
}

// Row returns the columns of row i. Do not change them.
func (p Pattern) Row(i int) []int32 { return p.idx[p.ptr[i]:p.ptr[i+1]] }
