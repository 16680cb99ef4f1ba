//go:build !amd64 || f64

package kernel

// GatherRows sets row r of y, r < len(left), to left[r] times the sum over e in
// ptr[r]..ptr[r+1] of right[idx[e]] times row idx[e] of x, the first cols
// elements of each. Rows of x are ldx elements apart, those of y ldy. Entries are
// added in order and scaled last. With to, not nil, the sum of row r goes to row to[r]
// of y instead.
func GatherRows(ptr []int64, idx []int32, left []Float, right, x *Float, ldx int, y *Float, ldy, cols int, to []int32) {
	gatherRowsPlain(ptr, idx, left, right, x, ldx, y, ldy, cols, to)
}

// SpMMRows sets row r of y, r < len(ptr)-1, to the sum over e in ptr[r]..ptr[r+1] of val[e] times row
// idx[e] of x, the first cols elements of each. Rows of x are ldx elements apart, those of y ldy.
// Entries are added in order. With add, the sum of a row starts from what the row holds.
func SpMMRows(ptr []int64, idx []int32, val []Float, x *Float, ldx int, y *Float, ldy, cols int, add bool) {
	if len(ptr) > 1 && cols > 0 {
		spmmRowsPlain(ptr, idx, val, x, ldx, y, ldy, cols, add)
	}
}

// FetchRows has rows of x, the first cols elements of each, come near the core while it does
// something else, where the processor can. Here it does nothing.
func FetchRows(rows []int32, x *Float, ldx, cols int) {}
