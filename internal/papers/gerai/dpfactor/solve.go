package dpfactor

import "math"

// square is a symmetric matrix (n, n); only its lower triangle is used.
type square struct {
	n int
	a []float64
}

func newSquare(n int) square { return square{n, make([]float64, n*n)} }

// reset makes the matrix lambda I.
func (s square) reset(lambda float64) {
	clear(s.a)
	for i := range s.n {
		s.a[i*s.n+i] = lambda
	}
}

// add adds x x'.
func (s square) add(x []float64) {
	for i, v := range x {
		row := s.a[i*s.n : i*s.n+i+1]
		for j := range row {
			row[j] += v * x[j]
		}
	}
}

// factor replaces the matrix by its Cholesky factor L. The matrix is lambda I plus a positive semidefinite one, so
// every pivot is at least lambda except for rounding.
func (s square) factor() {
	for i := range s.n {
		ri := s.a[i*s.n:]
		for j := range i + 1 {
			rj := s.a[j*s.n:]
			sum := ri[j]
			for k := range j {
				sum -= ri[k] * rj[k]
			}
			if i == j {
				ri[i] = math.Sqrt(sum)
			} else {
				ri[j] = sum / rj[j]
			}
		}
	}
}

// solve replaces b by the x with L L' x = b, after factor.
func (s square) solve(b []float64) {
	for i := range s.n {
		row, v := s.a[i*s.n:], b[i]
		for k := range i {
			v -= row[k] * b[k]
		}
		b[i] = v / row[i]
	}
	for i := s.n - 1; i >= 0; i-- {
		v := b[i]
		for k := i + 1; k < s.n; k++ {
			v -= s.a[k*s.n+i] * b[k]
		}
		b[i] = v / s.a[i*s.n+i]
	}
}
