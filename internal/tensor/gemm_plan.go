package tensor

// How the product is laid out (after Goto & van de Geijn 2008 and BLIS): B is
// packed into panels as wide as the register tile; A is read where it lies, strip
// by strip as high as the tile, or packed in the rare cases where that is slow. A
// tile's sums stay in registers over a block of the inner dimension.
//
// The product is cut into units by shape alone: along rows, along columns, or
// along the inner dimension, where each part has its own C and the parts are
// added in order. An element of C sums over l in order within a part, whatever
// the rows and columns of its unit, so only the cut of the inner dimension shows
// in the bits.
const (
	blockK    = 512       // inner dimension of a packed block, at most
	blockN    = 320       // columns of a unit, at most
	keepB     = 512 << 10 // elements of packed B worth keeping between units
	packedA   = 64 << 10  // elements of packed A at a time, about
	unitFlops = 1e6       // multiplications and additions worth a unit of their own
	maxWanted = 32        // units aimed at for large products
	splitK    = 1024      // least inner dimension to cut
	partK     = 384       // inner dimension of a part, about
	maxParts  = 16
	maxSplitC = 1 << 20 // elements of C, at most, to cut the inner dimension
)

// grid is the cut of a product.
type grid struct{ rows, cols, parts int }

// plan cuts a product by its shape.
func plan(m, n, k, nr int) grid {
	flops := 2 * float64(m) * float64(n) * float64(k)
	if flops < unitFlops {
		return grid{1, 1, 1}
	}
	want := even(min(max(int(flops/unitFlops), 2), maxWanted))
	panels := (n + nr - 1) / nr
	wide := (n + blockN - 1) / blockN // least number of column groups
	switch {
	case k >= splitK && k >= 4*max(m, n) && m*n <= maxSplitC:
		return grid{1, wide, even(min((k+partK/2)/partK, maxParts, want))}
	case m <= 256 && n >= m:
		return grid{1, max(even(min(want, max(panels/2, 2), panels)), wide), 1}
	default:
		rows := even(min(want/wide, m/24))
		return grid{max(rows, 1), wide, 1}
	}
}

// even rounds down to an even number, so that two workers get equal shares, or
// to 1.
func even(n int) int {
	if n < 2 {
		return 1
	}
	return n &^ 1
}

// cut returns part i of n of the range 0..size, in multiples of q.
func cut(i, n, size, q int) (lo, hi int) {
	steps := (size + q - 1) / q
	return min(size, i*steps/n*q), min(size, (i+1)*steps/n*q)
}

// quantumK is what inner dimensions of parts are multiples of, the last aside, so
// that transposing packers see whole blocks.
const quantumK = 16
