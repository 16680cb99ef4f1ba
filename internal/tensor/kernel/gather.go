package kernel

import "unsafe"

// gatherRowsPlain is GatherRows in plain Go.
func gatherRowsPlain(ptr []int64, idx []int32, left []Float, right, x *Float, ldx int, y *Float, ldy, cols int,
	to []int32) {
	for r, l := range left {
		place := r
		if to != nil {
			place = int(to[r])
		}
		row := unsafe.Slice(at(y, place*ldy), cols)
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

// spmmRowsPlain is SpMMRows in plain Go.
func spmmRowsPlain(ptr []int64, idx []int32, val []Float, x *Float, ldx int, y *Float, ldy, cols int, add bool) {
	for r := range ptr[1:] {
		row := unsafe.Slice(at(y, r*ldy), cols)
		if !add {
			clear(row)
		}
		for e := ptr[r]; e < ptr[r+1]; e++ {
			v := val[e]
			for k, w := range unsafe.Slice(at(x, int(idx[e])*ldx), cols) {
				row[k] += v * w
			}
		}
	}
}
