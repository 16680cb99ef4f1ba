package pld

import (
	"math"

	"privrec/internal/privacy/numeric"
)

// atom holds a point of a privacy loss: the loss, and its mass under both laws.
type atom struct{ loss, p, q float64 }

// edge holds the continuous mass of a pair below and above a loss, under P and under Q.
type edge struct{ pBelow, pAbove, qBelow, qAbove float64 }

// pair holds the law of a privacy loss log P/Q under P and under Q. As a pricer it becomes that of a release.
type pair struct {
	tails     func(loss float64) edge // nil: atoms alone
	lo, hi    float64                 // tails is defined here, and there is no mass outside
	atoms     []atom                  // in ascending order
	nodes     []atom                  // a quadrature of the continuous losses, in ascending order
	max, min  float64                 // losses are between them; may be infinite
	cutP      float64                 // at most this mass of P lies above all atoms and is missing from them
	cutQ      float64                 // the same for Q below all atoms
	infP      float64                 // mass of P where Q has none
	infQ      float64                 // mass of Q where P has none
	spacing   float64                 // every atom is a multiple of spacing away from pin; 0: not known
	pin       float64                 // an atom
	rho       float64                 // the largest relative error of the masses of atoms
	symmetric bool                    // the exchanged pair has the same loss
	reached   *pair                   // of two neighbours that some data sets have, where unreached; nil: not known
	unreached bool                    // no two neighbours have these laws: the pair dominates all that do
}

// sampled returns the pair of a Poisson sample at rate q under add-remove: P becomes (1-q)Q + qP
// and Q stays (Zhu, Dong, Wang 2022, theorem 11).
func (x pair) sampled(q float64) pair {
	up := func(loss float64) float64 { return numeric.LogMixed(q, loss) } // of the sample from that of the release
	down := func(loss float64) float64 {
		if loss > 30 {
			return numeric.LogUnmixed(q, loss)
		}
		return log1p(math.Expm1(loss) / q)
	}
	mix := func(p, y float64) float64 { return (1-q)*y + q*p }
	atoms := func(in []atom) []atom {
		out := make([]atom, len(in))
		for i, a := range in {
			out[i] = atom{up(a.loss), mix(a.p, a.q), a.q}
		}
		return out
	}
	y := x
	y.atoms, y.nodes = atoms(x.atoms), atoms(x.nodes)
	y.max, y.min = up(x.max), up(x.min)
	y.infP, y.infQ, y.symmetric, y.spacing = q*x.infP, 0, false, 0
	if x.reached != nil {
		reached := x.reached.sampled(q)
		y.reached = &reached
	}
	if x.tails != nil {
		y.lo, y.hi = up(x.lo), up(x.hi)
		floor := math.Log1p(-q)
		y.tails = func(loss float64) edge {
			switch {
			case loss <= floor || loss <= y.lo:
				return x.mixedEdge(x.lo, q)
			case loss >= y.hi: // down of it may be below x.hi by rounding
				return x.mixedEdge(x.hi, q)
			}
			return x.mixedEdge(min(max(down(loss), x.lo), x.hi), q)
		}
	}
	if n := len(y.atoms); n > 0 {
		y.pin = y.atoms[n-1].loss
		if n == 2 {
			y.spacing = y.pin - y.atoms[0].loss
		}
	}
	return y
}

func (x pair) mixedEdge(loss, q float64) edge {
	e := x.tails(loss)
	e.pBelow, e.pAbove = (1-q)*e.qBelow+q*e.pBelow, (1-q)*e.qAbove+q*e.pAbove
	return e
}

// cut returns the range of losses with at most tau of P above it and at most tau of Q below it.
// With oneWay, at most tau of P below it is enough too.
func (x pair) cut(tau float64, oneWay bool) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	if n := len(x.atoms); n > 0 {
		lo, hi = x.atoms[0].loss, x.atoms[n-1].loss
	}
	if x.tails == nil {
		return lo, hi
	}
	from, to := x.lo, x.hi
	below := func(l float64) bool {
		e := x.tails(l)
		return e.qBelow <= tau || oneWay && e.pBelow <= tau
	}
	if below(from) {
		from, _ = numeric.Halve(cutHalvings, x.lo, x.hi, below)
	}
	if x.tails(to).pAbove <= tau {
		to, _ = numeric.Halve(cutHalvings, x.hi, x.lo, func(l float64) bool { return x.tails(l).pAbove <= tau })
	}
	return min(lo, from), max(hi, to)
}

