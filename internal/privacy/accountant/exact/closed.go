package exact

import (
	"math"

	"privrec/internal/privacy/numeric"
)

// closedCurve holds the closed curve of a single release.
type closedCurve struct {
	log  func(eps float64) float64 // log delta
	err  func(eps float64) float64 // bound on the relative error of delta
	most func(delta float64) float64
}

// closedCurve returns the closed curve of a composition that is a single release with such a curve, else nil.
func (p *plan) closedCurve(d Direction) *closedCurve {
	if p.mu2 > 0 || len(p.terms) != 1 || p.terms[0].count != 1 {
		return nil
	}
	switch l := p.terms[0].law.(type) {
	case sampledGaussian:
		if l.replace {
			return &closedCurve{log: l.replaceDelta, err: l.replaceError,
				most: func(delta float64) float64 { return gaussBound(l.mu, delta) }}
		}
		return &closedCurve{
			log: sampledCurve(l.rate, d, func(e float64) float64 { return numeric.GaussianLogDelta(l.mu, e) }),
			err: func(e float64) float64 {
				a := baseEpsilon(l.rate, d, e)
				r := gaussError(l.mu, a) + 64*ulp
				if d == Add { // its b is a difference, and changes a
					r += 8 * ulp * l.rate / (l.rate - math.Expm1(e)*(1-l.rate)) * (2 + a/(l.mu*l.mu))
				}
				return r
			},
			most: func(delta float64) float64 { return gaussBound(l.mu, delta) },
		}
	case discreteLaplace:
		if l.rate == 1 {
			return nil // the sum over the lattice is closed too
		}
		t := l.factor(d).(*atoms).t
		return &closedCurve{log: t.delta, err: func(float64) float64 { return 64 * ulp * (1 + l.shift/l.scale) },
			most: func(float64) float64 { return l.most(d) }}
	case laplace:
		return &closedCurve{
			log: sampledCurve(l.rate, d, func(e float64) float64 { return logLaplace(l.shift, e) }),
			err: func(e float64) float64 {
				r := 64 * ulp * (1 + l.shift/(l.shift-baseEpsilon(l.rate, d, e)))
				if d == Add {
					r += 8 * ulp * l.rate / (l.rate - math.Expm1(e)*(1-l.rate)) * (2 +
						1/(l.shift-baseEpsilon(l.rate, d, e)))
				}
				return r
			},
			most: func(float64) float64 { return l.shift },
		}
	}
	return nil
}

// sampledCurve returns log delta of a Poisson-sampled release from log delta of the release, for a base
// pair P over Q and its mixture R = (1-q)Q + qP:
//
//	R - e^eps Q = q (P - e^a Q),  e^a = 1 + (e^eps - 1)/q
//	Q - e^eps R = b (Q - e^a P),  b = 1 - e^eps(1-q),  e^a = q e^eps/b
//
// Each positive part is a hockey stick of the base at a. The second line needs a base with the same
// curve in both directions, and is 0 for b <= 0.
func sampledCurve(q float64, d Direction, base func(eps float64) float64) func(eps float64) float64 {
	return func(eps float64) float64 {
		a := baseEpsilon(q, d, eps)
		if math.IsInf(a, 1) {
			return math.Inf(-1)
		}
		if d == Add {
			return base(a) + math.Log(q-math.Expm1(eps)*(1-q))
		}
		return base(a) + math.Log(q)
	}
}

// baseEpsilon returns the a of sampledCurve.
func baseEpsilon(q float64, d Direction, eps float64) float64 {
	if q == 1 {
		return eps
	}
	if d == Remove {
		return numeric.LogUnmixed(q, eps)
	}
	b := q - math.Expm1(eps)*(1-q)
	if !(b > 0) {
		return math.Inf(1)
	}
	// q e^eps/b = 1 + expm1(eps)/b
	return math.Log1p(math.Expm1(eps) / b)
}

// logLaplace returns log delta of a Laplace release with shift = sensitivity/scale: delta = 1 -
// exp((eps-shift)/2) below the shift, 0 above.
func logLaplace(shift, eps float64) float64 {
	if eps >= shift {
		return math.Inf(-1)
	}
	return math.Log(-math.Expm1((eps - shift) / 2))
}

// delta returns the logarithm of the hockey stick of finitely many losses.
func (t *table) delta(eps float64) float64 {
	sum := 0.0
	for k, l := range t.loss {
		if l > eps {
			sum -= t.p[k] * math.Expm1(eps-l)
		}
	}
	return math.Log(sum)
}

// replaceDelta returns log delta of one release under replace: the integral of the density of one of the two mixtures
// times 1 - exp(eps - L), from the place where the loss L is eps. L grows with t, and the integrand is positive and
// vanishes at its end.
func (g sampledGaussian) replaceDelta(eps float64) float64 {
	m := g.mu / 2
	from := g.crossing(eps)
	// From there the exponent falls by 45, and by what the mixture gains.
	length := math.Sqrt(from*from+90) - from + m
	if from < 0 {
		length = normalReach - from + m
	}
	panels := math.Ceil(length * math.Max(2, math.Max(2*m, 1+math.Abs(from))))
	if !(panels < mostNodes) {
		return math.NaN()
	}
	half := length / panels / 2
	sum, peak := 0.0, -math.Max(from, 0)*math.Max(from, 0)/2
	for k := 0.0; k < panels; k++ {
		for i := range 16 {
			j, sign := i-8, 1.0
			if i < 8 {
				j, sign = 7-i, -1.0
			}
			t := from + (2*k+1)*half + sign*half*legendreX[j]
			l := g.logMixed(m*t - m*m/2)
			if loss := l - g.logMixed(-m*t-m*m/2); loss > eps {
				sum -= half * legendreW[j] * math.Exp(l-t*t/2-peak) * math.Expm1(eps-loss)
			}
		}
	}
	return peak + math.Log(sum/math.Sqrt(2*math.Pi))
}

func (g sampledGaussian) replaceError(eps float64) float64 {
	x := math.Abs(g.crossing(eps))
	return 256 * ulp * (4 + x*x + eps)
}

// crossing returns the t for which the loss under replace is eps.
func (g sampledGaussian) crossing(eps float64) float64 {
	m := g.mu / 2
	below := func(t float64) bool { return g.logMixed(m*t-m*m/2)-g.logMixed(-m*t-m*m/2) < eps }
	lo, hi := numeric.Double(0, 1, 1e18, below)
	_, t := numeric.Halve(200, lo, hi, below)
	return t
}

// logMixed returns log(1 + rate (exp(e) - 1)).
func (g sampledGaussian) logMixed(e float64) float64 {
	switch u := g.rate * math.Expm1(e); {
	case e > 690:
		return math.Log(g.rate) + e
	case u < -0.5: // rate near one, far left
		return math.Log1p(-g.rate) + math.Log1p(g.rate/(1-g.rate)*math.Exp(e))
	default:
		return math.Log1p(u)
	}
}
