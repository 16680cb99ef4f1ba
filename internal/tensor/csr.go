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
	m := &CSR{Rows: rows, Cols: cols, Ptr: make([]int64, rows+1), Idx: make([]int32, len(ri)), Val: make([]Float, len(ri))}
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
	t := &CSR{Rows: m.Cols, Cols: m.Rows, Ptr: make([]int64, m.Cols+1), Idx: make([]int32, len(m.Idx)), Val: make([]Float, len(m.Val))}
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

// MulDense sets dst = m x, where x is Cols x d and dst is Rows x d. Each row sums
// its entries in stored order. dst must not overlap x. It panics where the parts of
// m do not fit each other, because the kernel reads rows of x without a check.
func (m *CSR) MulDense(dst, x Matrix) {
	check("sparse product", x)
	check("sparse product", dst)
	if x.Rows != m.Cols || dst.Rows != m.Rows || dst.Cols != x.Cols {
		panic(fmt.Sprintf("tensor: sparse product: %d x %d times %d x %d into %d x %d",
			m.Rows, m.Cols, x.Rows, x.Cols, dst.Rows, dst.Cols))
	}
	if len(m.Ptr) != m.Rows+1 && (m.Rows > 0 || len(m.Ptr) > 0) {
		panic(fmt.Sprintf("tensor: sparse product: %d row offsets for %d rows", len(m.Ptr), m.Rows))
	}
	if dst.Cols == 0 {
		return
	}
	Parallel(m.Rows, spmmGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			y := Row(dst, i)
			e0, e1 := m.Ptr[i], m.Ptr[i+1]
			if e0 == e1 {
				clear(y)
				continue
			}
			idx, val := m.Idx[e0:e1], m.Val[e0:e1]
			for e, j := range idx {
				if uint32(j) >= uint32(m.Cols) {
					panic(fmt.Sprintf("tensor: sparse product: entry %d of row %d is in column %d of %d", e, i, j, m.Cols))
				}
			}
			kernel.SpMMRow(idx, val, &x.Data[0], x.Stride, y)
		}
	})
}
