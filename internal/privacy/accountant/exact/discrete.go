package exact

import "math"

// discreteLaplace is the law of noise exp(-|k|/scale) under a move by shift grid steps, sampled at a rate. The worst
// case is one coordinate that moves by all steps (see laplace).
type discreteLaplace struct{ shift, scale, rate float64 }

func (l discreteLaplace) symmetric() bool          { return l.rate == 1 }
func (l discreteLaplace) most(d Direction) float64 { return mostMixed(l.shift/l.scale, l.rate, d) }
func (l discreteLaplace) top(d Direction) float64 {
	return topMixed(-math.Log1p(math.Exp(-1/l.scale)), l.shift/l.scale, l.rate, d)
}
func (l discreteLaplace) sane() bool {
	return l.shift < mostNodes && l.scale > 1e-3 && l.scale < 1e12 && l.shift/l.scale < 1e4 && l.rate > 1e-12
}

func (l discreteLaplace) lattice() (h, offset float64) {
	if l.rate < 1 {
		return 0, 0
	}
	return 2 / l.scale, l.shift / l.scale
}

func (l discreteLaplace) factor(d Direction) factor {
	s := &atoms{}
	a := 1 / l.scale
	logEnd := -math.Log1p(math.Exp(-a))         // P(x <= 0)
	logIn := math.Log(-math.Expm1(-a)) + logEnd // P(0)
	s.t.mix(d, l.rate, -l.shift*a, logEnd, 0)   // seen from Q
	for x := l.shift - 1; x > 0; x-- {
		s.t.mix(d, l.rate, (l.shift-2*x)*a, logIn-(l.shift-x)*a, 0)
	}
	s.t.mix(d, l.rate, l.shift*a, logEnd-l.shift*a, 0)
	return s
}

// response is the law of randomized response over a number of categories. With two categories it is also the worst pair
// of any pure local randomiser of that epsilon (Kairouz, Oh, Viswanath, ICML 2015).
type response struct{ eps, categories float64 }

func (r response) symmetric() bool        { return true }
func (r response) most(Direction) float64 { return r.eps }
func (r response) top(Direction) float64 {
	return -math.Log1p((r.categories - 1) * math.Exp(-r.eps))
}
func (r response) sane() bool { return r.eps > 1e-12 && r.eps < 1e4 }

func (r response) lattice() (h, offset float64) {
	if r.categories == 2 {
		return 2 * r.eps, r.eps
	}
	return r.eps, 0
}

func (r response) factor(Direction) factor {
	s := &atoms{}
	// log(e^eps + k - 1)
	total := r.eps + math.Log1p((r.categories-1)*math.Exp(-r.eps))
	s.t.add(-r.eps, -total, 0)
	if r.categories > 2 {
		s.t.add(0, math.Log(r.categories-2)-total, 0)
	}
	s.t.add(r.eps, r.eps-total, 0)
	s.t.mean = r.eps * -math.Expm1(-r.eps) * math.Exp(r.eps-total)
	return s
}

// discreteGaussian is the law of noise exp(-k²/(2 sigma²)) in one coordinate under a move by shift grid steps.
type discreteGaussian struct{ shift, sigma float64 }

func (g discreteGaussian) symmetric() bool        { return true }
func (g discreteGaussian) most(Direction) float64 { return math.Inf(1) }
func (g discreteGaussian) top(Direction) float64  { return math.Inf(-1) }
func (g discreteGaussian) sane() bool {
	mu := g.shift / g.sigma
	return g.sigma > 0.05 && g.sigma < 1e15 && mu > leastMu && mu < 1e3
}

func (g discreteGaussian) lattice() (h, offset float64) {
	return g.shift / (g.sigma * g.sigma), g.shift * g.shift / (2 * g.sigma * g.sigma)
}

func (g discreteGaussian) factor(d Direction) factor {
	if g.sigma >= 1 {
		return theta{g}
	}
	return &smooth{law: g, direction: d}
}

