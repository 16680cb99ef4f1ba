package reference

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Part stands for Count compositions of one release.
type Part struct {
	Law   Law
	Count int64
}

// bins is the number of points of the grid that losses are rounded down to.
const bins = 1 << 13

// Epsilon returns a lower bound of the epsilon at delta of all parts together. It is the least epsilon for which the
// composed law has a hockey-stick divergence of at most delta, with each loss rounded down to a grid. delta is above 0;
// at 1e-9 and below, rounding errors of the transforms show.
func Epsilon(parts []Part, delta float64) float64 {
	if len(parts) == 0 {
		return 0
	}
	mean, variance, most := 0.0, 0.0, 0.0
	for _, p := range parts {
		m, v := moments(p.Law)
		mean, variance = mean+float64(p.Count)*m, variance+float64(p.Count)*v
		lo, hi := p.Law.Span()
		most = max(most, hi-lo)
	}
	width := 24*math.Sqrt(variance) + 2*most
	if width == 0 {
		return 0
	}
	h := width / bins
	total := make([]complex128, bins/2+1)
	for i := range total {
		total[i] = 1
	}
	fft := fourier.NewFFT(bins)
	shift := int64(0) // of the grid, in steps
	for _, p := range parts {
		pmf, first := rounded(p.Law, h)
		wrapped := make([]float64, bins)
		for i, m := range pmf {
			wrapped[i%bins] += m
		}
		shift += p.Count * first
		for i, c := range fft.Coefficients(nil, wrapped) {
			total[i] *= power(c, p.Count)
		}
	}
	law := fft.Sequence(nil, total)
	// The window of bins steps around the mean, with rounding, holds the law.
	drop := float64(0)
	for _, p := range parts {
		drop += float64(p.Count)
	}
	low := int64(math.Floor((mean-width/2)/h - drop/2))
	return solve(func(eps float64) float64 {
		sum := 0.0
		for k := low; k < low+bins; k++ {
			i := ((k-shift)%bins + bins) % bins
			if l := float64(k) * h; l > eps && law[i] > 0 {
				sum += law[i] / bins * -math.Expm1(eps-l)
			}
		}
		return sum
	}, delta, float64(low+bins)*h)
}

// solve returns an epsilon just below the least one at which a falling curve is at most delta.
func solve(curve func(float64) float64, delta, most float64) float64 {
	// Rounding errors of the transforms count in favour of the accountant.
	const slack = 1e-12
	if curve(0) <= delta+slack || most <= 0 {
		return 0
	}
	lo, hi := 0.0, most
	for range 50 {
		if mid := (lo + hi) / 2; curve(mid) > delta+slack {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// power returns c to the n by squaring; n is large.
func power(c complex128, n int64) complex128 {
	if c == 0 {
		return 0
	}
	return cmplx.Exp(complex(float64(n), 0) * cmplx.Log(c))
}

// rounded returns the mass of a law on the multiples of h, the first of them first*h, with each loss rounded down.
func rounded(l Law, h float64) (mass []float64, first int64) {
	lo, hi := l.Span()
	first = int64(math.Floor(lo / h))
	last := int64(math.Floor(hi / h))
	before := 0.0
	for k := first; k < last; k++ {
		next := l.Below(float64(k+1) * h)
		mass = append(mass, max(next-before, 0))
		before = max(next, before)
	}
	mass = append(mass, max(1-before, 0)) // above the span: rounded down to its end
	return mass, first
}

// moments returns rough values of the mean and variance of a law.
func moments(l Law) (mean, variance float64) {
	const steps = 512
	lo, hi := l.Span()
	h := (hi - lo) / steps
	if h == 0 {
		return lo, 0
	}
	before, second := 0.0, 0.0
	for i := range steps + 1 {
		at := lo + (float64(i)+0.5)*h
		next := l.Below(lo + float64(i+1)*h)
		mean += (next - before) * at
		second += (next - before) * at * at
		before = next
	}
	return mean, max(second-mean*mean, 0) + h*h
}
