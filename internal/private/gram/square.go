package gram

import (
	"context"

	"privrec/internal/tensor"
)

// square is a dense (n, n) matrix in float64.
type square struct {
	n int
	x []float64
}

func newSquare(n int) square { return square{n, make([]float64, n*n)} }

// row returns row i.
func (a square) row(i int) []float64 { return a.x[i*a.n : (i+1)*a.n] }

// eigen returns the eigenvalues of a, in no order, and the eigenvectors as rows. It overwrites a. It fails as
// tensor.Eigen does.
func eigen(ctx context.Context, a square) (values []float64, vectors square, err error) {
	values, x, err := tensor.Eigen(ctx, a.n, a.x)
	return values, square{a.n, x}, err
}
