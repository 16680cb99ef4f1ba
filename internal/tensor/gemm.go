package tensor

import "fmt"

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
