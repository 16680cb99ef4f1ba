package ease

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"privrec/internal/progress"
	"privrec/internal/tensor"
)

// block is the width of the block columns of the inverse, and group the height of the row groups of its triangular
// part. They affect only the time.
const (
	block = 256
	group = 1024
)

// Invert replaces a symmetric positive definite matrix, given by its lower triangle, by its inverse, both triangles. It
// takes n³ floating-point operations, nearly all in tensor.Gemm, and memory for n block numbers besides a: the Cholesky
// factor L, its inverse, and their product L^-T L^-1 all take the place of a.
//
// It fails on a matrix that is not positive definite in the arithmetic of tensor.Float, naming the row, and if ctx
// ends.
func Invert(ctx context.Context, a tensor.Matrix) error {
	n := a.Rows
	for i := range n {
		clear(tensor.Row(a, i)[i+1:])
	}
	w := workspace{panel: tensor.NewTable(n, min(n, block)), product: tensor.NewTable(n, min(n, block)),
		least: make([]float64, n)}
	for i := range n {
		w.least[i] = leastPivot * float64(a.Data[i*a.Stride+i])
	}
	defer tensor.Free(w.panel)
	defer tensor.Free(w.product)
	s := progress.BeginShares(ctx, fmt.Sprintf("invert a matrix, %d by %d", n, n))
	defer s.End()
	all, done := 0.0, 0.0
	for p := range phases {
		for k := 0; k < n; k += block {
			all += cost(p, n, k)
		}
	}
	for p, phase := range [phases]func(tensor.Matrix, int) error{w.factor, w.invertFactor, w.multiply} {
		for k := 0; k < n; k += block {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := phase(a, k); err != nil {
				return err
			}
			done += cost(p, n, k)
			s.Share(done / all)
		}
	}
	mirror(a)
	return nil
}

// phases is the number of phases of the inversion, each over all block columns.
const phases = 3

// cost returns an estimate of the multiplications of a phase for block column k of n rows, at least those of a block:
// the product of the heights, widths and depths of its Gemm.
func cost(phase, n, k int) float64 {
	end := min(k+block, n)
	switch phase {
	case 0: // factor: the rows from k on by the columns left of it
		return block * float64(n-k) * float64(k+block)
	case 1: // invertFactor: the triangle below, which begins at the right end
		below := float64(n - min((n-1)/block*block-k+block, n))
		return block * (below*(below+group)/2 + block*float64(block))
	}
	return block * float64(end) * float64(n-k) // multiply
}

type workspace struct {
	panel, product tensor.Matrix
	least          []float64 // smallest pivot of each row that is not all rounding
}

// leastPivot is the fraction of a diagonal entry below which a pivot is only rounding error: 2^-20 in single precision,
// 2^-49 in double.
const leastPivot = 1 / float64(uint64(1)<<(20+29*(unsafe.Sizeof(tensor.Float(0))/8)))

// view returns rows r0 to r1 and columns c0 to c1 of a.
func view(a tensor.Matrix, r0, r1, c0, c1 int) tensor.Matrix {
	return tensor.ColsView(tensor.RowsView(a, r0, r1), c0, c1)
}

func copyInto(dst, src tensor.Matrix) {
	for i := range src.Rows {
		copy(tensor.Row(dst, i), tensor.Row(src, i))
	}
}

// factor computes block column k of the Cholesky factor from the columns left of it.
// On the diagonal it leaves the inverse of the factor's block, which is all that
// later steps need.
func (w workspace) factor(a tensor.Matrix, k int) error {
	n, end := a.Rows, min(k+block, a.Rows)
	column := view(a, k, n, k, end)
	if k > 0 {
		tensor.Gemm(false, true, -1, view(a, k, n, 0, k), view(a, k, end, 0, k), 1, column)
	}
	diagonal := view(a, k, end, k, end)
	if i, err := invertTriangle(diagonal, w.least[k:end]); err != nil {
		return fmt.Errorf("row %d: %w", k+i, err)
	}
	if end < n {
		below := view(a, end, n, k, end)
		old := view(w.panel, end, n, 0, end-k)
		copyInto(old, below)
		tensor.Gemm(false, true, 1, old, diagonal, 0, below)
	}
	return nil
}

