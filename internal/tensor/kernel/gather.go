package kernel

import "unsafe"

// placesOf returns the address of the places of the first rows of a product, nil if each stays where it is. It panics
// if to is shorter.
func placesOf(rows int, to []int32) *int32 {
	if to == nil {
		return nil
	}
	return unsafe.SliceData(to[:max(rows, len(to))])
}

// GatherRows sets row r of y, r < len(left), to left[r] times the sum over e in ptr[r]..ptr[r+1] of right[idx[e]] times
// row idx[e] of x, the first cols elements of each. Rows of x are ldx elements apart, those of y ldy. Entries are added
// in order and scaled last. If idx continues after the last of these rows, rows of x that it names are fetched ahead.
// If to is not nil, the sum of row r goes to row to[r] of y instead.
func GatherRows(ptr []int64, idx []int32, left []Float, right, x *Float, ldx int, y *Float, ldy, cols int, to []int32) {
	ptr = ptr[:len(left)+1]
	if len(left) == 0 || cols == 0 {
		return
	}
	places, last := placesOf(len(left), to), len(idx)-1
	switch {
	case last < 0 || level == Off:
		gatherRowsPlain(ptr, idx, left, right, x, ldx, y, ldy, cols, to)
	case level == AVX512:
		gatherRows512(len(left), &ptr[0], &idx[0], last, &left[0], right, x, ldx*size, y, ldy*size, cols, places,
			len(to)-1)
	default:
		gatherRows256(len(left), &ptr[0], &idx[0], last, &left[0], right, x, ldx*size, y, ldy*size, cols, places,
			len(to)-1)
	}
}

// SpMMRows sets row r of y, r < len(ptr)-1, to the sum over e in ptr[r]..ptr[r+1] of val[e] times row idx[e] of x, the
// first cols elements of each. Rows of x are ldx elements apart, those of y ldy. Entries are added in order. With add,
// the sum of a row starts from the row's old content. If idx continues after the last of these rows, rows of x that it
// names are fetched ahead.
func SpMMRows(ptr []int64, idx []int32, val []Float, x *Float, ldx int, y *Float, ldy, cols int, add bool) {
	if len(ptr) < 2 || cols == 0 {
		return
	}
	last := len(idx) - 1
	val = val[:len(idx)]
	switch {
	case last < 0 || level == Off:
		spmmRowsPlain(ptr, idx, val, x, ldx, y, ldy, cols, add)
	case level == AVX512:
		spmmRows512(len(ptr)-1, &ptr[0], &idx[0], last, &val[0], x, ldx*size, y, ldy*size, cols, add)
	default:
		spmmRows256(len(ptr)-1, &ptr[0], &idx[0], last, &val[0], x, ldx*size, y, ldy*size, cols, add)
	}
}

// FetchRows prefetches rows of x, the first cols elements of each, into the caches of the core while it does something
// else. Rows are ldx elements apart. It changes nothing.
func FetchRows(rows []int32, x *Float, ldx, cols int) {
	if len(rows) > 0 && cols > 0 && level != Off {
		fetchRows(len(rows), &rows[0], x, ldx*size, cols*size)
	}
}

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
