//go:build !f64

package tensor

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"
)

// TestUseBLAS compares gonum's functions before and after UseBLAS.
func TestUseBLAS(t *testing.T) {
	UseBLAS()
	defer blas32.Use(gonum.Implementation{})
	ref := gonum.Implementation{}
	r := rand.New(rand.NewPCG(1, 8))
	close := func(what string, got, want []Float) {
		t.Helper()
		for i := range want {
			if math.Abs(float64(got[i]-want[i])) > 1e-4 {
				t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], want[i])
			}
		}
	}
	for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
		for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			p := product{tA == blas.Trans, tB == blas.Trans, 31, 45, 60, 1, 0, 0}
			a, b, c := p.operands(r)
			want := clone(c)
			blas32.Gemm(tA, tB, 1.5, a, b, 0, c)
			ref.Sgemm(tA, tB, 31, 45, 60, 1.5, a.Data, a.Stride, b.Data, b.Stride, 0, want.Data, want.Stride)
			close("gemm", c.Data, want.Data)
		}
		a, x, y := randomMatrix(r, 20, 30, 30), randomMatrix(r, 1, 30, 30).Data, randomMatrix(r, 1, 30, 30).Data
		lx, ly := 30, 20
		if tA == blas.Trans {
			lx, ly = 20, 30
		}
		for _, beta := range []float32{0, 1, 0.5} {
			want := append([]float32(nil), y...)
			blas32.Gemv(tA, 2, a, blas32.Vector{N: lx, Inc: 1, Data: x}, beta, blas32.Vector{N: ly, Inc: 1, Data: y})
			ref.Sgemv(tA, 20, 30, 2, a.Data, 30, x, 1, beta, want, 1)
			close("gemv", y, want)
		}
	}
	for _, inc := range []int{1, 2} {
		x, y := randomMatrix(r, 1, 50, 50).Data, randomMatrix(r, 1, 50, 50).Data
		n := 50 / inc
		want := append([]float32(nil), y...)
		vx, vy := blas32.Vector{N: n, Inc: inc, Data: x}, blas32.Vector{N: n, Inc: inc, Data: y}
		blas32.Axpy(3, vx, vy)
		ref.Saxpy(n, 3, x, inc, want, inc)
		close("axpy", y, want)
		if got, want := blas32.Dot(vx, vy), ref.Sdot(n, x, inc, y, inc); math.Abs(float64(got-want)) > 1e-3 {
			t.Fatalf("dot %g, want %g", got, want)
		}
		blas32.Scal(0.5, vy)
		ref.Sscal(n, 0.5, want, inc)
		close("scal", y, want)
	}
}

// TestBLASZeroReadsNothing: by the rules of BLAS alpha = 0 does not reference A and x.
func TestBLASZeroReadsNothing(t *testing.T) {
	nan := float32(math.NaN())
	a, x := []float32{nan, nan, nan, nan}, []float32{nan, nan}
	for _, trans := range []blas.Transpose{blas.NoTrans, blas.Trans} {
		y := []float32{2, 4}
		BLAS{}.Sgemv(trans, 2, 2, 0, a, 2, x, 1, 0.5, y, 1)
		if y[0] != 1 || y[1] != 2 {
			t.Errorf("gemv %c: %v", trans, y)
		}
	}
	y := []float32{2, 4}
	BLAS{}.Saxpy(2, 0, x, 1, y, 1)
	if y[0] != 2 || y[1] != 4 {
		t.Errorf("axpy: %v", y)
	}
}
