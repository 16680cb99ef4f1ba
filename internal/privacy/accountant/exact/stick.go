package exact

import "math"

// stick is the closed curve of a single release.
type stick struct {
	log  func(eps float64) float64 // log delta
	err  func(eps float64) float64 // bound on the relative error of delta
	most func(delta float64) float64
}

// stick returns the closed curve of a composition that is one release with such a
// curve, else nil.
func (p *plan) stick(d Direction) *stick {
	if p.mu2 > 0 || len(p.parts) != 1 || p.parts[0].count != 1 {
		return nil
	}
	switch l := p.parts[0].law.(type) {
	case sampledGaussian:
		if l.replace {
			return nil
		}
		return &stick{
			log: thin(l.rate, d, func(e float64) float64 { return logDelta(l.mu, e) }),
			err: func(e float64) float64 {
				a := thinned(l.rate, d, e)
				r := gaussError(l.mu, a) + 64*ulp
				if d == Add { // its b is a difference, and moves a
					r += 8 * ulp * l.rate / (l.rate - math.Expm1(e)*(1-l.rate)) * (2 + a/(l.mu*l.mu))
				}
				return r
			},
			most: func(delta float64) float64 { return gaussBound(l.mu, delta) },
		}
	case laplace:
		return &stick{
			log: thin(l.rate, d, func(e float64) float64 { return logLaplace(l.range_, e) }),
			err: func(e float64) float64 {
				r := 64 * ulp * (1 + l.range_/(l.range_-thinned(l.rate, d, e)))
				if d == Add {
					r += 8 * ulp * l.rate / (l.rate - math.Expm1(e)*(1-l.rate)) * (2 + 1/(l.range_-thinned(l.rate, d, e)))
				}
				return r
			},
			most: func(float64) float64 { return l.range_ },
		}
	}
	return nil
}

// thin is log delta of a Poisson-sampled release from log delta of the release,
// for a base pair P over Q and its mixture R = (1-q)Q + qP:
//
//	R - e^eps Q = q (P - e^a Q),  e^a = 1 + (e^eps - 1)/q
//	Q - e^eps R = b (Q - e^a P),  b = 1 - e^eps(1-q),  e^a = q e^eps/b
//
// each positive part of which is a hockey stick of the base at a; the second
// supposes that the base has the same curve both ways, and is 0 for b <= 0.
func thin(q float64, d Direction, base func(eps float64) float64) func(eps float64) float64 {
	return func(eps float64) float64 {
		a := thinned(q, d, eps)
		if math.IsInf(a, 1) {
			return math.Inf(-1)
		}
		if d == Add {
			return base(a) + math.Log(q-math.Expm1(eps)*(1-q))
		}
		return base(a) + math.Log(q)
	}
}

// thinned is the a of thin.
func thinned(q float64, d Direction, eps float64) float64 {
	if q == 1 {
		return eps
	}
	if d == Remove {
		if eps > 700 {
			return eps - math.Log(q)
		}
		return math.Log1p(math.Expm1(eps) / q)
	}
	b := q - math.Expm1(eps)*(1-q)
	if !(b > 0) {
		return math.Inf(1)
	}
	// q e^eps/b = 1 + expm1(eps)/b
	return math.Log1p(math.Expm1(eps) / b)
}

// logLaplace is log delta of a Laplace release with range = sensitivity/scale:
// delta = 1 - exp((eps-range)/2) below the range, 0 above.
func logLaplace(range_, eps float64) float64 {
	if eps >= range_ {
		return math.Inf(-1)
	}
	return math.Log(-math.Expm1((eps - range_) / 2))
}
