package pld

import (
	"math"
)

// law holds one term's loss in one direction as points, with its count. It only serves to choose the tilt and the
// window, which affect the width of a result and not its validity.
type law struct {
	at    []float64
	logP  []float64
	count float64
}

// A law has at most mostPoints points, each with a mass above leastPoint.
const (
	mostPoints = 512
	leastPoint = 1e-260
)

// newLaw returns a law of the points. If there are many it joins neighbours: their mass goes to their mean.
func newLaw(points []atom, count float64) law {
	l := law{count: count}
	n := 0
	for _, a := range points {
		if a.p > leastPoint {
			n++
		}
	}
	group := (n + mostPoints - 1) / mostPoints
	var in int
	var mass, moment float64
	for _, a := range points {
		if !(a.p > leastPoint) {
			continue
		}
		mass, moment = mass+a.p, moment+a.p*a.loss
		if in++; in == group || group == 1 {
			l.put(mass, moment/mass)
			in, mass, moment = 0, 0, 0
		}
	}
	if in > 0 {
		l.put(mass, moment/mass)
	}
	return l
}

func (l *law) put(mass, loss float64) {
	l.at = append(l.at, loss)
	l.logP = append(l.logP, math.Log(mass))
}

// cgf returns the logarithm of E[exp(c L)] and its first two derivatives.
func (l law) cgf(c float64) (k, mean, variance float64) {
	top := math.Inf(-1)
	for i, v := range l.at {
		top = max(top, l.logP[i]+c*v)
	}
	var s0, s1, s2 float64
	for i, v := range l.at {
		e := l.logP[i] + c*v - top
		if e < -60 {
			continue
		}
		w := math.Exp(e)
		s0 += w
		s1 += w * v
		s2 += w * v * v
	}
	mean = s1 / s0
	return top + math.Log(s0), mean, max(s2/s0-mean*mean, 0)
}

// rough returns the points spread over a mesh, each over the three nodes around it so that its first two moments are
// kept. Some masses are negative, so this is no bound, but it is close even if the mesh is much coarser than the loss
// of a step.
func (l law) rough(h float64) *masses {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range l.at {
		lo, hi = min(lo, v), max(hi, v)
	}
	if !((hi-lo)/h < 8*roughBins) {
		return nil
	}
	m := &masses{h: h, first: int(math.Floor(lo/h)) - 1}
	m.w = make([]float64, int(math.Ceil(hi/h))+2-m.first)
	for i, v := range l.at {
		k := math.Round(v / h)
		t, p, at := v/h-k, math.Exp(l.logP[i]), int(k)-m.first
		m.w[at-1] += p * t * (t - 1) / 2
		m.w[at] += p * (1 - t*t)
		m.w[at+1] += p * t * (t + 1) / 2
	}
	return m
}

type laws []law

func (ls laws) cgf(c float64) (k, mean, variance float64) {
	for _, l := range ls {
		a, b, v := l.cgf(c)
		k, mean, variance = k+l.count*a, mean+l.count*b, variance+l.count*v
	}
	return k, mean, variance
}

// Tilts are between these. Beyond the last, the loss is at its maximum.
const (
	leastTilt = 1e-7
	mostTilt  = 1e5
)

// saddle returns the epsilon that has its saddle point at c, and the saddle point approximation of
// log delta there: the integrand of delta along the imaginary axis at c is exp(K(w) - w
// eps)/(w(w+1)).
func (ls laws) saddle(c float64) (eps, logDelta float64) {
	k, mean, variance := ls.cgf(c)
	eps = mean - 1/c - 1/(1+c)
	curve := variance + 1/(c*c) + 1/((1+c)*(1+c))
	return eps, k - c*eps - math.Log(c) - math.Log1p(c) - 0.5*math.Log(2*math.Pi*curve)
}

