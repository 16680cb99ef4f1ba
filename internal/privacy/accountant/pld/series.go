package pld

import (
	"math"

	"privrec/internal/privacy/accountant/pld/fft"
	"privrec/internal/privacy/numeric"
)

// fewWaves is the least number of bins for each wave of a series.
const fewWaves = 16

// series holds the masses of a composition as a sum of waves. If few coefficients do not vanish, no inverse transform
// is needed: with G = 1/(1 - r z) for a wave z = exp(2 pi i k/n) and a weight r = exp(-tilt h) of a cell, the sums of
// weights over all losses from some loss on are geometric series, and so are the sums of weights times 1-exp(x-l).
type series struct {
	n, start int
	wave     []complex128 // of the masses: weight and division by n included
	one, two []complex128 // times G, and times G less that of the weight r exp(-h)
	// At the end of the window, where the series stop: the sums with G, with G for the weight r exp(-h), and
	// their difference.
	endOne, endLess, endTwo float64
	slack                   float64 // bound of the rounding of the sums two, and of one times 1-exp(-h)
	below                   float64 // bound of the error that the sum one adds for an epsilon below the window
}

// newSeries returns the series of the coefficients of a period of n. start is where in it the window starts.
func newSeries(n, start int, coefficients []complex128, t *tilted) *series {
	c := &series{n: n, start: start}
	r, step, rest := math.Exp(-t.tilt*t.h), math.Exp(-t.h), -math.Expm1(-t.h)
	// 1 - r exp(i a), without cancellation
	lacks := func(ratio, less, half float64) complex128 {
		sin, cos := math.Sincos(half)
		return complex(less+2*ratio*sin*sin, -2*ratio*sin*cos)
	}
	sizeOne, sizeTwo, sizeLess := 0.0, 0.0, 0.0
	less := make([]complex128, 0, len(coefficients))
	for k, z := range coefficients {
		weight := 2 / float64(n)
		if k == 0 || k == n/2 {
			weight = 1 / float64(n)
		}
		z *= complex(weight, 0)
		half := math.Pi * float64(k) / float64(n)
		a, b := inverse(lacks(r, -math.Expm1(-t.tilt*t.h), half)),
			inverse(lacks(r*step, -math.Expm1(-(t.tilt+1)*t.h), half))
		g := z * a
		h := g * b * fft.Turn(k, n) * complex(r*rest, 0)
		c.wave, c.one, c.two, less = append(c.wave, z), append(c.one, g), append(c.two, h), append(less, z*b)
		sizeOne += absolute(g)
		sizeTwo += absolute(h)
		sizeLess += absolute(z * b)
	}
	c.endOne, c.endTwo = c.sums(0)
	for k, z := range less {
		w := fft.Turn(k*start, n)
		c.endLess += real(z)*real(w) - imag(z)*imag(w)
	}
	// Every term is a product of a few factors within some 60 units together, and as many terms as waves are
	// added. The differences of both ends are at most that of the sums.
	// An epsilon below the window gives the sums one a weight of up to peak, in place of 1-exp(-h).
	units := float64(len(coefficients)+128) * unit * 2
	c.below = units * 2 * sizeOne * peak(t.tilt)
	c.slack = units * (2*sizeTwo + rest*(2*sizeOne+sizeLess) + sizeLess/(1+t.tilt))
	return c
}

func absolute(z complex128) float64 { return math.Hypot(real(z), imag(z)) }

// inverse returns 1/z within a few units.
func inverse(z complex128) complex128 {
	square := real(z)*real(z) + imag(z)*imag(z)
	return complex(real(z)/square, -imag(z)/square)
}

// sums returns both sums of weights over all losses from loss j on, as if the window had no end.
func (c *series) sums(j int) (one, two float64) {
	for k, z := range c.one {
		w := fft.Turn(k*((c.start+j)&(c.n-1)), c.n)
		one += real(z)*real(w) - imag(z)*imag(w)
		z = c.two[k]
		two += real(z)*real(w) - imag(z)*imag(w)
	}
	return one, two
}

