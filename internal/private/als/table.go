package als

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// table is a dense matrix in float64, by rows. Releases are computed in it, since single precision would round sums by
// more than the noise allows for.
type table struct {
	rows, cols int
	x          []float64
}

func newTable(rows, cols int) table { return table{rows, cols, make([]float64, rows*cols)} }

// row returns row i.
func (t table) row(i int) []float64 { return t.x[i*t.cols : (i+1)*t.cols] }

// addOuter adds by v v' to the lower triangle of a square table.
func (t table) addOuter(by float64, v []float64) {
	for i, a := range v {
		axpy(by*a, v[:i+1], t.row(i)[:i+1])
	}
}

// mirror copies the lower triangle of a square table to the upper one.
func (t table) mirror() {
	for i := range t.rows {
		for j := range i {
			t.x[j*t.cols+i] = t.x[i*t.cols+j]
		}
	}
}

// gram returns by t't (cols, cols).
func (t table) gram(by float64) table {
	g := newTable(t.cols, t.cols)
	for i := range t.rows {
		g.addOuter(by, t.row(i))
	}
	g.mirror()
	return g
}

// times returns t y.
func (t table) times(y table) table {
	out := newTable(t.rows, y.cols)
	for i := range t.rows {
		for k, v := range t.row(i) {
			axpy(v, y.row(k), out.row(i))
		}
	}
	return out
}

// crossed returns t'y (t.cols, y.cols).
func (t table) crossed(y table) table {
	out := newTable(t.cols, y.cols)
	for i := range t.rows {
		for k, v := range t.row(i) {
			axpy(v, y.row(i), out.row(k))
		}
	}
	return out
}

// solve replaces b by the x with t x = b, by Cholesky. t is positive definite, and is overwritten.
func (t table) solve(b []float64) {
	n := t.rows
	for i := range n {
		for j := range i + 1 {
			sum := t.row(i)[j] - dot(t.row(i)[:j], t.row(j)[:j])
			if i == j {
				t.row(i)[i] = math.Sqrt(sum)
			} else {
				t.row(i)[j] = sum / t.row(j)[j]
			}
		}
	}
	for i := range n {
		b[i] = (b[i] - dot(t.row(i)[:i], b[:i])) / t.row(i)[i]
	}
	for i := n - 1; i >= 0; i-- {
		b[i] /= t.row(i)[i]
		axpy(-b[i], t.row(i)[:i], b[:i])
	}
}

// eigen returns the eigenvalues of a symmetric table, ascending, and the eigenvectors as columns.
func (t table) eigen() (values []float64, vectors table, err error) {
	for _, v := range t.x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, table{}, errors.New("eigenvalues of a matrix that is not finite")
		}
	}
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(t.rows, t.x), true) {
		return nil, table{}, errors.New("eigenvalues: the steps do not converge")
	}
	var q mat.Dense
	e.VectorsTo(&q)
	vectors = newTable(t.rows, t.rows)
	for i := range t.rows {
		copy(vectors.row(i), q.RawRowView(i))
	}
	return e.Values(nil), vectors, nil
}

// orthonormal replaces the columns by an orthonormal basis of their span orthogonal to the direction aside, of length
// 1. It runs Gram-Schmidt twice, so that rounding does not grow. It fails if the columns are dependent.
func (t table) orthonormal(aside []float64) error {
	columns := make([][]float64, t.cols)
	for k := range columns {
		c := make([]float64, t.rows)
		for i := range c {
			c[i] = t.row(i)[k]
		}
		for range 2 {
			for _, q := range append([][]float64{aside}, columns[:k]...) {
				if q != nil {
					axpy(-dot(q, c), q, c)
				}
			}
		}
		n := math.Sqrt(dot(c, c))
		if !(n > 0) || math.IsInf(1/n, 1) || math.IsInf(n, 1) {
			return errors.New("the columns of items' vectors are dependent")
		}
		for i := range c {
			c[i] /= n
			t.row(i)[k] = c[i]
		}
		columns[k] = c
	}
	return nil
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// axpy adds by x to y.
func axpy(by float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += by * v
	}
}
