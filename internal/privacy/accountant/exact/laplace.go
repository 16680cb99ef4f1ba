package exact

import (
	"math"
	"math/cmplx"
)

// laplace is a Laplace release with shift = sensitivity/scale, sampled at a rate.
//
// Its worst pair is one coordinate that moves by all of the l1 sensitivity. To see this, let two
// coordinates move by a and b. Under exp(-L/2) times the law of the loss of a move by a, E exp(vL)
// = exp(-a/2) (cosh va + sinh(va)/(2v)). The product for a and b is that for a+b plus exp(-(a+b)/2)
// sinh(va) sinh(vb) (1/(4v²) - 1). With the kernel 1/(v² - 1/4) of delta the rest is minus a second
// difference of the convex function max(0, x), so that delta of the product is not above. The
// discrete Laplace law has the same identity with differences.
type laplace struct{ shift, rate float64 }

func (l laplace) symmetric() bool              { return l.rate == 1 }
func (l laplace) sane() bool                   { return l.shift > 1e-12 && l.shift < 1e4 && l.rate > 1e-12 }
func (l laplace) lattice() (h, offset float64) { return 0, 0 }
func (l laplace) most(d Direction) float64     { return mostMixed(l.shift, l.rate, d) }

func (l laplace) factor(d Direction) factor {
	s := &smooth{law: l, direction: d}
	if l.rate == 1 {
		return &plainLaplace{smooth: s, shift: l.shift}
	}
	return s
}

// plainLaplace is an unsampled Laplace release, in closed form except where that would cancel. With e the shift,
//
//	M(w) = ((w+1) exp(we) + w exp(-(w+1)e)) / (2w+1)
//
// with the atoms exp(we)/2 and exp(-(w+1)e)/2.
type plainLaplace struct {
	*smooth
	shift float64
}

// cost returns the cost of a table at places where the closed form cancels; that may be all along the line.
func (p *plainLaplace) cost(y float64) (log, real int) {
	log, real = p.smooth.cost(y)
	if y > 1/p.shift {
		log = 10
	}
	return log, real
}

func (p *plainLaplace) reach(c, y float64) error {
	return p.smooth.reach(c, math.Min(y, 1/p.shift))
}

func (p *plainLaplace) log(c, y float64) (re, im, noise float64) {
	if math.Abs(y) <= 1/p.shift {
		return p.smooth.log(c, y)
	}
	w := complex(c, y)
	// M exp(-we), so that nothing overflows.
	m := (w + 1 + w*cmplx.Exp(-(2*w+1)*complex(p.shift, 0))) / (2*w + 1)
	size, turn := cmplx.Abs(m), p.shift*math.Abs(y)
	return c*p.shift + math.Log(size), y*p.shift + cmplx.Phase(m), 8 * (1 + p.shift*c + turn + (1+turn)/size)
}

// decay adds the bound of the atoms and that of the continuous part, which falls like 1/y.
func (p *plainLaplace) decay(c, y0, _ float64) float64 {
	second := math.Exp(-(2*c + 1) * p.shift)
	m := (c + 1 + c*second) / (2*c + 1)
	return math.Min(0, math.Log((1+second)/2*(1+1/(2*y0))/m)+1e-15)
}

func (l laplace) top(d Direction) float64 { return topMixed(-math.Ln2, l.shift, l.rate, d) }

// topMixed returns the logarithm of the probability of the largest loss of a sampled release. The
// release itself has it with probability exp(top) under P, and exp(top-loss) under Q, in both
// directions.
func topMixed(top, loss, rate float64, d Direction) float64 {
	if d == Remove || rate == 1 {
		return top + math.Log(rate+(1-rate)*math.Exp(-loss))
	}
	return top
}

// mostMixed returns the supremum of the loss of a sampled release. The release itself has losses up
// to loss in both directions.
func mostMixed(loss, rate float64, d Direction) float64 {
	switch {
	case rate == 1:
		return loss
	case d == Remove:
		return sampledGaussian{rate: rate}.logMixed(loss) // exp(range_) may overflow
	}
	return -math.Log1p(rate * math.Expm1(-loss))
}

// mix appends the node of a sampled release that belongs to a node of its base pair, with loss base and probability
// exp(logq) under Q. With u = rate (exp(base) - 1) it is the mixture over Q in the direction Remove, Q over the mixture
// in the direction Add.
func (t *table) mix(d Direction, rate, base, logq, width float64) {
	var u, l float64
	switch {
	case rate == 1:
		u, l = math.Expm1(base), base
	case base > 690:
		u, l = math.Inf(1), math.Log(rate)+base
	default:
		u = rate * math.Expm1(base)
		l = math.Log1p(u)
	}
	if width > 0 {
		width *= math.Exp(math.Log(rate) + base - l)
	}
	switch {
	case d == Add && rate < 1:
		if math.IsInf(u, 1) {
			t.mean += math.Exp(logq + l)
		} else {
			t.mean += deficit(u, l) * math.Exp(logq)
		}
		t.add(-l, logq, width)
	case u > 1e300:
		t.mean += math.Exp(logq+l) * (l - 1)
		t.add(l, logq+l, width)
	default:
		t.mean += excess(u, l) * math.Exp(logq)
		t.add(l, logq+l, width)
	}
}

// Gauss-Legendre nodes and weights of order 16 on [-1, 1], positive half.
var (
	legendreX = [8]float64{0.0950125098376374, 0.2816035507792589, 0.4580167776572274, 0.6178762444026438,
		0.7554044083550030, 0.8656312023878318, 0.9445750230732326, 0.9894009349916499}
	legendreW = [8]float64{0.1894506104550685, 0.1826034150449236, 0.1691565193950025, 0.1495959888165767,
		0.1246289712555339, 0.0951585116824928, 0.0622535239386479, 0.0271524594117541}
)

// table fills t with panels so narrow that neither exp(cL) nor exp(iyL) turns by more than the nodes resolve to the
// last digit. The singularities of log(1+u) are pi away.
func (l laplace) table(d Direction, c, y float64, t *table) error {
	panels := math.Ceil(2 * l.shift * math.Max(1, math.Max(c, y)/4))
	if !(16*panels < mostNodes) {
		return notCovered("a quadrature of %.2g nodes", 16*panels)
	}
	t.mix(d, l.rate, -l.shift, -math.Ln2, 0)
	half := l.shift / panels
	for k := 0.0; k < panels; k++ {
		mid := -l.shift + (2*k+1)*half
		for i := range 16 {
			j, sign := i-8, 1.0
			if i < 8 {
				j, sign = 7-i, -1.0
			}
			at, w := mid+sign*half*legendreX[j], half*legendreW[j]
			t.mix(d, l.rate, at, math.Log(w/4)-(l.shift+at)/2, w)
		}
	}
	t.mix(d, l.rate, l.shift, -math.Ln2-l.shift, 0)
	return nil
}