// mass returns the mass at a loss of the window.
func (c *series) mass(j int) float64 {
	sum := 0.0
	for k, z := range c.wave {
		w := fft.Turn(k*((c.start+j)&(c.n-1)), c.n)
		sum += real(z)*real(w) - imag(z)*imag(w)
	}
	return sum
}

// weighed returns the two sums that walk maintains, at loss j of the window.
func (b bound) weighed(j int) (a, d float64) {
	c := b.series
	a, d = c.sums(j)
	y := float64(c.n-j) * b.h
	r := math.Exp(-b.tilt * y)
	a -= r * c.endOne
	d -= r * (c.endTwo - math.Expm1(-y)*c.endLess)
	return a, d
}

// bins returns the number of losses of the window.
func (t *tilted) bins() int {
	if t.series != nil {
		return t.series.n
	}
	return len(t.mass)
}

// next returns the first loss of the window at or above eps, and the sums there; if there is none, the end of the
// window and no sums.
func (b bound) next(eps float64) (j int, x, a, d float64) {
	n := b.bins()
	j = int(min(max(math.Ceil((eps-b.lo)/b.h)-1, 0), float64(n)))
	for j < n && b.lo+float64(j)*b.h < eps {
		j++
	}
	if j == n {
		return n, b.lo + float64(n)*b.h, 0, 0
	}
	a, d = b.weighed(j)
	return j, b.lo + float64(j)*b.h, a, d
}

// crossingWaves returns the result of crossing from the sums of waves.
func (b bound) crossingWaves(delta float64) (lo, hi float64) {
	first, x, a, d := b.next(0)
	n := b.bins()
	if first == n { // the whole window is below 0
		if b.delta(0, max(x, 0), 0, 0) > delta {
			return 0, math.Inf(1)
		}
		return -1, 0
	}
	low, high := first, n
	if b.slack < 0 && b.delta(x, x, a, d) <= delta {
		low = b.highest(first, delta)
	}
	if low == first && b.delta(x, x, a, d) <= delta {
		if first == 0 {
			return -1, x
		}
		if b.delta(0, x, a, d) <= delta {
			return -1, 0
		}
		return b.between(0, x, x, a, d, delta)
	}
	low = b.last(low, high, delta)
	high = low + 1
	lo = b.lo + float64(low)*b.h
	if high == n {
		return lo, math.Inf(1)
	}
	x = b.lo + float64(high)*b.h
	a, d = b.weighed(high)
	return b.between(lo, x, x, a, d, delta)
}

// above reports whether the bound is above delta at loss j of the window.
func (b bound) above(j int, delta float64) bool {
	x := b.lo + float64(j)*b.h
	a, d := b.weighed(j)
	return b.delta(x, x, a, d) > delta
}

// last returns the last loss in [low, high) at which the bound is above delta. It must be above delta at low, and not
// at high.
func (b bound) last(low, high int, delta float64) int {
	j, _ := numeric.Bisect(low, high, func(j int) bool { return b.above(j, delta) })
	return j
}

// highest returns a loss after first at which a lower bound is above delta, near the largest of them; first if it finds
// none. The rounding subtracted from a lower bound is a fixed number of tilted masses, so the bound may be 0 at the
// start of the window. Without it the bound falls with the loss.
func (b bound) highest(first int, delta float64) int {
	free := b
	free.slack = 0
	if !free.above(first, delta) {
		return first
	}
	j := free.last(first, b.bins(), delta)
	for step := 1; j > first && !b.above(j, delta); step *= 2 {
		j = max(first, j-step)
	}
	return j
}

// between narrows an interval of epsilons over which the sums at x apply to the width of one float64.
func (b bound) between(lo, hi, x, a, d, delta float64) (float64, float64) {
	return numeric.Bisect(lo, hi, func(eps float64) bool { return b.delta(eps, x, a, d) > delta })
}
