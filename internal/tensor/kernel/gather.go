package kernel

import "unsafe"

// gatherRowsPlain is GatherRows in plain Go.
func gatherRowsPlain(ptr []int64, idx []int32, left []Float, right, x *Float, ldx int, y *Float, ldy, cols int) {
	for r, l := range left {
		row := unsafe.Slice(at(y, r*ldy), cols)
		clear(row)
		for _, j := range idx[ptr[r]:ptr[r+1]] {
			v := *at(right, int(j))
			for k, w := range unsafe.Slice(at(x, int(j)*ldx), cols) {
				row[k] += v * w
			}
		}
		for k := range row {
			row[k] *= l
		}
	}
}

// GatherRows sets row r of y, r < len(left), to left[r] times the sum over e in
// ptr[r]..ptr[r+1] of right[idx[e]] times row idx[e] of x, the first cols
// elements of each. Rows of x are ldx elements apart, those of y ldy. Entries are
// added in order. idx goes on beyond ptr's end: what comes next is fetched ahead.
func GatherRows(ptr []int64, idx []int32, left []Float, right, x *Float, ldx int, y *Float, ldy, cols int) {
	gatherRowsPlain(ptr, idx, left, right, x, ldx, y, ldy, cols)
}
