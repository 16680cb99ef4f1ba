package tensor

import (
	"fmt"
	"unsafe"

	"privrec/internal/tensor/kernel"
)

// Bfloat16 holds rows of two-byte numbers: float32 values without their lower halves, with the
// same range and 8 of the 24 bits of a mantissa. A product that gathers rows reads half the
// bytes from them. The zero value has no rows.
type Bfloat16 struct {
	Rows, Cols int
	mem        Matrix // whose memory holds the words
	words      []uint16
	stride     int // words from row to row
}

// NewBfloat16 returns zeroed rows in memory like that of NewTable. Free releases them.
func NewBfloat16(rows, cols int) Bfloat16 {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("tensor: bfloat16 rows of %d x %d", rows, cols))
	}
	const each = int(unsafe.Sizeof(Float(0)) / 2) // words in the memory of an element
	stride := (max(cols, 1) + kernel.Bfloat16Group - 1) / kernel.Bfloat16Group * kernel.Bfloat16Group
	b := Bfloat16{Rows: rows, Cols: cols, mem: NewTable(rows, stride/each), stride: stride}
	if rows > 0 {
		b.words = unsafe.Slice((*uint16)(unsafe.Pointer(&b.mem.Data[0])), rows*stride)
	}
	return b
}

// Free releases the memory of b, which must not be used afterwards.
func (b Bfloat16) Free() { Free(b.mem) }

// Round sets the rows from lo on to the nearest values to those of x (any rows, Cols); ties go to the value with an
// even last bit. It runs on the calling goroutine. A finite value becomes infinite only above 2^128 (1 - 2^-9).
func (b Bfloat16) Round(lo int, x Matrix) {
	check("round", x)
	if lo < 0 || lo+x.Rows > b.Rows || x.Cols != b.Cols {
		panic(fmt.Sprintf("tensor: round: %d x %d from row %d of %d x %d", x.Rows, x.Cols, lo, b.Rows, b.Cols))
	}
	if x.Rows > 0 && x.Cols > 0 {
		kernel.RoundRows(x.Rows, &x.Data[0], x.Stride, x.Cols, &b.words[lo*b.stride], b.stride)
	}
}

// Zero sets rows lo to hi to zero.
func (b Bfloat16) Zero(lo, hi int) { clear(b.words[lo*b.stride : hi*b.stride]) }

// GatherBfloat16 computes Gather with the values of x. It adds up as Gather does, in elements of type Float.
func (p Pattern) GatherBfloat16(lo, hi int, left, right []Float, x Bfloat16, dst Matrix) {
	if dst.Rows != hi-lo {
		panic(fmt.Sprintf("tensor: gather: rows %d..%d into %d rows", lo, hi, dst.Rows))
	}
	p.gatherBfloat16(lo, hi, left, right, x, dst, nil)
}

// GatherBfloat16To computes GatherTo with the values of x.
func (p Pattern) GatherBfloat16To(lo, hi int, left, right []Float, x Bfloat16, dst Matrix, to []int32) {
	checkPlaces(lo, hi, dst, to)
	p.gatherBfloat16(lo, hi, left, right, x, dst, to)
}

func (p Pattern) gatherBfloat16(lo, hi int, left, right []Float, x Bfloat16, dst Matrix, to []int32) {
	if p.empty(lo, hi, left, right, x.Rows, x.Cols, dst, to) {
		return
	}
	kernel.GatherBfloat16(p.ptr[lo:hi+1], p.idx, left[lo:hi], &right[0], &x.words[0], x.stride, &dst.Data[0],
		dst.Stride, dst.Cols, to)
}
