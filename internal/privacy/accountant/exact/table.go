package exact

import "math"

// table holds a release as finitely many losses with their probabilities: the atoms of a discrete law, or the nodes of
// a quadrature that integrates exp(wL) for w up to some size. Nothing cancels: with M = E_P[exp(wL)],
//
//	M - 1 = w E_P[L] + E_P[exp(wL) - 1 - wL]
//
// where the mean is a sum of terms >= 0 and the bracket is of second order. So K = log M is accurate relative to itself
// for the tiniest rates, also after it is multiplied by a million releases.
type table struct {
	loss  []float64
	logp  []float64 // of the probability (weight) under P
	p     []float64
	width []float64 // of the loss that a node stands for; 0 for an atom
	mean  float64   // E_P[L]

	// These are for one real part c of w:
	c     float64
	shift float64   // the largest exponent if it would overflow, else 0
	tilt  []float64 // p exp(cL - shift)
	base  []float64 // p (1 + cL)
	slope []float64 // p L
	norm  float64   // M(c) exp(-shift)

	// These are for the decay at the real part cutAt (see cut):
	cutAt           float64
	whole           bool
	center          float64 // mean of the tilted loss
	mass, variation [len(shares)]float64
}

// add appends a node.
func (t *table) add(loss, logp, width float64) {
	t.loss = append(t.loss, loss)
	t.logp = append(t.logp, logp)
	t.p = append(t.p, math.Exp(logp))
	t.width = append(t.width, width)
}

// clear empties a table and keeps its memory.
func (t *table) clear() {
	t.loss, t.logp, t.p, t.width = t.loss[:0], t.logp[:0], t.p[:0], t.width[:0]
	t.mean, t.c, t.cutAt = 0, 0, 0
}

// overflow is the exponent above which sums are computed relative to their largest term. There M is so large that
// nothing cancels.
const overflow = 300

// Below near, |wL| is small enough to compute exp(wL) - 1 - wL as a series; below closer, as a shorter one.
const (
	near   = 1. / 4
	closer = 1. / 32
)

// at prepares the table for a real part.
func (t *table) at(c float64) {
	if t.c == c {
		return
	}
	n := len(t.loss)
	if cap(t.tilt) < n {
		t.tilt, t.base, t.slope = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	t.tilt, t.base, t.slope = t.tilt[:n], t.base[:n], t.slope[:n]
	t.c, t.shift = c, 0
	for k, l := range t.loss {
		t.shift = math.Max(t.shift, t.logp[k]+c*l)
	}
	if t.shift <= overflow {
		t.shift = 0
	}
	t.norm = 0
	for k, l := range t.loss {
		x := c * l
		t.tilt[k] = math.Exp(t.logp[k] + x - t.shift)
		t.base[k] = t.p[k] * (1 + x)
		t.slope[k] = t.p[k] * l
		t.norm += t.tilt[k]
	}
}

// log returns K(c+iy) and a bound on its rounding error, in units of ulp.
func (t *table) log(c, y float64) (re, im, noise float64) {
	t.at(c)
	if t.shift > 0 {
		return t.large(y)
	}
	a, b := c*t.mean, y*t.mean
	noise = (math.Abs(a) + math.Abs(b)) * 4
	for k, l := range t.loss {
		x, v := c*l, y*l
		r2 := x*x + v*v
		var fr, fi float64
		switch {
		case r2 > near*near:
			sn, cs := math.Sincos(v)
			e := t.tilt[k]
			fr = e*cs - t.base[k]
			fi = e*sn - y*t.slope[k]
			noise += e*(4+2*math.Abs(x)+2*math.Abs(v)+math.Abs(t.logp[k])) +
				t.p[k]*(1+math.Abs(x)+math.Abs(v))*(4+math.Abs(t.logp[k]))
		case r2 > closer*closer:
			fr, fi = second(x, v, 12)
			fr, fi = t.p[k]*fr, t.p[k]*fi
		default:
			fr, fi = second(x, v, 7)
			fr, fi = t.p[k]*fr, t.p[k]*fi
		}
		a += fr
		b += fi
		noise += (math.Abs(fr) + math.Abs(fi)) * 16
	}
	// log(1 + a + ib) without loss at small a, b
	m := 2*a + a*a + b*b
	if m < -0.5 {
		re = math.Log(math.Hypot(1+a, b))
	} else {
		re = 0.5 * math.Log1p(m)
	}
	size := math.Hypot(1+a, b)
	return re, math.Atan2(b, 1+a), noise/size + 8*(math.Abs(re)+math.Abs(b)/size)
}

// real returns K(c).
func (t *table) real(c float64) float64 {
	a, most := c*t.mean, 0.0
	for k, l := range t.loss {
		x := c * l
		switch {
		case x > near || x < -near:
			e := t.logp[k] + x
			if e > overflow {
				most = max(most, e)
				continue
			}
			a += math.Exp(e) - t.p[k]*(1+x)
		case x > closer || x < -closer:
			a += t.p[k] * secondReal(x, 12)
		default:
			a += t.p[k] * secondReal(x, 7)
		}
	}
	if most == 0 {
		return math.Log1p(a)
	}
	a = 0
	for k, l := range t.loss {
		a += math.Exp(t.logp[k] + c*l - most)
	}
	return most + math.Log(a)
}

// large returns the values of log for M beyond exp(overflow).
func (t *table) large(y float64) (re, im, noise float64) {
	a, b := 0.0, 0.0
	for k, l := range t.loss {
		if e := t.tilt[k]; e > 0 {
			sn, cs := math.Sincos(y * l)
			a += e * cs
			b += e * sn
			noise += e * (8 + 2*math.Abs(y*l) + math.Abs(t.logp[k]) + 2*math.Abs(t.c*l))
		}
	}
	size := math.Hypot(a, b)
	return t.shift + math.Log(size), math.Atan2(b, a), noise/size + 8*t.shift
}

// second returns exp(z) - 1 - z = z² (1/2 + z/6 + z²/24 + ...) for a small z = x+iv.
func second(x, v float64, terms int) (re, im float64) {
	sr, si := factors[terms], 0.0
	for n := terms - 1; n >= 0; n-- {
		sr, si = factors[n]+x*sr-v*si, x*si+v*sr
	}
	zr, zi := (x-v)*(x+v), 2*x*v
	return zr*sr - zi*si, zr*si + zi*sr
}

// secondReal returns second on the real axis.
func secondReal(x float64, terms int) float64 {
	s := factors[terms]
	for n := terms - 1; n >= 0; n-- {
		s = factors[n] + x*s
	}
	return s * x * x
}

// factors[n] is 1/(n+2)!
var factors = [...]float64{1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880,
	1. / 3628800, 1. / 39916800,
	1. / 479001600, 1. / 6227020800, 1. / 87178291200}

// excess returns (1+u) log(1+u) - u >= 0 for u > -1, l = log(1+u), without cancellation.
func excess(u, l float64) float64 {
	if math.Abs(u) > 0.1 {
		return (1+u)*l - u
	}
	s, p := 0.0, u
	for n := 2.0; n < 20; n++ {
		p *= -u
		s -= p / (n * (n - 1))
	}
	return s
}

// deficit returns u - log(1+u) >= 0, without cancellation.
func deficit(u, l float64) float64 {
	if math.Abs(u) > 0.1 {
		return u - l
	}
	s, p := 0.0, u
	for n := 2.0; n < 20; n++ {
		p *= -u
		s -= p / n
	}
	return s
}
