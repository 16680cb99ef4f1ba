package exact

import (
	"context"
	"errors"
	"math"
	"math/cmplx"

	"privrec/internal/privacy/numeric"
)

// integral holds a composition in one direction.
type integral struct {
	terms  []counted
	most   float64 // supremum of the loss
	h      float64 // all losses are offset plus integer multiples of h; 0: no such lattice
	offset float64
	budget int // nodes that may still be visited
	ctx    context.Context
	look   int // the budget at which ctx is checked next
}

type counted struct {
	factor
	n float64
}

// apart is the number of nodes visited between two checks of the context.
const apart = 1 << 16

// work is the number of nodes that one direction may visit. That takes about a fifth of a second.
const work = 8_000_000

func (p *plan) integrate(d Direction) *integral {
	g := &integral{budget: work, ctx: p.ctx, look: work - apart}
	same := p.mu2 == 0
	for i, q := range p.terms {
		g.terms = append(g.terms, counted{q.law.factor(d), q.count})
		g.most += q.count * q.law.most(d)
		h, offset := q.law.lattice()
		if i == 0 || h < g.h {
			g.h = h
		}
		g.offset += q.count * offset
	}
	if p.mu2 > 0 {
		g.terms = append(g.terms, counted{gaussian{p.mu2}, 1})
		g.most = math.Inf(1)
	}
	for _, q := range p.terms {
		h, _ := q.law.lattice()
		same = same && g.h > 0 && math.Mod(h, g.h) == 0
	}
	if !same {
		g.h, g.offset = 0, 0
	}
	return g
}

var errWork = errors.New("too much work")

// log returns sum n K(c+iy), with a bound on its rounding error.
func (g *integral) log(c, y float64) (re, im, noise float64) {
	for _, p := range g.terms {
		a, b, e := p.log(c, y)
		re, im, noise = re+p.n*a, im+p.n*b, noise+p.n*e
		g.pay(p, y, 1)
	}
	return re, im, noise * ulp
}

func (g *integral) reach(c, y float64) error {
	for _, p := range g.terms {
		if err := p.reach(c, y); err != nil {
			return err
		}
		g.pay(p, y, 4)
	}
	if g.budget < 0 {
		return errWork
	}
	return nil
}

// pay subtracts from the budget the nodes of some evaluations of a term's log at an imaginary part.
func (g *integral) pay(p counted, y float64, times int) {
	cost, _ := p.cost(y)
	g.spend(cost * times)
}

// spend subtracts nodes from the budget, or all that are left once the context has ended.
func (g *integral) spend(nodes int) {
	if g.budget -= nodes; g.budget >= g.look {
		return
	}
	if g.look = g.budget - apart; g.ctx != nil && g.ctx.Err() != nil {
		g.budget = min(g.budget, -1)
	}
}

// real returns sum n K(c), +Inf if it cannot be computed.
func (g *integral) real(c float64) float64 {
	sum := 0.0
	for _, p := range g.terms {
		sum += p.n * p.real(c)
		_, cost := p.cost(0)
		g.spend(cost)
	}
	if math.IsNaN(sum) || g.budget < 0 {
		return math.Inf(1)
	}
	return sum
}

// chernoff returns log of the largest (1-exp(-x)) exp(-cx), x >= 0.
func chernoff(c float64) float64 { return -c*math.Log1p(1/c) - math.Log1p(c) }

// bound returns log of the Chernoff bound of delta at eps: delta <= exp(bound).
func (g *integral) bound(c, eps float64) float64 { return g.real(c) - c*eps + chernoff(c) }

// saddle returns the minimum of the integrand of delta at eps on the real axis, near a start. Unlike the minimum of
// Chernoff's bound it stays away from the pole at 0, which matters if delta is close to one.
func (g *integral) saddle(eps, start float64) float64 {
	return minimise(func(c float64) float64 { return g.real(c) - c*eps - math.Log(c) - math.Log1p(c) }, start)
}

