package fft

import (
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// sequences are entries that are spread, concentrated, of many sizes, and of both signs.
func sequences(n int) map[string][]float64 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	out := map[string][]float64{}
	for name, f := range map[string]func(int) float64{
		"spread":       func(int) float64 { return r.Float64() },
		"signs":        func(int) float64 { return r.NormFloat64() },
		"sizes":        func(int) float64 { return math.Exp(-40 * r.Float64()) },
		"one":          func(j int) float64 { return float64(max(0, 1-(j-n/3)*(j-n/3))) },
		"concentrated": func(j int) float64 { return math.Exp(-float64(j*j) / 50) },
	} {
		x := make([]float64, n)
		for j := range x {
			x[j] = f(j)
		}
		out[name] = x
	}
	return out
}

func size(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += math.Abs(v)
	}
	return s
}

// precise is a number of 120 bits.
func precise(v float64) *big.Float { return new(big.Float).SetPrec(120).SetFloat64(v) }

// roots returns the cosines of 2 pi j/n in 120 bits, by halving angles.
func roots(n int) (cos, sin []*big.Float) {
	cos, sin = make([]*big.Float, n), make([]*big.Float, n)
	zero, one := precise(0), precise(1)
	cos[0], sin[0] = one, zero
	add := func(a, b *big.Float) *big.Float { return precise(0).Add(a, b) }
	mul := func(a, b *big.Float) *big.Float { return precise(0).Mul(a, b) }
	sub := func(a, b *big.Float) *big.Float { return precise(0).Sub(a, b) }
	c, s := precise(-1), precise(0) // a half turn
	for step := n / 2; step >= 1; step /= 2 {
		cos[step], sin[step] = c, s
		next := precise(0).Sqrt(mul(precise(0.5), add(one, c)))
		if step == n/2 {
			s = one
			next = zero
		} else {
			s = precise(0).Quo(s, mul(precise(2), next))
		}
		c = next
	}
	for step := n / 2; step >= 1; step /= 2 {
		for j := 0; j+step < n; j += 2 * step {
			cos[j+step] = sub(mul(cos[j], cos[step]), mul(sin[j], sin[step]))
			sin[j+step] = add(mul(sin[j], cos[step]), mul(cos[j], sin[step]))
		}
	}
	return cos, sin
}

// Every coefficient is within its bound of the sum that defines it, in 120 bits.
func TestForward(t *testing.T) {
	for n := 8; n <= 512; n *= 2 {
		cos, sin := roots(n)
		r := New(n)
		for name, x := range sequences(n) {
			out, all := make([]complex128, n/2+1), size(x)
			r.Forward(out, x)
			for k, z := range out {
				re, im := precise(0), precise(0)
				for j, v := range x {
					re.Add(re, precise(0).Mul(precise(v), cos[j*k%n]))
					im.Sub(im, precise(0).Mul(precise(v), sin[j*k%n]))
				}
				offRe, _ := re.Sub(re, precise(real(z))).Float64()
				offIm, _ := im.Sub(im, precise(imag(z))).Float64()
				if off := math.Hypot(offRe, offIm); off > Error(n)*all {
					t.Errorf("length %d, %s: coefficient %d is off by %g, bound %g", n, name, k, off, Error(n)*all)
				}
			}
			few := make([]complex128, 3)
			r.Forward(few, x)
			for k := range few {
				if few[k] != out[k] {
					t.Errorf("length %d, %s: of three coefficients the %dth is %v, of all %v", n, name, k, few[k], out[k])
				}
			}
		}
	}
}

// Every entry of the way back is within its bound of its sum in 120 bits, also where only the
// first coefficients are given.
func TestInverse(t *testing.T) {
	for n := 8; n <= 512; n *= 2 {
		cos, sin := roots(n)
		r := New(n)
		g := rand.New(rand.NewPCG(2, uint64(n)))
		for _, given := range []int{1, 2, n/4 + 1, n / 2, n/2 + 1} {
			in, sum := make([]complex128, given), 0.0
			for k := range in {
				in[k] = cmplx.Rect(math.Exp(-20*g.Float64()), 7*g.Float64())
				weight := 2.0
				if k == 0 || k == n/2 {
					in[k], weight = complex(real(in[k]), 0), 1
				}
				sum += weight * cmplx.Abs(in[k])
			}
			x := make([]float64, n)
			r.Inverse(x, in)
			for j, got := range x {
				want := precise(0)
				for k, c := range in {
					v := precise(0).Mul(precise(real(c)), cos[j*k%n])
					v.Sub(v, precise(0).Mul(precise(imag(c)), sin[j*k%n]))
					if k != 0 && k != n/2 {
						v.Mul(v, precise(2))
					}
					want.Add(want, v)
				}
				off, _ := want.Sub(want, precise(got)).Float64()
				if math.Abs(off) > Error(n)*sum {
					t.Errorf("length %d, %d coefficients: entry %d is off by %g, bound %g", n, given, j, off, Error(n)*sum)
				}
			}
		}
	}
}

// Long sequences agree with another library, and come back.
func TestLong(t *testing.T) {
	for _, n := range []int{1 << 12, 1 << 15, 1 << 18} {
		r := New(n)
		for name, x := range sequences(n) {
			out, all := make([]complex128, n/2+1), size(x)
			r.Forward(out, x)
			for k, z := range fourier.NewFFT(n).Coefficients(nil, x) {
				if off := cmplx.Abs(z - out[k]); off > 2*Error(n)*all {
					t.Fatalf("length %d, %s: coefficient %d is %v, another library says %v", n, name, k, out[k], z)
				}
			}
			total := 0.0
			for _, z := range out {
				total += 2 * cmplx.Abs(z)
			}
			back := make([]float64, n)
			r.Inverse(back, out)
			for j, v := range back {
				if off := math.Abs(v/float64(n) - x[j]); off > Error(n)*(all+total/float64(n)) {
					t.Fatalf("length %d, %s: entry %d comes back as %g, was %g", n, name, j, v/float64(n), x[j])
				}
			}
		}
	}
}

// Twiddles are within 5 units of the exact ones, and so are turns.
func TestTwiddles(t *testing.T) {
	const n = 1 << 12
	cos, sin := roots(n)
	r := New(n)
	check := func(what string, z complex128, j int, sign float64) {
		t.Helper()
		re, _ := precise(real(z)).Sub(precise(real(z)), cos[j&(n-1)]).Float64()
		im, _ := precise(0).Sub(precise(sign*imag(z)), sin[j&(n-1)]).Float64()
		if off := math.Hypot(re, im); off > 5*unit {
			t.Errorf("%s %d is off by %g units", what, j, off/unit)
		}
	}
	for j, z := range r.turn {
		check("turn", z, 2*j, -1)
	}
	for k := range n/2 + 1 {
		check("root", r.root(k), k, -1)
	}
	for k := -n; k < 2*n; k++ {
		check("Turn", Turn(k, n), k, 1)
	}
}

func BenchmarkForward(b *testing.B) {
	for _, n := range []int{1 << 13, 1 << 16, 1 << 19} {
		b.Run(big.NewInt(int64(n)).String(), func(b *testing.B) {
			x, out, r := sequences(n)["spread"], make([]complex128, n/2+1), New(n)
			for b.Loop() {
				r.Forward(out, x)
			}
		})
		b.Run("gonum/"+big.NewInt(int64(n)).String(), func(b *testing.B) {
			x, out, r := sequences(n)["spread"], make([]complex128, n/2+1), fourier.NewFFT(n)
			for b.Loop() {
				r.Coefficients(out, x)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(1 << 19)
	}
}
