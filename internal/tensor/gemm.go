package tensor

import (
	"fmt"
)

// Gemm sets c = alpha op(a) op(b) + beta c, where op transposes if tA or tB is
// set. With beta = 0 the old c is never read, so it may hold anything. Zero
// sizes are legal: with no inner dimension c becomes beta c. c must not overlap
// a or b. With an inner dimension below 1024, the bits of an element depend only
// on its row of op(a) and its column of op(b).
func Gemm(tA, tB bool, alpha Float, a, b Matrix, beta Float, c Matrix) {
	check("gemm", a)
	check("gemm", b)
	check("gemm", c)
	m, k, n := a.Rows, a.Cols, b.Cols
	if tA {
		m, k = k, m
	}
	kb := b.Rows
	if tB {
		kb, n = n, kb
	}
	if kb != k || c.Rows != m || c.Cols != n {
		panic(fmt.Sprintf("tensor: gemm: %d x %d (transposed %t) times %d x %d (transposed %t) into %d x %d",
			a.Rows, a.Cols, tA, b.Rows, b.Cols, tB, c.Rows, c.Cols))
	}
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		scaleMatrix(beta, c)
		return
	}
	acc := beta != 0
	if acc && beta != 1 {
		scaleMatrix(beta, c)
	}
	gemm(gemmArgs{tA: tA, tB: tB, acc: acc, m: m, n: n, k: k, alpha: alpha,
		a: &a.Data[0], b: &b.Data[0], c: &c.Data[0], lda: a.Stride, ldb: b.Stride, ldc: c.Stride})
}

// scaleMatrix multiplies c by beta; beta = 0 overwrites with zeros.
func scaleMatrix(beta Float, c Matrix) {
	for i := range c.Rows {
		if row := Row(c, i); beta == 0 {
			clear(row)
		} else {
			Scale(beta, row)
		}
	}
}

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

// grid says into how many rows, columns and parts a product is cut.
type grid struct{ rows, cols, parts int }

// plan returns the cut of a product, by its shape.
func plan(m, n, k, nr int) grid {
	if Alone(m, n, k) {
		return grid{1, 1, 1}
	}
	flops := 2 * float64(m) * float64(n) * float64(k)
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

// Alone reports whether Gemm computes a product of (m, k) and (k, n) on one core. Several such products can share the
// cores, by Parallel.
func Alone(m, n, k int) bool { return 2*float64(m)*float64(n)*float64(k) < unitFlops }

// even rounds n down to an even number, so that two workers get equal shares, or to 1.
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

// quantumK divides the inner dimension of every part but the last, so that transposing packers see whole blocks.
const quantumK = 16
