//go:build !amd64 || f64

package kernel

// RoundRows sets the first cols columns of n rows of y to the nearest bfloat16 values of x.
// Rows of x are ldx elements apart, those of y ldy words.
func RoundRows(n int, x *Float, ldx, cols int, y *uint16, ldy int) {
	roundRowsPlain(n, x, ldx, cols, y, ldy)
}

// GatherBfloat16 does what GatherRows does, with rows of bfloat16 values in x, ldx words apart.
func GatherBfloat16(ptr []int64, idx []int32, left []Float, right *Float, x *uint16, ldx int, y *Float, ldy, cols int, to []int32) {
	gatherBfloat16Plain(ptr, idx, left, right, x, ldx, y, ldy, cols, to)
}
