package tensor

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// symmetric returns the matrix (n, n) with the values of at for i up to j.
func symmetric(n int, at func(i, j int) float64) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		for j := i; j < n; j++ {
			v := at(i, j)
			a[i*n+j], a[j*n+i] = v, v
		}
	}
	return a
}

// Eigenvalues are those of another program, vectors have length 1 and stand on each other, and the two give the
// matrix back; also where values are equal, or nothing is off the diagonal.
func TestEigen(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "n")
		entry := rapid.SampledFrom([]*rapid.Generator[float64]{
			rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{0, 0, 0, 1}),
			rapid.SampledFrom([]float64{0, 1e-9, 1, 1e9}), rapid.Just(2.0),
		}).Draw(rt, "entries")
		a := symmetric(n, func(int, int) float64 { return entry.Draw(rt, "entry") })
		size := 1e-300
		for _, v := range a {
			size = math.Max(size, math.Abs(v))
		}
		size *= float64(n)
		values, q, err := Eigen(t.Context(), n, slices.Clone(a))
		if err != nil {
			rt.Fatal(err)
		}
		var want mat.EigenSym
		if !want.Factorize(mat.NewSymDense(n, slices.Clone(a)), false) {
			rt.Fatal("the other program does not converge")
		}
		sorted := slices.Sorted(slices.Values(values))
		for k, v := range want.Values(nil) {
			if math.Abs(v-sorted[k]) > 1e-12*size {
				rt.Fatalf("eigenvalue %d is %g, want %g", k, sorted[k], v)
			}
		}
		for i := range n {
			for j := range n {
				of, again := 0.0, 0.0
				for k := range n {
					of += q[i*n+k] * q[j*n+k]
					again += values[k] * q[k*n+i] * q[k*n+j]
				}
				if i == j {
					of--
				}
				if math.Abs(of) > 1e-12 || math.Abs(again-a[i*n+j]) > 1e-12*size {
					rt.Fatalf("vectors %d and %d: %g; entry %g, want %g", i, j, of, again, a[i*n+j])
				}
			}
		}
	})
}

func TestEigenRefuses(t *testing.T) {
	if _, _, err := Eigen(t.Context(), 2, symmetric(2, func(int, int) float64 { return math.NaN() })); err == nil {
		t.Error("no number")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := symmetric(20, func(i, j int) float64 { return float64(i + j) })
	if _, _, err := Eigen(ctx, 20, a); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
