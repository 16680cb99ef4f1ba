package fft

import (
	"fmt"
	"math"
)

// unit is half the distance between 1 and the next float64.
const unit = 0x1p-53

// Error bounds the error of each coefficient of a transform of length n, and of each entry of its inverse, relative to
// the sum of absolute inputs.
func Error(n int) float64 {
	stages := math.Ceil(math.Log2(float64(n))/2) + 1
	return 32 * unit * stages
}

// Real transforms real sequences of one length. It holds buffers, so only one goroutine may use it at a time.
type Real struct {
	n, m int
	turn []complex128 // exp(-2 pi i j/m) for j < 3m/4
	half []complex128 // exp(-2 pi i k/n) for k <= m/2
	a, b []complex128
}

// New returns a transform of sequences of length n, a power of two from 8 on.
func New(n int) *Real {
	if n < 8 || n&(n-1) != 0 {
		panic(fmt.Sprintf("fft: length %d is no power of two from 8 on", n))
	}
	m := n / 2
	r := &Real{n: n, m: m, turn: make([]complex128, 3*m/4), half: make([]complex128, m/2+1)}
	buffer := make([]complex128, 2*m)
	r.a, r.b = buffer[:m], buffer[m:]
	octant(r.half, n)
	for k := n / 8; k < len(r.half); k++ { // mirrored at the diagonal
		z := r.half[n/4-k]
		r.half[k] = complex(-imag(z), -real(z))
	}
	// exp(-2 pi i j/m) is the entry 2j of half in the first quarter; then it turns by a quarter.
	for j := range m / 4 {
		z := r.half[2*j]
		r.turn[j] = z
		r.turn[j+m/4] = complex(imag(z), -real(z))
		r.turn[j+m/2] = -z
	}
	return r
}

// octant fills w[k] = exp(-2 pi i k/n) up to k = n/8.
func octant(w []complex128, n int) {
	step := 2 * math.Pi / float64(n) // exactly a power of two times the rounded pi
	for k := range n/8 + 1 {
		sin, cos := math.Sincos(step * float64(k))
		w[k] = complex(cos, -sin)
	}
}

// Turn returns exp(2 pi i k/n) for an integer k, within 5 units.
func Turn(k, n int) complex128 {
	k &= n - 1
	eighth := n / 8
	part, rest := k/eighth, k%eighth
	if part&1 == 1 {
		rest = eighth - rest
	}
	sin, cos := math.Sincos(2 * math.Pi / float64(n) * float64(rest))
	if part == 1 || part == 2 || part == 5 || part == 6 {
		sin, cos = cos, sin
	}
	if part >= 2 && part <= 5 {
		cos = -cos
	}
	if part >= 4 {
		sin = -sin
	}
	return complex(cos, sin)
}

// Forward computes out[k], the sum of x[j] exp(-2 pi i j k/n), for k from 0 to n/2 or as far as out
// goes. x has length n.
func (r *Real) Forward(out []complex128, x []float64) {
	x = x[:r.n]
	quarter := r.m / 4
	y := r.a
	t1 := r.turn[:quarter]
	x0, x1, x2, x3 := x[:2*quarter], x[2*quarter:][:2*quarter], x[4*quarter:][:2*quarter], x[6*quarter:][:2*quarter]
	for p := range t1 {
		y4 := y[4*p:][:4]
		i := 2 * p
		a, b := complex(x0[i], x0[i+1]), complex(x1[i], x1[i+1])
		c, d := complex(x2[i], x2[i+1]), complex(x3[i], x3[i+1])
		z0, z1, z2, z3 := four(a, b, c, d)
		y4[0], y4[1], y4[2], y4[3] = z0, t1[p]*z1, r.turn[2*p]*z2, r.turn[3*p]*z3
	}
	r.split(out, r.stages(r.a, r.b))
}

// four returns the transform of four numbers.
func four(a, b, c, d complex128) (_, _, _, _ complex128) {
	s, t := a+c, a-c
	u, v := b+d, b-d
	v = complex(imag(v), -real(v))
	return s + u, t + v, s - u, t - v
}

