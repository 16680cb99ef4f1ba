package tensor

import (
	"context"
	"errors"
	"math"
)

// Chunks of the parallel loops. Their shape does not depend on the number of workers, and one goroutine computes each
// number in one order, so results do not depend on it either.
const (
	eigenRows    = 32
	eigenColumns = 128
)

// Eigen returns the eigenvalues of a symmetric matrix a (n, n), in no order, and the eigenvectors as the rows of a
// matrix. Rows follow each other without gaps. It overwrites a. It reduces a to tridiagonal form by Householder
// reflections, finds its eigenvalues by implicit QL steps (Martin, Reinsch, Wilkinson, Numerische Mathematik 11, 1968;
// Dubrulle, Martin, Wilkinson, Numerische Mathematik 12, 1968), and transforms the vectors back. It takes about 10 n³
// operations. It fails when ctx ends, and on numbers that are not finite.
func Eigen(ctx context.Context, n int, a []float64) (values, vectors []float64, err error) {
	for _, v := range a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, errors.New("eigenvalues of a matrix that is not finite")
		}
	}
	d, e, taus, err := tridiagonal(ctx, n, a)
	if err != nil {
		return nil, nil, err
	}
	z := make([]float64, n*n) // rows are vectors
	for i := range n {
		z[i*n+i] = 1
	}
	if err := ql(ctx, d, e, z); err != nil {
		return nil, nil, err
	}
	return d, z, back(ctx, n, a, taus, z)
}

// tridiagonal returns the diagonal and the subdiagonal of a tridiagonal matrix similar to a. It leaves the reflection
// vector of step k in column k of a, below the diagonal: a_new = H a H, H = I - tau v v'.
func tridiagonal(ctx context.Context, n int, a []float64) (d, e, taus []float64, err error) {
	d, e, taus = make([]float64, n), make([]float64, n), make([]float64, n)
	v, p := make([]float64, n), make([]float64, n)
	for k := 0; k+2 < n; k++ {
		if k%16 == 0 && ctx.Err() != nil {
			return nil, nil, nil, ctx.Err()
		}
		size := 0.0
		for i := k + 1; i < n; i++ {
			v[i] = a[i*n+k]
			size = math.Max(size, math.Abs(v[i]))
		}
		rest := 0.0
		for i := k + 2; i < n; i++ {
			rest = math.Max(rest, math.Abs(v[i]))
		}
		if rest == 0 { // nothing to reflect
			e[k] = v[k+1]
			for i := k + 1; i < n; i++ {
				a[i*n+k] = 0
			}
			continue
		}
		sum := 0.0
		for i := k + 1; i < n; i++ {
			v[i] /= size
			sum += v[i] * v[i]
		}
		alpha := -math.Copysign(math.Sqrt(sum), v[k+1])
		e[k] = alpha * size
		v[k+1] -= alpha
		tau := 1 / (-alpha * v[k+1]) // 2/|v|²
		taus[k] = tau
		Parallel(n-k-1, eigenRows, func(_, lo, hi int) { // p = tau A v
			for i := k + 1 + lo; i < k+1+hi; i++ {
				p[i] = tau * dot64(a[i*n+k+1:(i+1)*n], v[k+1:])
			}
		})
		half := tau / 2 * dot64(p[k+1:], v[k+1:])
		for i := k + 1; i < n; i++ {
			p[i] -= half * v[i]
		}
		Parallel(n-k-1, eigenRows, func(_, lo, hi int) { // A - v p' - p v'
			for i := k + 1 + lo; i < k+1+hi; i++ {
				row, vi, pi := a[i*n:(i+1)*n], v[i], p[i]
				for j := k + 1; j < n; j++ {
					row[j] -= vi*p[j] + pi*v[j]
				}
			}
		})
		for i := k + 1; i < n; i++ {
			a[i*n+k] = v[i]
		}
	}
	for i := range n {
		d[i] = a[i*n+i]
	}
	if n > 1 {
		e[n-2] = a[(n-1)*n+n-2]
	}
	return d, e, taus, nil
}

// rotation is a plane rotation of rows i and i+1.
type rotation struct {
	i    int
	c, s float64
}

// manyRotations is the number of rotations collected before they are applied to the vectors.
const manyRotations = 1 << 13

// ql replaces the diagonal d by the eigenvalues of the tridiagonal matrix with diagonal d and subdiagonal e, e[i] below
// d[i], and applies its rotations to the rows of z.
func ql(ctx context.Context, d, e, z []float64) error {
	n := len(d)
	var turns []rotation
	apply := func() {
		Parallel(n, eigenColumns, func(_, lo, hi int) {
			for _, t := range turns {
				a, b := z[t.i*n+lo:t.i*n+hi], z[(t.i+1)*n+lo:(t.i+1)*n+hi]
				for j, y := range b {
					x := a[j]
					b[j] = t.s*x + t.c*y
					a[j] = t.c*x - t.s*y
				}
			}
		})
		turns = turns[:0]
	}
	for l := range n {
		for tries := 0; ; tries++ {
			m := l
			for ; m+1 < n; m++ {
				if small := math.Abs(d[m]) + math.Abs(d[m+1]); math.Abs(e[m]) <= 0x1p-53*small {
					break
				}
			}
			if m == l {
				break
			}
			if tries == 60 {
				return errors.New("eigenvalues: the steps do not converge")
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			g := (d[l+1] - d[l]) / (2 * e[l])
			r := math.Hypot(g, 1)
			g = d[m] - d[l] + e[l]/(g+math.Copysign(r, g))
			s, c, p := 1.0, 1.0, 0.0
			i := m - 1
			for ; i >= l; i-- {
				f, b := s*e[i], c*e[i]
				r = math.Hypot(f, g)
				if e[i+1] = r; r == 0 { // it falls apart
					d[i+1] -= p
					e[m] = 0
					break
				}
				s, c = f/r, g/r
				g = d[i+1] - p
				r = (d[i]-g)*s + 2*c*b
				p = s * r
				d[i+1] = g + p
				g = c*r - b
				turns = append(turns, rotation{i, c, s})
			}
			if len(turns) >= manyRotations {
				apply()
			}
			if r == 0 && i >= l {
				continue
			}
			d[l] -= p
			e[l], e[m] = g, 0
		}
	}
	apply()
	return nil
}

// back applies the reflections that tridiagonal left in a to the rows of z.
func back(ctx context.Context, n int, a, taus, z []float64) error {
	v := make([][]float64, n)
	for k := range taus {
		if taus[k] == 0 {
			continue
		}
		v[k] = make([]float64, n-k-1)
		for i := range v[k] {
			v[k][i] = a[(k+1+i)*n+k]
		}
	}
	Parallel(n, eigenRows, func(_, lo, hi int) {
		for k := n - 1; k >= 0; k-- {
			if v[k] == nil || ctx.Err() != nil {
				continue
			}
			for r := lo; r < hi; r++ {
				x := z[r*n+k+1 : (r+1)*n]
				f := taus[k] * dot64(v[k], x)
				for j, w := range v[k] {
					x[j] -= f * w
				}
			}
		}
	})
	return ctx.Err()
}

// dot64 returns the inner product. It adds up four sums, so that it need not wait for each addition.
func dot64(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return a + b + (c + d)
}