// tilt returns the smallest tilt with a saddle for which enough is true. enough must stay true for larger tilts.
func (ls laws) tilt(enough func(eps, logDelta float64) bool) float64 {
	lo, hi := math.Log(leastTilt), math.Log(mostTilt)
	for range 36 {
		mid := (lo + hi) / 2
		if enough(ls.saddle(math.Exp(mid))) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return math.Exp(hi)
}

// span holds a window of composed losses, the tilt, the exponents whose Chernoff bounds limit the tilted loss outside,
// and the range in which epsilon is searched.
type span struct{ tilt, lo, hi, up, down, eps, epsLeast float64 }

// outside is minus the logarithm of the share of delta that may leave a window at either end.
const outside = 18

// span returns tilt and window for a delta at an epsilon between two values, starting from the saddle point c.
// If few large losses decide, a smaller tilt may have a narrower window, since it does not make them common. But
// rounding errors are relative to exp(K(tilt) - tilt eps), which is closest to delta at the saddle.
func (ls laws) span(c, epsLeast, eps, logDelta float64) span {
	best, least, allowed := span{}, math.Inf(1), 0.0
	for i := range 8 {
		s := span{tilt: c * math.Pow(0.8, float64(i)), eps: eps, epsLeast: epsLeast}
		loss := ls.window(&s, logDelta)
		if i == 0 {
			allowed = max(7, loss+1)
		} else if loss > allowed || s.tilt < leastTilt {
			break
		}
		w := (s.hi - s.lo) * (1 + 0.05*float64(i))
		if i > 0 && !(w < least) {
			break
		}
		best, least = s, w
	}
	margin := 0.02 * (best.hi - best.lo)
	best.lo, best.hi = best.lo-margin, best.hi+margin
	return best
}

// window sets the window for a tilt. It returns the logarithm of the ratio between the number to which errors are
// relative and delta.
func (ls laws) window(s *span, logDelta float64) (loss float64) {
	c := s.tilt
	k, mean, variance := ls.cgf(c)
	loss = max(k-c*s.eps-logDelta, 0)
	tol := outside + loss
	dev := max(math.Sqrt(variance), 1e-12*(1+math.Abs(mean)))
	// Larger exponents would tell points from the mesh that stands for them.
	largest := 0.0
	for _, l := range ls {
		if n := len(l.at); n > 0 {
			largest = max(largest, l.at[n-1]-l.at[0])
		}
	}
	start := min(math.Sqrt(2*tol)/dev, 40/largest)
	s.hi, s.up = chernoff(start, func(a float64) float64 {
		u, _, _ := ls.cgf(c + a)
		return (u - k + tol) / a
	})
	s.lo, s.down = chernoff(start, func(a float64) float64 {
		d, _, _ := ls.cgf(c - a)
		return (d - k + tol) / a
	})
	s.lo = -s.lo
	s.hi = max(s.hi, s.eps+dev)
	// What wraps around from below has the weight exp(-c width) of its mass.
	s.lo = max(s.lo, min(s.hi-(outside-logDelta)/c, s.epsLeast-0.05*(s.hi-s.epsLeast)))
	return loss
}

// chernoff returns the smallest of the bounds and its exponent. Bounds fall and then rise with the exponent. The best
// exponent is near a, the best one for a normal law, or far below it.
func chernoff(a float64, bound func(a float64) float64) (best, at float64) {
	best, at = bound(a), a
	try := func(x float64) bool {
		v := bound(x)
		if !(v < best) {
			return false
		}
		best, at = v, x
		return true
	}
	if x := 2 * a; try(x) {
		for i := 0; i < 2 && try(2*at); i++ {
		}
	} else {
		for i := 0; i < 12 && try(at/2); i++ {
		}
	}
	for _, f := range []float64{math.Sqrt2, math.Sqrt(math.Sqrt2), 1.1} {
		mid := at
		if !try(mid * f) {
			try(mid / f)
		}
	}
	return best, at
}

// Bins are powers of two between fewestBins and mostBins. The cells of all terms and the bins of
// their composition are bounded too, so that no bracket takes much more than a second.
const (
	fewestBins  = 1 << 10
	mostBins    = 1 << 21
	defaultBins = 1 << 19
	coarseBins  = 1 << 13
	boundBins   = 1 << 15 // of atoms that are bounds themselves, which more bins do not make narrower
	roughBins   = 1 << 13
	mostCells   = 1 << 21
	mostWork    = 1 << 22 // bins times terms
	mostTerms   = 512
)

// mesh returns the width of a cell: the window over the bins and at least finest, or the next larger fraction of
// spacing, the distance between the atoms that matter most.
func mesh(bins int, window, spacing, finest float64) float64 {
	h := max(window/float64(bins), finest)
	if spacing > 0 {
		if m := math.Floor(spacing / (2 * h)); m >= 1 {
			h = spacing / (2 * m)
		}
	}
	return h
}
