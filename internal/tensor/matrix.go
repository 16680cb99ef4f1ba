package tensor

import (
	"fmt"
	"unsafe"
)

// New returns a zeroed rows x cols matrix with Stride = cols.
func New(rows, cols int) Matrix {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("tensor: new matrix of %d x %d", rows, cols))
	}
	return Matrix{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]Float, rows*cols)}
}

// From returns a rows x cols matrix over data, which it does not copy.
func From(rows, cols int, data []Float) Matrix {
	if rows < 0 || cols < 0 || len(data) < rows*cols {
		panic(fmt.Sprintf("tensor: %d x %d matrix over %d elements", rows, cols, len(data)))
	}
	return Matrix{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: data[:rows*cols]}
}

// Row returns row i of m as a slice of Cols elements that shares m's data.
func Row(m Matrix, i int) []Float {
	if uint(i) >= uint(m.Rows) {
		panic(fmt.Sprintf("tensor: row %d of %d x %d", i, m.Rows, m.Cols))
	}
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}

// RowsView returns rows lo..hi of m as a view.
func RowsView(m Matrix, lo, hi int) Matrix {
	if lo < 0 || hi < lo || hi > m.Rows {
		panic(fmt.Sprintf("tensor: rows %d..%d of %d x %d", lo, hi, m.Rows, m.Cols))
	}
	return view(m, lo, hi, 0, m.Cols)
}

// ColsView returns columns lo..hi of m as a view with m's stride.
func ColsView(m Matrix, lo, hi int) Matrix {
	if lo < 0 || hi < lo || hi > m.Cols {
		panic(fmt.Sprintf("tensor: columns %d..%d of %d x %d", lo, hi, m.Rows, m.Cols))
	}
	return view(m, 0, m.Rows, lo, hi)
}

func view(m Matrix, i0, i1, j0, j1 int) Matrix {
	v := Matrix{Rows: i1 - i0, Cols: j1 - j0, Stride: m.Stride}
	if v.Rows > 0 && v.Cols > 0 {
		v.Data = m.Data[i0*m.Stride+j0 : (i1-1)*m.Stride+j1]
	}
	return v
}

// check panics unless m is a well-formed matrix; what names it.
func check(what string, m Matrix) {
	if m.Rows < 0 || m.Cols < 0 || m.Stride < max(m.Cols, 1) ||
		m.Rows > 0 && m.Cols > 0 && len(m.Data) < (m.Rows-1)*m.Stride+m.Cols {
		panic(fmt.Sprintf("tensor: %s: malformed matrix: %d x %d, stride %d, %d elements",
			what, m.Rows, m.Cols, m.Stride, len(m.Data)))
	}
}

// ptr returns the address off elements after p.
func ptr(p *Float, off int) *Float {
	return (*Float)(unsafe.Add(unsafe.Pointer(p), off*int(unsafe.Sizeof(*p))))
}

// slice returns the n elements that start off elements after p.
func slice(p *Float, off, n int) []Float { return unsafe.Slice(ptr(p, off), n) }