// stages runs all stages but the first, between two buffers, and returns the buffer with the result.
func (r *Real) stages(x, y []complex128) []complex128 {
	s := 4
	for ; r.m/s >= 8; s *= 4 {
		quarter := r.m / (4 * s)
		for p := range quarter {
			w1, w2, w3 := r.turn[p*s], r.turn[2*p*s], r.turn[3*p*s]
			x0, x1 := x[p*s:][:s], x[(p+quarter)*s:][:s]
			x2, x3 := x[(p+2*quarter)*s:][:s], x[(p+3*quarter)*s:][:s]
			y0, y1, y2, y3 := y[4*p*s:][:s], y[(4*p+1)*s:][:s], y[(4*p+2)*s:][:s], y[(4*p+3)*s:][:s]
			for q := range s {
				z0, z1, z2, z3 := four(x0[q], x1[q], x2[q], x3[q])
				y0[q], y1[q], y2[q], y3[q] = z0, w1*z1, w2*z2, w3*z3
			}
		}
		x, y = y, x
	}
	switch r.m / s { // the last stage has no twiddles
	case 4:
		x0, x1, x2, x3 := x[:s], x[s:][:s], x[2*s:][:s], x[3*s:][:s]
		y0, y1, y2, y3 := y[:s], y[s:][:s], y[2*s:][:s], y[3*s:][:s]
		for q := range s {
			y0[q], y1[q], y2[q], y3[q] = four(x0[q], x1[q], x2[q], x3[q])
		}
		x = y
	case 2:
		x0, x1 := x[:s], x[s:][:s]
		y0, y1 := y[:s], y[s:][:s]
		for q := range s {
			a, b := x0[q], x1[q]
			y0[q], y1[q] = a+b, a-b
		}
		x = y
	}
	return x
}

// split computes the coefficients of the real sequence from those of the complex one.
func (r *Real) split(out, z []complex128) {
	m := r.m
	out = out[:min(len(out), m+1)]
	for k := range out {
		a, b := z[k&(m-1)], z[(m-k)&(m-1)]
		// even = (a + conj b)/2; odd = -i (a - conj b)/2
		even := complex(0.5*(real(a)+real(b)), 0.5*(imag(a)-imag(b)))
		odd := complex(0.5*(imag(a)+imag(b)), 0.5*(real(b)-real(a)))
		out[k] = even + r.root(k)*odd
	}
}

// root returns exp(-2 pi i k/n) for k up to n/2.
func (r *Real) root(k int) complex128 {
	if k < len(r.half) {
		return r.half[k]
	}
	z := r.half[r.m-k]
	return complex(-real(z), imag(z))
}

// Inverse computes x[j], the sum over all n coefficients of c[k] exp(2 pi i j k/n), which has no
// division by n. in has c[k] for k from 0 to n/2, or the first of them, and the rest is 0; c[n-k] is the
// conjugate of c[k]. The imaginary parts of c[0] and c[n/2] count as 0. x has length n.
func (r *Real) Inverse(x []float64, in []complex128) {
	m := r.m
	x = x[:r.n]
	at := func(k int) complex128 {
		if k >= len(in) {
			return 0
		}
		return in[k]
	}
	// The way back is the way forth with real and imaginary parts exchanged.
	z := r.a
	a, b := real(at(0)), real(at(m))
	z[0] = complex(a-b, a+b)
	for k := 1; k <= m/2; k++ {
		if k >= len(in) && m-k >= len(in) {
			z[k], z[m-k] = 0, 0
			continue
		}
		p, q := at(k), at(m-k)
		w := r.half[k]
		even := complex(real(p)+real(q), imag(p)-imag(q))
		odd := complex(real(p)-real(q), imag(p)+imag(q)) * complex(real(w), -imag(w))
		// Z[k] = even + i odd, and Z[m-k] = conj even + i conj odd
		z[k] = complex(imag(even)+real(odd), real(even)-imag(odd))
		z[m-k] = complex(real(odd)-imag(even), real(even)+imag(odd))
	}
	quarter := m / 4
	y := r.b
	for p := range quarter {
		y4 := y[4*p:][:4]
		a, b, c, d := z[p], z[p+quarter], z[p+2*quarter], z[p+3*quarter]
		s, t := a+c, a-c
		u, v := b+d, b-d
		v = complex(imag(v), -real(v))
		y4[0] = s + u
		y4[1] = r.turn[p] * (t + v)
		y4[2] = r.turn[2*p] * (s - u)
		y4[3] = r.turn[3*p] * (t - v)
	}
	for j, v := range r.stages(r.b, r.a) {
		x[2*j], x[2*j+1] = imag(v), real(v)
	}
}
