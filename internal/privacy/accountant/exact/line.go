package exact

import (
	"math"
	"math/cmplx"
)

// line is the integrand of delta along Re w = c, without the factor that depends on epsilon, with
// bounds on its errors.
type line struct {
	c, step float64
	h       float64 // of the lattice, 0 for none
	offset  float64 // of the lattice
	// At w_j = c + i j step:
	k      []complex128 // sum of K, minus its value at c; with the kernel if there is no lattice
	noise  []float64    // bound on the relative rounding error of its exponential
	weight []float64    // 1 or 2 for a conjugate pair, times step/(2 pi)
	low    []complex128 // lattice: 1/(1-exp(-wh))
	high   []complex128 // lattice: 1/(1-exp(-(w+1)h))
	peak   float64      // sum of K at c
	tail   float64      // bound on the integral beyond the last point, relative to exp(peak - c eps)
}

// at returns log delta by the trapezoid rule, and a bound on its relative error without the images.
func (l *line) at(eps float64) (logDelta, relative float64) {
	first := 0.0
	cut := complex(0, 0)
	if l.h > 0 {
		// The first point of the lattice above eps.
		n := math.Floor((eps-l.offset)/l.h) + 1
		first = l.offset + n*l.h
		cut = complex(math.Exp(math.Min(0, eps-first)), 0)
	} else {
		first = eps
	}
	sum, err, size := 0.0, 0.0, 0.0
	for j, k := range l.k {
		y := float64(j) * l.step
		e := math.Exp(real(k)) * l.weight[j]
		var re float64
		noise := l.noise[j] + ulp*(8+4*math.Abs(y)*(math.Abs(first)+math.Abs(l.offset)))
		if l.h > 0 {
			v := cmplx.Rect(e, imag(k)-y*first) * (l.low[j] - cut*l.high[j])
			re = real(v)
			e *= cmplx.Abs(l.low[j]) + real(cut)*cmplx.Abs(l.high[j])
		} else {
			re = e * math.Cos(imag(k)-y*first)
		}
		sum += re
		err += e * noise
		size += e
	}
	if !(sum > 0) {
		return math.Inf(-1), math.Inf(1)
	}
	log := l.peak - l.c*first + math.Log(sum)
	noise := ulp * 8 * (math.Abs(l.peak) + l.c*(math.Abs(first)+math.Abs(l.offset)) + 2)
	return log, noise + (err+l.tail+size*ulp*4)/sum
}
