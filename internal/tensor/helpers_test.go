package tensor

import (
	"math"
	"math/rand/v2"
	"testing"

	"privrec/internal/tensor/kernel"
)

// eachLevel runs f on every SIMD level up to the one in use.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	for l, top := kernel.Off, kernel.Current(); l <= top; l++ {
		t.Run(l.String(), func(t *testing.T) {
			defer kernel.Use(l)()
			f(t)
		})
	}
}

// withWorkers runs f with n workers.
func withWorkers(n int, f func()) {
	old := Workers()
	SetWorkers(n)
	defer SetWorkers(old)
	f()
}

// randomMatrix has the given stride; gaps between rows hold NaN, so that a read
// of them shows.
func randomMatrix(r *rand.Rand, rows, cols, stride int) Matrix {
	m := Matrix{Rows: rows, Cols: cols, Stride: max(stride, cols, 1)}
	if rows == 0 || cols == 0 {
		return m
	}
	m.Data = make([]Float, (rows-1)*m.Stride+cols)
	for i := range m.Data {
		m.Data[i] = Float(math.NaN())
	}
	for i := range rows {
		for j := range cols {
			m.Data[i*m.Stride+j] = Float(r.NormFloat64())
		}
	}
	return m
}

func clone(m Matrix) Matrix {
	m.Data = append([]Float(nil), m.Data...)
	return m
}

// sameBits reports whether two slices are equal bit for bit.
func sameBits(a, b []Float) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float64bits(float64(a[i])) != math.Float64bits(float64(b[i])) {
			return false
		}
	}
	return true
}
