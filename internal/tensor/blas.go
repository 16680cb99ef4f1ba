//go:build !f64

package tensor

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"

	"privrec/internal/tensor/kernel"
)

// BLAS is gonum's implementation with faster products from this package. Everything else runs in gonum's own code:
// methods that it does not override, vectors with strides, and products by zero, which must not read their operands.
type BLAS struct{ gonum.Implementation }

// UseBLAS makes gonum's blas32 functions run on this package's kernels. Call it
// once at the start of a program: it changes a global of gonum. Under the f64
// tag it does nothing.
func UseBLAS() { blas32.Use(BLAS{}) }

// Sgemm computes c = alpha op(a) op(b) + beta c.
func (impl BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	// gonum checks its arguments and says what is wrong; an empty product costs
	// nothing, and leaves c alone with beta = 1.
	ra, ca, rb, cb := m, k, k, n
	if tA != blas.NoTrans {
		ra, ca = k, m
	}
	if tB != blas.NoTrans {
		rb, cb = n, k
	}
	good := fits(ra, ca, lda, a) && fits(rb, cb, ldb, b) && fits(m, n, ldc, c) && known(tA) && known(tB)
	if !good || m == 0 || n == 0 || k == 0 {
		impl.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	Gemm(tA != blas.NoTrans, tB != blas.NoTrans, alpha,
		Matrix{Rows: ra, Cols: ca, Stride: lda, Data: a},
		Matrix{Rows: rb, Cols: cb, Stride: ldb, Data: b}, beta,
		Matrix{Rows: m, Cols: n, Stride: ldc, Data: c})
}

// Sgemv computes y = alpha op(a) x + beta y.
func (impl BLAS) Sgemv(t blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int,
	beta float32, y []float32, incY int) {
	lx, ly := n, m
	if t != blas.NoTrans {
		lx, ly = m, n
	}
	if alpha == 0 || incX != 1 || incY != 1 || m <= 0 || n <= 0 || !fits(m, n, lda, a) || len(x) < lx || len(y) < ly ||
		!known(t) {
		impl.Implementation.Sgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	y = y[:ly]
	if beta == 0 {
		clear(y)
	} else if beta != 1 {
		Scale(beta, y)
	}
	for i := range m {
		if row := a[i*lda : i*lda+n]; t == blas.NoTrans {
			y[i] += alpha * kernel.Dot(row, x)
		} else {
			kernel.Axpy(alpha*x[i], row, y)
		}
	}
}

// Saxpy adds alpha x to y.
func (impl BLAS) Saxpy(n int, alpha float32, x []float32, incX int, y []float32, incY int) {
	if alpha == 0 || incX != 1 || incY != 1 || n <= 0 || len(x) < n || len(y) < n {
		impl.Implementation.Saxpy(n, alpha, x, incX, y, incY)
		return
	}
	kernel.Axpy(alpha, x[:n], y[:n])
}

// Sdot returns the inner product of x and y.
func (impl BLAS) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	if incX != 1 || incY != 1 || n <= 0 || len(x) < n || len(y) < n {
		return impl.Implementation.Sdot(n, x, incX, y, incY)
	}
	return kernel.Dot(x[:n], y[:n])
}

// Sscal multiplies x by alpha.
func (impl BLAS) Sscal(n int, alpha float32, x []float32, incX int) {
	if incX != 1 || n <= 0 || len(x) < n || alpha == 0 {
		impl.Implementation.Sscal(n, alpha, x, incX)
		return
	}
	kernel.ScaleTo(alpha, x[:n], x[:n])
}

// known reports whether t is a transposition that gonum accepts.
func known(t blas.Transpose) bool { return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans }

// fits reports whether data can hold rows x cols with stride ld.
func fits(rows, cols, ld int, data []float32) bool {
	return rows >= 0 && cols >= 0 && ld >= max(1, cols) && (rows == 0 || cols == 0 || len(data) >= (rows-1)*ld+cols)
}
