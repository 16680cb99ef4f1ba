package fft

import "math"

// orders is the number of Bessel functions and of Chebyshev moments.
const orders = 12

// longest is the largest length of a block.
const longest = 64

// Low computes the first coefficients of a long real sequence.
type Low struct {
	n, count, block int
	rows            [][orders]float64 // T_p at the upper half of a block
	moments         []float64
	small           *Real
	part            []complex128
}

// NewLow returns a transform for the first count coefficients of sequences of period n, a power of two. It returns nil
// if count is so large that the full transform costs no more.
func NewLow(n, count int) *Low {
	block := longest
	for 8*count*block > n {
		block /= 2
	}
	if block < 32 || n/block < 8 {
		return nil
	}
	l := &Low{n: n, count: count, block: block, rows: make([][orders]float64, block/2),
		moments: make([]float64, orders*n/block), small: New(n / block), part: make([]complex128, count)}
	for i := range l.rows {
		t := float64(2*i+1) / float64(block)
		a, b := 1.0, t
		for p := range l.rows[i] {
			l.rows[i][p] = a
			a, b = b, 2*t*b-a
		}
	}
	return l
}

// Error bounds the error of each coefficient of a sequence of the given length, relative to the sum of absolute
// entries.
func (l *Low) Error(length int) float64 {
	additions := l.block/2 + 8 + length/l.n
	return 1.44*(Error(l.n/l.block)+float64(additions)*unit) + 40*unit + 2e-17
}

// Coefficients computes out[k], the sum of x[j] exp(-2 pi i (j-centre) k/n), for k below count. x has
// any length.
func (l *Low) Coefficients(out []complex128, x []float64, centre int) {
	l.gather(x)
	g := l.n / l.block
	out = out[:l.count]
	clear(out)
	for p := range orders {
		l.small.Forward(l.part, l.moments[p*g:][:g])
		for k, z := range l.part {
			j := bessel(p, math.Pi*float64(k)*float64(l.block)/float64(2*l.n))
			if p > 0 {
				j *= 2
			}
			switch p & 3 { // times (-i)^p
			case 0:
				out[k] += complex(j*real(z), j*imag(z))
			case 1:
				out[k] += complex(j*imag(z), -j*real(z))
			case 2:
				out[k] -= complex(j*real(z), j*imag(z))
			case 3:
				out[k] += complex(-j*imag(z), j*real(z))
			}
		}
	}
	for k := range out {
		out[k] *= Turn(k*(2*centre-l.block+1), 2*l.n)
	}
}

// bessel returns J_p(2 half), where half is at most pi/16.
func bessel(p int, half float64) float64 {
	term := 1.0
	for i := 1; i <= p; i++ {
		term *= half / float64(i)
	}
	sum := term
	for i := 1; i <= 8; i++ {
		term *= -half * half / float64(i*(i+p))
		sum += term
	}
	return sum
}

// gather computes the Chebyshev moments of all blocks.
func (l *Low) gather(x []float64) {
	clear(l.moments)
	b, g := l.block, l.n/l.block
	for from := 0; from < len(x); from += b {
		var padded [longest]float64
		in := padded[:b]
		if from+b <= len(x) {
			in = x[from:][:b]
		} else {
			copy(in, x[from:])
		}
		var e0, e2, e4, e6, e8, e10, o1, o3, o5, o7, o9, o11 float64
		up, down := in[b/2:], in[:b/2]
		for i := range l.rows {
			row := &l.rows[i]
			u, v := up[i], down[len(down)-1-i]
			s, d := u+v, u-v
			e0 += s
			e2 += row[2] * s
			e4 += row[4] * s
			e6 += row[6] * s
			e8 += row[8] * s
			e10 += row[10] * s
			o1 += row[1] * d
			o3 += row[3] * d
			o5 += row[5] * d
			o7 += row[7] * d
			o9 += row[9] * d
			o11 += row[11] * d
		}
		at := from / b & (g - 1)
		for p, v := range [orders]float64{e0, o1, e2, o3, e4, o5, e6, o7, e8, o9, e10, o11} {
			l.moments[p*g+at] += v
		}
	}
}
