package kernel

import (
	"math"
	"unsafe"
)

// A row of bfloat16 values, the upper halves of float32 ones, lies in pairs, as a kernel reads
// them: word 2k of 16 is column k and word 2k+1 is column k+8, k < 8. A row begins every
// Bfloat16Group words or a multiple of that; words of columns that are not there are zero.

// Bfloat16Group is the largest number of columns that a kernel reads at once.
const Bfloat16Group = 32

// Bfloat16Word returns the index of the word of a row that holds a column.
func Bfloat16Word(col int) int { return col&^15 | col&7<<1 | col>>3&1 }

// Bfloat16 returns the bfloat16 value nearest to x; ties go to the value with an even last bit. NaN stays NaN.
func Bfloat16(x Float) uint16 {
	b := math.Float32bits(float32(x))
	if x != x {
		return uint16(b>>16 | 0x40)
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// FromBfloat16 returns the value of a word.
func FromBfloat16(w uint16) Float { return Float(math.Float32frombits(uint32(w) << 16)) }

// word returns the address of the word i places after p.
func word(p *uint16, i int) *uint16 { return (*uint16)(unsafe.Add(unsafe.Pointer(p), 2*i)) }

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

// GatherBfloat16 computes GatherRows with rows of bfloat16 values in x, ldx words apart. Sums are of float32 values: at
// every level a result has the same bits as that of GatherRows for the values of x.
func GatherBfloat16(ptr []int64, idx []int32, left []Float, right *Float, x *uint16, ldx int, y *Float, ldy, cols int,
	to []int32) {
	ptr = ptr[:len(left)+1]
	if len(left) == 0 || cols == 0 {
		return
	}
	places, last := placesOf(len(left), to), len(idx)-1
	switch {
	case last < 0 || level == Off:
		gatherBfloat16Plain(ptr, idx, left, right, x, ldx, y, ldy, cols, to)
	case level == AVX512:
		gatherBfloat16512(len(left), &ptr[0], &idx[0], last, &left[0], right, x, ldx*2, y, ldy*size, cols, places,
			len(to)-1)
	default:
		gatherBfloat16256(len(left), &ptr[0], &idx[0], last, &left[0], right, x, ldx*2, y, ldy*size, cols, places,
			len(to)-1)
	}
}

// roundRowsPlain is RoundRows in plain Go.
func roundRowsPlain(n int, x *Float, ldx, cols int, y *uint16, ldy int) {
	for i := range n {
		to := unsafe.Slice(word(y, i*ldy), ldy)
		for k, v := range unsafe.Slice(at(x, i*ldx), cols) {
			to[Bfloat16Word(k)] = Bfloat16(v)
		}
	}
}

// gatherBfloat16Plain is GatherBfloat16 in plain Go.
func gatherBfloat16Plain(ptr []int64, idx []int32, left []Float, right *Float, x *uint16, ldx int, y *Float, ldy,
	cols int, to []int32) {
	for r, l := range left {
		place := r
		if to != nil {
			place = int(to[r])
		}
		row := unsafe.Slice(at(y, place*ldy), cols)
		clear(row)
		for _, j := range idx[ptr[r]:ptr[r+1]] {
			v, words := *at(right, int(j)), unsafe.Slice(word(x, int(j)*ldx), ldx)
			for k := 0; k < cols; k += 8 {
				pairs := words[k&^15+k>>3&1:]
				for i := range row[k:min(k+8, cols)] {
					row[k+i] += v * FromBfloat16(pairs[2*i])
				}
			}
		}
		for k := range row {
			row[k] *= l
		}
	}
}
