//go:build amd64 && !f64

package kernel

import "unsafe"

// RoundRows sets the first cols columns of n rows of y to the nearest bfloat16 values of x.
// Rows of x are ldx elements apart, those of y ldy words.
func RoundRows(n int, x *Float, ldx, cols int, y *uint16, ldy int) {
	switch {
	case n == 0 || cols == 0:
	case level == Off:
		roundRowsPlain(n, x, ldx, cols, y, ldy)
	case level == AVX512:
		roundRows512(n, x, ldx*size, cols, y, ldy*2)
	default:
		roundRows256(n, x, ldx*size, cols, y, ldy*2)
	}
}

// GatherBfloat16 does what GatherRows does, with rows of bfloat16 values in x, ldx words apart.
// Sums are of float32 values: at every level a result has the bits that GatherRows gives there
// for the values of x.
func GatherBfloat16(ptr []int64, idx []int32, left []Float, right *Float, x *uint16, ldx int, y *Float, ldy, cols int, to []int32) {
	ptr = ptr[:len(left)+1]
	if len(left) == 0 || cols == 0 {
		return
	}
	var places *int32
	if to != nil {
		places = unsafe.SliceData(to[:max(len(left), len(to))])
	}
	last := len(idx) - 1
	switch {
	case last < 0 || level == Off:
		gatherBfloat16Plain(ptr, idx, left, right, x, ldx, y, ldy, cols, to)
	case level == AVX512:
		gatherBfloat16512(len(left), &ptr[0], &idx[0], last, &left[0], right, x, ldx*2, y, ldy*size, cols, places, len(to)-1)
	default:
		gatherBfloat16256(len(left), &ptr[0], &idx[0], last, &left[0], right, x, ldx*2, y, ldy*size, cols, places, len(to)-1)
	}
}
