package ials

import (
	"math"
	"testing"
	"unsafe"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// The solution is that of Gauss in float64, at every remainder of the columns that are made together.
func TestSolveSystem(t *testing.T) {
	tolerance := 1e-4
	if unsafe.Sizeof(tensor.Float(0)) == 8 {
		tolerance = 1e-11
	}
	s := rng.Seed(3).Stream("system")
	for n := 1; n <= 70; n++ {
		x := make([]float64, n*(n+2)) // A = I + X X'
		for i := range x {
			x[i] = float64(tensor.Float(s.NormFloat64()))
		}
		a, plain := make([]tensor.Float, (n+1)*n), make([][]float64, n)
		b := make([]float64, n)
		for i := range n {
			plain[i] = make([]float64, n)
			for j := range n {
				sum := 0.0
				for k := range n + 2 {
					sum += x[i*(n+2)+k] * x[j*(n+2)+k]
				}
				if i == j {
					sum++
				}
				a[i*n+j] = tensor.Float(sum)
				plain[i][j] = float64(a[i*n+j])
				if j > i {
					a[i*n+j] = tensor.Float(math.NaN()) // above the diagonal nothing is read
				}
			}
			a[n*n+i] = tensor.Float(s.NormFloat64())
			b[i] = float64(a[n*n+i])
		}
		want := solution(plain, b)
		if row, ok := solveSystem(a, make([]tensor.Float, n)); !ok {
			t.Fatalf("%d: refused at row %d", n, row)
		}
		for i, v := range a[n*n:] {
			if !(math.Abs(float64(v)-want[i]) <= tolerance) {
				t.Errorf("%d: number %d is %v, want %v", n, i, v, want[i])
			}
		}
	}
}

// A matrix that is not positive definite is refused at its first bad row, wherever that lies.
func TestSolveSystemRefuses(t *testing.T) {
	for _, n := range []int{1, 4, 5, 11} {
		for bad := range n {
			for _, v := range []tensor.Float{0, -1, tensor.Float(math.Inf(1)), tensor.Float(math.NaN())} {
				a := make([]tensor.Float, (n+1)*n)
				for i := range n {
					a[i*n+i] = 1
				}
				a[bad*n+bad] = v
				if row, ok := solveSystem(a, make([]tensor.Float, n)); ok || row != bad {
					t.Errorf("%d rows, %v at row %d: row %d, %t", n, v, bad, row, ok)
				}
			}
		}
	}
}