// minimise returns the place c > 0 of the minimum of a function that falls, then rises, to a few per cent. It doubles
// from a start, then uses golden sections of log c. NaN counts as +Inf.
func minimise(f func(c float64) float64, start float64) float64 {
	at := func(x float64) float64 {
		if v := f(math.Exp(x)); !math.IsNaN(v) {
			return v
		}
		return math.Inf(1)
	}
	mid := math.Log(start)
	fm := at(mid)
	for math.IsInf(fm, 1) && mid > math.Log(leastC) {
		mid -= 1
		fm = at(mid)
	}
	lo, hi := mid-spread, mid+spread
	fl, fh := at(lo), at(hi)
	for fl < fm && lo > math.Log(leastC) {
		hi, mid, fm = mid, lo, fl
		lo -= spread
		fl = at(lo)
	}
	for fh < fm && hi < math.Log(mostC) {
		lo, mid, fm = mid, hi, fh
		hi += spread
		fh = at(hi)
	}
	const golden = 0.3819660112501051
	for hi-lo > 0.1 {
		var x float64
		if mid-lo > hi-mid {
			x = mid - golden*(mid-lo)
		} else {
			x = mid + golden*(hi-mid)
		}
		switch fx := at(x); {
		case fx < fm && x < mid:
			hi, mid, fm = mid, x, fx
		case fx < fm:
			lo, mid, fm = mid, x, fx
		case x < mid:
			lo = x
		default:
			hi = x
		}
	}
	return math.Exp(mid)
}

const (
	spread = 0.9
	leastC = 1e-12
	mostC  = 1e12
)

// images returns a bound on the error that the trapezoid rule with a step adds to delta, relative to delta: the deltas
// at eps + 2 pi k/step, k != 0, times exp(2 pi k c/step). It is never negative.
func (g *integral) images(c, step, eps, logDelta float64) float64 {
	x := 2 * math.Pi / step
	sum := math.Exp(-numeric.LogExpm1(c*x) - logDelta)
	if eps+x >= g.most {
		return sum
	}
	above := math.Inf(1)
	for _, r := range ratios {
		if b := g.bound(c*r, eps); !math.IsInf(b, 1) {
			above = math.Min(above, b-numeric.LogExpm1((c*r-c)*x))
		}
	}
	return sum + math.Exp(above-logDelta)
}

// ratios holds the larger real parts at which Chernoff's bound is tried, relative to c.
var ratios = [...]float64{1.01, 1.03, 1.07, 1.15, 1.3, 1.6, 2.2, 4}

// stepFor returns the largest step for which the images at eps are below a relative exp(-quiet) of
// delta.
func (g *integral) stepFor(c, eps, logDelta, quiet float64) float64 {
	x := (quiet - logDelta) / c
	above := math.Inf(1)
	if !math.IsInf(g.most, 1) {
		above = math.Max(g.most-eps, 0)
	}
	for _, r := range ratios {
		above = math.Min(above, (g.bound(c*r, eps)-logDelta+quiet)/(c*r-c))
	}
	return 2 * math.Pi / math.Max(x, above)
}

// place returns the real part of the line and its step. It moves the line from the saddle point c a little to the left
// if that allows a much larger step. With rare events the moments explode to the right of the saddle, and with them
// Chernoff's bound of the images. Off the saddle the line loses only as many digits as its bound is larger.
func (g *integral) place(c, eps, logDelta, quiet float64) (at, step float64) {
	at, step = c, g.stepFor(c, eps, logDelta, quiet)
	most := g.bound(c, eps) + 5
	for _, r := range [...]float64{0.9, 0.8, 0.65, 0.5} {
		// Half of the step that the images on the other side allow is good enough.
		if step > math.Pi*c/(quiet-logDelta) || g.bound(c*r, eps) > most {
			break
		}
		if s := g.stepFor(c*r, eps, logDelta, quiet); s > step {
			at, step = c*r, s
		}
	}
	return at, step
}

// line holds the integrand of delta along Re w = c, without the factor that depends on epsilon, with bounds on its
// errors.
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
