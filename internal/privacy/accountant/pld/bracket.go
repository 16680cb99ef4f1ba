package pld

import (
	"fmt"
	"math"
	"sync"
)

// query is what is asked: epsilon at a delta (solve), or delta at an epsilon.
type query struct {
	delta, eps float64
	solve      bool
}

// plan is the composition in one direction: what it is made of and where it is
// looked at.
type plan struct {
	name  string
	parts []*cells
	span  span
}

// brackets returns the bracket of each direction that differs: remove (or both)
// first.
func brackets(parts []part, q query, o Options) ([]Bounds, error) {
	if b := o.Bins; b != 0 && (b < fewestBins || b > mostBins || b&(b-1) != 0) {
		return nil, fmt.Errorf("bins is %d, want a power of two from %d to %d", b, fewestBins, mostBins)
	}
	symmetric, most, total := true, 0.0, 0.0
	for _, p := range parts {
		symmetric = symmetric && p.pair.symmetric
		most += p.count * max(p.pair.max, -p.pair.min)
		total += p.count
	}
	names := []string{"remove", "add"}
	if symmetric {
		names = []string{"both"}
	}
	spans, ranges, target, err := survey(parts, len(names), q)
	if err != nil {
		return nil, err
	}
	bins, h, err := chooseMesh(parts, spans, o.Bins)
	if err != nil {
		return nil, err
	}
	counts := make([]float64, len(parts))
	plans := make([]plan, len(names))
	shift := 0.0 // rounding of places of losses
	cellsOf := 0.0
	for i, p := range parts {
		counts[i] = p.count
		lo, hi := ranges[i][0], ranges[i][1]
		if cellsOf += (hi - lo) / h; cellsOf > 8*mostBins {
			return nil, fmt.Errorf("losses from %v to %v do not fit a mesh of %v: %w", lo, hi, h, ErrNotCovered)
		}
		c := p.pair.discretise(h, lo, hi)
		plans[0].parts = append(plans[0].parts, c)
		if !symmetric {
			plans[1].parts = append(plans[1].parts, c.swap())
		}
		shift += 16 * unit * p.count * max(math.Abs(lo), math.Abs(hi))
	}
	for i := range plans {
		plans[i].name, plans[i].span = names[i], spans[i]
	}
	uppers, lowers := make([]side, len(plans)), make([]side, len(plans))
	var wg sync.WaitGroup
	wg.Go(func() {
		m := newMachine(bins)
		for i, p := range plans {
			uppers[i] = p.upper(m, counts, q, shift, target, total)
		}
	})
	m := newMachine(bins / 2)
	for i, p := range plans {
		lowers[i] = p.lower(m, counts, q, shift)
	}
	wg.Wait()
	out := make([]Bounds, len(plans))
	for i, p := range plans {
		u, l := uppers[i], lowers[i]
		if u.err != nil || l.err != nil {
			return nil, fmt.Errorf("direction %s: %w", p.name, firstOf(u.err, l.err))
		}
		b := Bounds{
			Lower: l.value, Upper: u.value, Direction: p.name, Mesh: h, Bins: bins, Tilt: p.span.tilt,
			Truncated: u.truncated, Rounding: u.rounding,
		}
		out[i] = b.capped(q, most, u.infinite)
		if !(out[i].Lower <= out[i].Upper) {
			return nil, fmt.Errorf("direction %s: lower %v above upper %v: %w", p.name, out[i].Lower, out[i].Upper, ErrCheck)
		}
		if q.solve && math.IsInf(out[i].Upper, 1) {
			return nil, fmt.Errorf("direction %s, delta %v: %w", p.name, q.delta, ErrInfinite)
		}
	}
	return out, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// capped uses that no loss is above the sum of the largest.
func (b Bounds) capped(q query, most, infinite float64) Bounds {
	most *= 1 + 8*unit
	if q.solve {
		if infinite <= q.delta {
			b.Upper = min(b.Upper, most)
		}
		return b
	}
	if q.eps >= most {
		b.Upper = min(b.Upper, infinite)
	}
	return b
}

// survey chooses tilt and window in each direction from a quadrature of the
// losses, and the range of losses that each pair is cut to: what is beyond is
// 1e-9 of delta.
func survey(parts []part, directions int, q query) (spans []span, ranges [][2]float64, target float64, err error) {
	logTarget := math.Log(q.delta)
	ranges = make([][2]float64, len(parts))
	spans = make([]span, directions)
	for pass := range 2 {
		best := math.Inf(-1)
		for i, p := range parts {
			tau := 1e-60
			if pass == 1 {
				tau = math.Exp(max(logTarget+math.Log(1e-9)-math.Log(p.count*float64(len(parts))), -690))
			}
			ranges[i][0], ranges[i][1] = p.pair.cut(tau)
		}
		for d := range directions {
			var ls laws
			for i, p := range parts {
				points := p.pair.points(ranges[i][0], ranges[i][1])
				if d == 1 {
					points = swapped(points)
				}
				ls = append(ls, newLaw(points, p.count))
			}
			c := ls.tilt(func(eps, logDelta float64) bool {
				if q.solve {
					return eps >= 0 && logDelta <= math.Log(q.delta)
				}
				return eps >= q.eps
			})
			if _, l := ls.saddle(c); l > best {
				best = l
			}
			if pass == 1 {
				spans[d] = ls.span(c)
			}
		}
		if !q.solve {
			logTarget = min(best, -1e-3)
		}
	}
	for _, s := range spans {
		if !(s.hi > s.lo) || math.IsInf(s.hi-s.lo, 1) || math.IsNaN(s.tilt) {
			return nil, nil, 0, fmt.Errorf("no window for the composed loss (%v to %v): %w", s.lo, s.hi, ErrNotCovered)
		}
	}
	return spans, ranges, math.Exp(logTarget), nil
}

// chooseMesh fits the mesh to the widest window and to the atoms that are drawn
// most often. What discretising adds to the variance of the loss, h²/2 a step
// over both bounds, moves epsilon by tilt/2 times it; bins are added until that
// is 1e-6.
func chooseMesh(parts []part, spans []span, bins int) (int, float64, error) {
	window, tilt := 0.0, 0.0
	for _, s := range spans {
		window, tilt = max(window, s.hi-s.lo), max(tilt, s.tilt)
	}
	steps, weight, spacing, lattice := 0.0, 0.0, 0.0, true
	for _, p := range parts {
		steps += p.count
		lattice = lattice && p.pair.tails == nil
		if w := p.count * p.pair.spacing; w > weight {
			weight, spacing = w, p.pair.spacing
		}
	}
	lattice = lattice && len(parts) == 1 && spacing > 0
	if lattice {
		window = max(window, 4*spacing)
	}
	bins, h := mesh(bins, window, math.Sqrt(4e-6/(steps*(tilt+0.5))), spacing, lattice)
	if !(h > 0) || math.IsInf(h, 1) {
		return 0, 0, fmt.Errorf("no mesh for a window of %v: %w", window, ErrNotCovered)
	}
	return bins, h, nil
}

// side is one end of a bracket.
type side struct {
	value, truncated, rounding, infinite float64
	err                                  error
}

func (p plan) upper(m *machine, counts []float64, q query, shift, target, total float64) side {
	ms := make([]*masses, len(p.parts))
	for i, c := range p.parts {
		ms[i] = c.upper()
	}
	t := m.compose(ms, counts, p.span)
	if err := t.check(max(target/100, 64*unit*total)); err != nil {
		return side{err: err}
	}
	b := t.above(p.span)
	s := side{infinite: t.infinite, truncated: b.extra}
	if q.solve {
		_, hi, err := b.epsilon(q.delta)
		s.value, s.err = hi, err
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
	s.rounding = b.slack * math.Exp(t.logMass-t.tilt*at)
	return s
}

func (p plan) lower(m *machine, counts []float64, q query, shift float64) side {
	ms := make([]*masses, len(p.parts))
	for i, c := range p.parts {
		ms[i] = c.lower()
	}
	t := m.compose(ms, counts, p.span)
	if err := t.check(math.Inf(1)); err != nil {
		return side{err: err}
	}
	b := t.below(p.span)
	if !q.solve {
		return side{value: b.deltaAt(q.eps + shift)}
	}
	lo, _, err := b.epsilon(q.delta)
	return side{value: max(0, lo-shift), err: err}
}