// cutHalvings is the number of halvings after which the end of a cut is accurate enough.
const cutHalvings = 48

// swapped returns the points of the loss with P and Q exchanged.
func swapped(in []atom) []atom {
	out := make([]atom, len(in))
	for i, a := range in {
		out[len(in)-1-i] = atom{-a.loss, a.q, a.p}
	}
	return out
}

// points returns a quadrature of the loss between two losses, in ascending order. The mass beyond its last points goes
// to the two losses lo and hi, since an exponent that could separate them would not fit the cells.
func (x pair) points(lo, hi float64) []atom {
	if x.tails == nil {
		return x.atoms
	}
	out := make([]atom, 1, len(x.nodes)+len(x.atoms)+2)
	rest, first, last := x.atoms, lo, lo
	for _, a := range x.nodes {
		if a.loss < lo || a.loss > hi {
			continue
		}
		if len(out) == 1 {
			first = a.loss
		}
		last = a.loss
		for len(rest) > 0 && rest[0].loss < a.loss {
			out, rest = append(out, rest[0]), rest[1:]
		}
		out = append(out, a)
	}
	out = append(out, rest...)
	below, above := x.tails(min(max(first, x.lo), x.hi)), x.tails(min(max(last, x.lo), x.hi))
	out[0] = atom{lo, below.pBelow, below.qBelow}
	return append(out, atom{hi, above.pAbove, above.qAbove})
}

// side holds one end of a bracket.
type side struct {
	value, truncated, rounding, infinite float64
	work                                 int // visits of cells and of bins
	err                                  error
}

// composer is a method of a machine that composes terms.
type composer func(m *machine, terms []*masses, counts []float64, s span) *tilted

// bound returns the bound from composing the upper masses by one of a machine's methods. work is the number of cells
// and bins that it visits.
func (p plan) bound(m *machine, compose composer, counts []float64, target,
	total float64) (b bound, work int, err error) {
	ms := make([]*masses, len(p.terms))
	work = m.work(len(ms))
	for i, c := range p.terms {
		ms[i] = c.upper()
		work += len(ms[i].w)
	}
	t := compose(m, ms, counts, p.span)
	if err := t.check(max(target/100, 64*unit*total)); err != nil {
		return b, work, err
	}
	b = t.upper(p.span)
	return b, work, b.usable()
}

func (p plan) upper(m *machine, counts []float64, q query, shift, target, total float64) side {
	var s side
	b, work, err := p.bound(m, (*machine).composeWaves, counts, target, total)
	if s.work, s.err = work, err; err != nil {
		return s
	}
	t := b.tilted
	s.infinite, s.truncated = t.infinite, b.extra
	if q.solve {
		lo, hi, err := b.epsilon(q.delta)
		s.value, s.err = hi, err
		if err == nil && lo < 0 && hi > 0 {
			s.err = errMissed
		}
		if hi > 0 {
			s.value += shift
		}
	} else {
		s.value = b.deltaAt(max(q.eps-shift, 0))
	}
	at := q.eps
	if q.solve {
		at = s.value
	}
	scale := math.Exp(t.logMass - t.tilt*at)
	s.rounding = b.slack * scale
	if at < t.lo && b.under > 0 {
		s.truncated = min(1, s.truncated+b.under*scale)
	}
	return s
}

func (p plan) lower(m *machine, counts []float64, q query, shift float64) side {
	ms := make([]*masses, len(p.terms))
	s := side{work: m.work(len(ms))}
	for i, c := range p.terms {
		ms[i] = c.lower()
		s.work += len(ms[i].w) + ms[i].solved
	}
	t := m.composeWaves(ms, counts, p.span)
	if s.err = t.check(math.Inf(1)); s.err != nil {
		return s
	}
	b := t.lower(p.span)
	if math.IsInf(b.slack, -1) || math.IsInf(b.extra, -1) {
		return s // all of it may have wrapped around: the bound is 0
	}
	if s.err = b.usable(); s.err != nil {
		return s
	}
	if !q.solve {
		s.value = b.deltaAt(q.eps + shift)
		return s
	}
	lo, _, err := b.epsilon(q.delta)
	s.value, s.err = max(0, lo-shift), err
	return s
}