// table fills t with the values whose weights are not negligible. The loss of noise x is shift (shift + 2x)/(2 sigma²).
func (g discreteGaussian) table(_ Direction, c, _ float64, t *table) error {
	v := 2 * g.sigma * g.sigma
	weight := func(x float64) float64 { return math.Exp(-x * x / v) }
	z := 1.0
	for x := 1.0; x < 20+40*g.sigma; x++ {
		z += 2 * weight(x)
	}
	from, to := -math.Ceil(15*g.sigma)-1, math.Ceil(15*g.sigma+c*g.shift)+1
	if !(to-from < mostNodes) {
		return notCovered("a sum of %.2g values", to-from)
	}
	for x := from; x <= to; x++ {
		t.add(g.shift*(g.shift+2*x)/v, -x*x/v-math.Log(z), 0)
	}
	t.mean = g.shift * g.shift / v
	return nil
}

// theta is the discrete Gaussian with sigma >= 1 in closed form. By Poisson's summation formula E
// exp(wL) is that of the Gaussian times
//
//	(1 + 2 sum_j exp(-2 pi² sigma² j²) cos(2 pi j shift w)) / (its value at w = 0)
//
// with Im w reduced to the half period pi sigma²/shift, where two terms are enough.
type theta struct{ discreteGaussian }

func (t theta) reach(float64, float64) error { return nil }
func (t theta) cost(float64) (log, real int) { return 4, 4 }

func (t theta) real(c float64) float64 {
	k, _, _ := t.log(c, 0)
	return k
}

func (t theta) log(c, y float64) (re, im, noise float64) {
	v := t.sigma * t.sigma
	period := 2 * math.Pi * v / t.shift
	r := y - period*math.Round(y/period)
	m := t.shift * t.shift / v
	// The sum without its first term, 1, since the others have few digits beside it.
	sum := func(c, r float64) (a, b float64) {
		turn := t.shift * c
		turn -= math.Floor(turn)
		for j := 1.0; j <= 3; j++ {
			e, g := 2*math.Pi*math.Pi*v*j*j, 2*math.Pi*j*t.shift*r
			up, down := math.Exp(g-e), math.Exp(-g-e)
			sn, cs := math.Sincos(2 * math.Pi * j * turn)
			a += cs * (up + down)
			b -= sn * (up - down)
		}
		return a, b
	}
	a, b := sum(c, r)
	z, _ := sum(0, 0)
	size, off := math.Hypot(1+a, b), 2*a+a*a+b*b
	log := math.Log(size) - math.Log1p(z)
	if math.Abs(off) < 0.5 {
		log = 0.5*math.Log1p(off) - math.Log1p(z)
	}
	re = m/2*(c*(c+1)-r*r) + log
	im = m/2*(y+2*c*r) + math.Atan2(b, 1+a)
	// The reduced y is only as accurate as y itself.
	noise = 8 * (m*(c*(c+1)+r*r+math.Abs(y)+2*c*math.Abs(r)+math.Abs(y*r)) + math.Abs(log))
	if e := math.Abs(a) + math.Abs(b) + z; e > 0 {
		noise += 8 * e * (1 + 2*math.Pi*t.shift*(c+math.Abs(y))) / size
	}
	return re, im, noise
}

// decay returns a bound up to the half period. Beyond it there is none, since the law is on a
// lattice. Up to the quarter period the bound is the Gaussian's, plus what j = 1 can add. From
// there on all terms together are below three times the largest.
func (t theta) decay(_, y0, y1 float64) float64 {
	v := t.sigma * t.sigma
	half := math.Pi * v / t.shift
	if y1 > half*(1+1e-9) {
		return 0
	}
	at := func(y float64) float64 { s := y * t.shift / t.sigma; return -s * s / 2 }
	slack := 1e-8 + 2.1*math.Exp(-math.Pi*math.Pi*v)
	late := math.Log(3) + at(math.Max(y0, half/2))
	if y0 >= half/2 {
		return math.Min(0, late)
	}
	early := at(y0) + slack
	if y1 > half/2 {
		early = math.Max(early, late)
	}
	return math.Min(0, early)
}
