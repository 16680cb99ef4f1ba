package fft

import (
	"math"
	"math/cmplx"
	"testing"
)

// The first coefficients are those of the whole transform, within both bounds, whatever the length
// of the sequence and its centre.
func TestLow(t *testing.T) {
	const n = 1 << 13
	whole, all := New(n), make([]complex128, n/2+1)
	for _, length := range []int{1, 40, 1000, n, n + 77, 3*n - 5} {
		for name, x := range sequences(length) {
			sum := size(x)
			for _, count := range []int{1, 5, 16, 32} {
				for _, centre := range []int{0, 1, length / 2, length - 1} {
					l := NewLow(n, count)
					out := make([]complex128, count)
					l.Coefficients(out, x, centre)
					wrapped := make([]float64, n)
					for j, v := range x {
						wrapped[(j-centre+2*n)&(n-1)] += v
					}
					whole.Forward(all, wrapped)
					for k, z := range out {
						// The wrapped sums round too.
						if off, bound := cmplx.Abs(z-all[k]), (l.Error(length)+Error(n)+4*unit)*sum; off > bound {
							t.Errorf("%d entries, %s: coefficient %d of %d is off by %g, bound %g", length, name, k, count, off, bound)
						}
					}
				}
			}
		}
	}
	if NewLow(n, n/64) != nil {
		t.Error("a transform of blocks for many coefficients")
	}
}

// Single entries at all places of a block turn by the right angle.
func TestLowOfOne(t *testing.T) {
	const n, count = 1 << 15, 64
	l, out := NewLow(n, count), make([]complex128, count)
	for _, j := range []int{0, 1, 31, 32, 33, 63, 64, 700, n - 1} {
		x := make([]float64, j+1)
		x[j] = 1
		l.Coefficients(out, x, 5)
		for k, z := range out {
			if off := cmplx.Abs(z - Turn(-k*(j-5), n)); off > l.Error(len(x))+6*unit {
				t.Errorf("entry %d: coefficient %d is off by %g, bound %g", j, k, off, l.Error(len(x)))
			}
		}
	}
}

func TestBessel(t *testing.T) {
	for p := range orders {
		for _, half := range []float64{0, 1e-3, 0.05, math.Pi / 16} {
			if got, want := bessel(p, half), math.Jn(p, 2*half); math.Abs(got-want) > 1e-13*want+1e-20 {
				t.Errorf("J_%d(%g) is %g, want %g", p, 2*half, got, want)
			}
		}
	}
}

func BenchmarkLow(b *testing.B) {
	x := sequences(1 << 18)["spread"]
	l, out := NewLow(1<<19, 1000), make([]complex128, 1000)
	for b.Loop() {
		l.Coefficients(out, x, 0)
	}
}
