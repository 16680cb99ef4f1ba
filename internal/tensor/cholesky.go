package tensor

import (
	"fmt"
	"math"
	"unsafe"

	"privrec/internal/tensor/kernel"
)

// factorBlock is the width of the block columns of a factor. It affects rounding, so results depend on it.
const factorBlock = 64

// LeastPivot is the fraction of a diagonal entry below which a pivot is only rounding error: 2^-20 in single precision,
// 2^-49 in double.
const LeastPivot = 1 / float64(uint64(1)<<(20+29*(unsafe.Sizeof(Float(0))/8)))

// Cholesky replaces a symmetric positive definite matrix a (n, n), given by its lower triangle, by the L of L L' = a.
// The numbers above the diagonal are neither read nor kept. It runs on the calling goroutine, so that many matrices can
// be factored side by side in Parallel, and takes n³/3 multiplications. ok is false at the first row whose pivot is not
// above LeastPivot times its diagonal entry: the matrix is not positive definite in this precision, and the content of
// a is useless.
func Cholesky(a Matrix) (row int, ok bool) {
	check("cholesky", a)
	if a.Rows != a.Cols {
		panic(fmt.Sprintf("tensor: cholesky: %d x %d is not square", a.Rows, a.Cols))
	}
	n := a.Rows
	var few [512]Float
	least := few[:]
	if n > len(few) {
		least = make([]Float, n)
	}
	for i := range n {
		least[i] = Float(LeastPivot) * a.Data[i*a.Stride+i]
	}
	for k := 0; k < n; k += factorBlock {
		end := min(k+factorBlock, n)
		if k > 0 {
			Gemm(false, true, -1, view(a, k, n, 0, k), view(a, k, end, 0, k), 1, view(a, k, n, k, end))
		}
		for i := k; i < n; i++ {
			ri := Row(a, i)[k:end]
			for j := range min(end, i) - k {
				rj := Row(a, k+j)[k:end]
				ri[j] = (ri[j] - kernel.Dot(ri[:j], rj[:j])) / rj[j]
			}
			if i >= end {
				continue
			}
			pivot := ri[i-k] - kernel.Dot(ri[:i-k], ri[:i-k])
			if !(pivot > 0 && pivot > least[i]) || math.IsInf(float64(pivot), 1) {
				return i, false
			}
			ri[i-k] = Float(math.Sqrt(float64(pivot)))
		}
	}
	return 0, true
}

// CholeskySolve replaces b (n) by the x with L L' x = b. l (n, n) is the result of Cholesky.
func CholeskySolve(l Matrix, b []Float) {
	check("cholesky solve", l)
	sameLen("cholesky solve", l.Rows, l.Cols, len(b))
	for i := range b {
		row := Row(l, i)
		b[i] = (b[i] - kernel.Dot(row[:i], b[:i])) / row[i]
	}
	for i := len(b) - 1; i >= 0; i-- {
		row := Row(l, i)
		b[i] /= row[i]
		kernel.Axpy(-b[i], row[:i], b[:i])
	}
}
