package pld

import (
	"math"
)

// side is one end of a bracket.
type side struct {
	value, truncated, rounding, infinite float64
	work                                 int // visits of cells and of bins
	err                                  error
}

func (p plan) upper(m *machine, counts []float64, q query, shift, target, total float64) side {
	ms := make([]*masses, len(p.terms))
	s := side{work: m.work(len(ms))}
	for i, c := range p.terms {
		ms[i] = c.upper()
		s.work += len(ms[i].w)
	}
	t := m.compose(ms, counts, p.span)
	if s.err = t.check(max(target/100, 64*unit*total)); s.err != nil {
		return s
	}
	b := t.upper(p.span)
	if s.err = b.usable(); s.err != nil {
		return s
	}
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
	t := m.compose(ms, counts, p.span)
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
