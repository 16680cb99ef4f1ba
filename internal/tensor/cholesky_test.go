package tensor

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// positive returns X'X + shift I for a random X of rows x n, with a gap between rows.
func positive(r *rand.Rand, rows, n int, shift Float) Matrix {
	x, a := randomMatrix(r, rows, n, n), randomMatrix(r, n, n, n+3)
	for i := range n {
		clear(Row(a, i))
	}
	if n > 0 && rows > 0 {
		Gemm(true, false, 1, x, x, 0, a)
	}
	for i := range n {
		a.Data[i*a.Stride+i] += shift
	}
	return a
}

// The factor times its transpose is the matrix, and the solution solves it, on both sides of every block.
func TestCholesky(t *testing.T) {
	tolerance := 2e-5
	if unsafe.Sizeof(Float(0)) == 8 {
		tolerance = 1e-13
	}
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{0, 1, 2, 7, factorBlock - 1, factorBlock, factorBlock + 1, 2*factorBlock + 5, 600} {
			a := positive(r, 2*n, n, 1)
			l, b := clone(a), make([]Float, n)
			for i := range n {
				b[i] = Float(r.NormFloat64())
				for j := i + 1; j < n; j++ {
					l.Data[i*l.Stride+j] = Float(math.NaN()) // above the diagonal nothing is read
				}
			}
			if row, ok := Cholesky(l); !ok {
				t.Fatalf("%d: refused at row %d", n, row)
			}
			for i := range n {
				for j := range i + 1 {
					sum := 0.0
					for k := range j + 1 {
						sum += float64(l.Data[i*l.Stride+k]) * float64(l.Data[j*l.Stride+k])
					}
					if want := float64(a.Data[i*a.Stride+j]); math.Abs(sum-want) > tolerance*float64(n+10)*10 {
						t.Fatalf("%d: L L' is %v at (%d,%d), want %v", n, sum, i, j, want)
					}
				}
			}
			x := append([]Float(nil), b...)
			CholeskySolve(l, x)
			for i := range n {
				sum := 0.0
				for j := range n {
					sum += float64(a.Data[i*a.Stride+j]) * float64(x[j])
				}
				if math.Abs(sum-float64(b[i])) > 100*tolerance*float64(n+10) {
					t.Errorf("%d: (a x)_%d is %v, want %v", n, i, sum, b[i])
				}
			}
		}
	})
}

// The factor of a matrix has the same bits for any number of workers.
func TestCholeskyWorkers(t *testing.T) {
	a := positive(rand.New(rand.NewPCG(3, 4)), 400, 300, 1)
	factor := func(workers int) []Float {
		l := clone(a)
		for i := range l.Rows {
			clear(Row(l, i)[i+1:])
		}
		withWorkers(workers, func() { Cholesky(l) })
		var out []Float
		for i := range l.Rows {
			out = append(out, Row(l, i)[:i+1]...)
		}
		return out
	}
	if !sameBits(factor(1), factor(3)) {
		t.Error("the number of workers changes the factor")
	}
}

// What is not positive definite is refused, at its row.
func TestCholeskyRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		at   int
		set  Float
	}{
		{"negative", 5, 3, -1}, {"zero", 5, 0, 0}, {"not a number", 70, 66, Float(math.NaN())}, {"infinite", 3, 1, Float(math.Inf(1))},
	} {
		a := positive(rand.New(rand.NewPCG(5, 6)), 2*c.n, c.n, 1)
		a.Data[c.at*a.Stride+c.at] = c.set
		if row, ok := Cholesky(a); ok || row != c.at {
			t.Errorf("%s: row %d, %t, want refused at %d", c.name, row, ok, c.at)
		}
	}
	// Two equal columns: the second pivot is rounding.
	a := From(2, 2, []Float{1. / 3, 0, 1. / 3, 1. / 3})
	if row, ok := Cholesky(a); ok || row != 1 {
		t.Errorf("singular: row %d, %t", row, ok)
	}
	defer func() {
		if recover() == nil {
			t.Error("a matrix that is not square is no error")
		}
	}()
	Cholesky(New(2, 3))
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{32, 128, 512} {
		a := positive(rand.New(rand.NewPCG(1, 1)), 2*n, n, 1)
		l := clone(a)
		b.Run(map[int]string{32: "32", 128: "128", 512: "512"}[n], func(b *testing.B) {
			for b.Loop() {
				copy(l.Data, a.Data)
				Cholesky(l)
			}
		})
	}
}