// invertFactor computes a block column of the inverse of the factor, from the right
// end of the matrix: X[below] = -X[below, below] L[below] X[diagonal].
func (w workspace) invertFactor(a tensor.Matrix, k int) error {
	n := a.Rows
	k = (n-1)/block*block - k // last column first
	end := min(k+block, n)
	if end == n {
		return nil
	}
	below, old := view(a, end, n, k, end), view(w.panel, end, n, 0, end-k)
	copyInto(old, below)
	right := view(w.product, end, n, 0, end-k)
	tensor.Gemm(false, false, 1, old, view(a, k, end, k, end), 0, right)
	for lo := end; lo < n; lo += group {
		hi := min(lo+group, n)
		// Right of the diagonal the rows hold zeros.
		tensor.Gemm(false, false, -1, view(a, lo, hi, end, hi), view(w.product, end, hi, 0, end-k), 0,
			view(a, lo, hi, k, end))
	}
	return nil
}

// multiply computes block row k of X'X. It needs only the rows from k on, so the rows above may be overwritten already.
func (w workspace) multiply(a tensor.Matrix, k int) error {
	n, end := a.Rows, min(k+block, a.Rows)
	// The product is computed transposed, (k to end) wide, which is the workspace's shape.
	out := view(w.product, 0, end, 0, end-k)
	tensor.Gemm(true, false, 1, view(a, k, n, 0, end), view(a, k, n, k, end), 0, out)
	for i := k; i < end; i++ {
		row := tensor.Row(a, i)
		for j := 0; j <= i; j++ {
			row[j] = out.Data[j*out.Stride+i-k]
		}
	}
	return nil
}

// mirror copies the lower triangle to the upper one.
func mirror(a tensor.Matrix) {
	const tile = 128
	tensor.Parallel(a.Rows, tile, func(_, lo, hi int) {
		for c0 := 0; c0 < hi; c0 += tile {
			for i := lo; i < hi; i++ {
				row := tensor.Row(a, i)
				for j := c0; j < min(i, c0+tile); j++ {
					a.Data[j*a.Stride+i] = row[j]
				}
			}
		}
	})
}

// invertTriangle replaces a small positive definite matrix, given by its lower
// triangle, by the inverse of its Cholesky factor, in float64; above the diagonal it
// writes zeros. It fails with the row whose pivot is not above the least one given.
func invertTriangle(a tensor.Matrix, least []float64) (row int, err error) {
	n := a.Rows
	l := make([]float64, n*n)
	for i := range n {
		for j := 0; j <= i; j++ {
			sum := float64(a.Data[i*a.Stride+j])
			for k := range j {
				sum -= l[i*n+k] * l[j*n+k]
			}
			if i != j {
				l[i*n+j] = sum / l[j*n+j]
			} else if !(sum > 0 && sum > least[i]) || math.IsInf(sum, 1) {
				return i, fmt.Errorf("pivot is %g: the matrix is not positive definite, or lambda is too small for "+
					"this precision", sum)
			} else {
				l[i*n+i] = math.Sqrt(sum)
			}
		}
	}
	// Column j of the inverse by substitution; x is kept by columns, which are rows here.
	x := make([]float64, n*n)
	for j := range n {
		col := x[j*n : (j+1)*n]
		col[j] = 1 / l[j*n+j]
		for i := j + 1; i < n; i++ {
			var sum float64
			for k := j; k < i; k++ {
				sum += l[i*n+k] * col[k]
			}
			col[i] = -sum / l[i*n+i]
		}
	}
	for i := range n {
		r := tensor.Row(a, i)
		for j := range n {
			if j <= i {
				r[j] = tensor.Float(x[j*n+i])
			} else {
				r[j] = 0
			}
		}
	}
	return 0, nil
}
