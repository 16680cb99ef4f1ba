package exact

import (
	"math"
	"math/cmplx"
)

// build returns the integrand along Re w = c, for use near eps, where log delta is about logDelta. quiet is -log of the
// relative error allowed for images and for the rest of the line.
func (g *integral) build(c, eps, logDelta, quiet float64) (*line, error) {
	c, step := g.place(c, eps, logDelta, quiet)
	if !(step > 0) || math.IsInf(step, 1) {
		return nil, notCovered("no line of integration at %.3g", c)
	}
	points := math.Inf(1) // conjugate pairs beyond y = 0
	if g.h > 0 {
		points = math.Max(4, math.Ceil(math.Pi/(g.h*step)))
		step = math.Pi / (g.h * points)
	}
	// The curvature at the saddle says how far the integrand goes.
	const e = 0.05
	k0 := g.real(c)
	curve := (g.real(c*(1+e)) - 2*k0 + g.real(c*(1-e))) / (c * c * e * e)
	far := math.Min(9/math.Sqrt(math.Max(curve, 1e-300)), points*step)
	if !(far > step) {
		far = step
	}
	if err := g.reach(c, far); err != nil {
		return nil, g.explain(err)
	}
	l := &line{c: c, step: step, h: g.h, offset: g.offset}
	l.peak, _, _ = g.log(c, 0)
	if math.IsInf(l.peak, 0) || math.IsNaN(l.peak) {
		return nil, notCovered("the moments of the loss overflow")
	}
	cost := 0.0
	for _, p := range g.terms {
		one, _ := p.cost(far)
		cost += float64(one)
	}
	if g.h > 0 && points*cost > float64(g.budget) && g.falls(c, points*step/2, points*step) == 0 {
		return nil, notCovered("a lattice of %.2g points", 2*points)
	}
	// What the rest of the line may add, relative to exp(peak - c eps).
	small := math.Exp(math.Min(logDelta-quiet-l.peak+c*eps, 700))
	check, quietRun := 0.0, 0
	for j := 0.0; j <= points; j++ {
		y := j * step
		if y > far {
			far *= 2
			if err := g.reach(c, far); err != nil {
				return nil, g.explain(err)
			}
		}
		if g.budget < 0 {
			return nil, g.explain(errWork)
		}
		re, im, noise := g.log(c, y)
		re -= l.peak
		weight := step / math.Pi
		if j == 0 || j == points {
			weight /= 2
		}
		w := complex(c, y)
		if g.h > 0 {
			weight *= g.h
			l.low = append(l.low, -1/expm1(-w*complex(g.h, 0)))
			l.high = append(l.high, -1/expm1(-(w+1)*complex(g.h, 0)))
		} else {
			kernel := -cmplx.Log(w * (w + 1))
			re, im = re+real(kernel), im+imag(kernel)
		}
		l.k = append(l.k, complex(re, im))
		l.noise = append(l.noise, noise)
		l.weight = append(l.weight, weight)
		if math.Exp(re)*weight > small {
			quietRun = 0
			continue
		}
		if quietRun++; quietRun >= 3 && y >= check && j < points {
			if rest := g.tail(c, y, points*step, small); rest <= small {
				l.tail = rest
				return l, nil
			}
			check = 1.2 * y
		}
	}
	return l, nil
}

// tail bounds the part of the sum beyond y, relative to exp(peak - c eps). Twice the real part is
// at most twice the absolute value, and the factor of |phi| falls like 1/y² or, on a lattice, is
// bounded. tail returns +Inf if the bound would be above small.
func (g *integral) tail(c, y, end, small float64) float64 {
	sum := 0.0
	for y < end && g.budget > 0 {
		if g.h == 0 { // the bound for everything beyond may be enough
			if rest := math.Exp(g.falls(c, y, math.Inf(1))) / (math.Pi * y); rest <= small/2 || y > 1e30*(1+c) {
				return sum + rest
			}
		}
		next := math.Min(1.3*y, end)
		if f := math.Exp(g.falls(c, y, next)); g.h > 0 {
			kernel := -1/math.Expm1(-c*g.h) - 1/math.Expm1(-(c+1)*g.h)
			sum += f * kernel * g.h / math.Pi * (next - y)
		} else {
			sum += f / math.Pi * (1/y - 1/next)
		}
		if y = next; sum > small {
			break
		}
	}
	if y < end {
		return math.Inf(1)
	}
	return sum
}

// falls returns an upper bound of log |phi| of the whole composition from y0 to y1.
func (g *integral) falls(c, y0, y1 float64) float64 {
	sum := 0.0
	for _, p := range g.terms {
		sum += p.n * p.decay(c, y0, y1)
		g.pay(p, y0, 1)
	}
	return sum
}

func (g *integral) explain(err error) error {
	if err == errWork {
		return notCovered("the integrand falls too slowly")
	}
	return err
}

// expm1 returns exp(z) - 1.
func expm1(z complex128) complex128 {
	x, y := real(z), imag(z)
	sn, cs := math.Sincos(y)
	s2 := math.Sin(y / 2)
	e := math.Expm1(x)
	return complex(e*cs-2*s2*s2, (e+1)*sn)
}
