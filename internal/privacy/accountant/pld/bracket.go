package pld

import (
	"errors"
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
	v, err := survey(parts, len(names), q)
	if err != nil {
		return nil, err
	}
	// The window rests on a guess of what is looked for, which is far off where few
	// large losses decide. Coarse brackets are better guesses.
	for bins := coarseBins; bins < defaultBins && (o.Bins == 0 || bins < o.Bins); bins *= 4 {
		bs, err := v.look(parts, names, q, bins, most, total)
		if err != nil && !errors.Is(err, ErrInfinite) {
			return nil, err
		}
		if err == nil && v.narrow(bs, q) {
			break
		}
	}
	return v.look(parts, names, q, o.Bins, most, total)
}

// look computes the bracket of each direction in the windows of the view.
func (v *view) look(parts []part, names []string, q query, bins int, most, total float64) ([]Bounds, error) {
	symmetric := len(names) == 1
	bins, h, err := chooseMesh(parts, v.spans, bins)
	if err != nil {
		return nil, err
	}
	counts := make([]float64, len(parts))
	plans := make([]plan, len(names))
	shift := 0.0 // rounding of places of losses
	cellsOf := 0.0
	for i, p := range parts {
		counts[i] = p.count
		lo, hi := v.ranges[i][0], v.ranges[i][1]
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
		plans[i].name, plans[i].span = names[i], v.spans[i]
	}
	uppers, lowers := make([]side, len(plans)), make([]side, len(plans))
	var wg sync.WaitGroup
	wg.Go(func() {
		m := newMachine(bins)
		for i, p := range plans {
			uppers[i] = p.upper(m, counts, q, shift, v.target, total)
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

// view is where a composition is looked at: the losses of each direction as
// points, the window of each, and the range of losses that each pair is cut to.
type view struct {
	laws   []laws
	spans  []span
	ranges [][2]float64
	target float64 // delta, or a guess of it
}

// survey chooses tilts and windows from a quadrature of the losses. Pairs are cut
// where what is beyond is 1e-9 of delta.
func survey(parts []part, directions int, q query) (*view, error) {
	v := &view{laws: make([]laws, directions), spans: make([]span, directions), ranges: make([][2]float64, len(parts))}
	logTarget := math.Log(q.delta)
	for pass := range 2 {
		best := math.Inf(-1)
		for i, p := range parts {
			tau := 1e-60
			if pass == 1 {
				tau = math.Exp(max(logTarget+math.Log(1e-9)-math.Log(p.count*float64(len(parts))), -690))
			}
			v.ranges[i][0], v.ranges[i][1] = p.pair.cut(tau)
		}
		for d := range directions {
			var ls laws
			for i, p := range parts {
				points := p.pair.points(v.ranges[i][0], v.ranges[i][1])
				if d == 1 {
					points = swapped(points)
				}
				ls = append(ls, newLaw(points, p.count))
			}
			c := ls.tilt(func(eps, logDelta float64) bool {
				if q.solve {
					return eps >= 0 && logDelta <= logTarget
				}
				return eps >= q.eps
			})
			eps, l := ls.saddle(c)
			best = max(best, l)
			v.laws[d], v.spans[d] = ls, ls.span(c, min(0, eps), max(eps, 0), min(l, 0))
		}
		if !q.solve {
			logTarget = min(best, -1e-3)
		}
	}
	v.target = math.Exp(logTarget)
	for _, s := range v.spans {
		if !(s.hi > s.lo) || math.IsInf(s.hi-s.lo, 1) || math.IsNaN(s.tilt) {
			return nil, fmt.Errorf("no window for the composed loss (%v to %v): %w", s.lo, s.hi, ErrNotCovered)
		}
	}
	return v, nil
}

// narrow chooses the windows again for what was found, and reports whether that
// was known well enough for the next windows to be final.
func (v *view) narrow(bs []Bounds, q query) bool {
	done := true
	for d, ls := range v.laws {
		b := bs[d]
		if q.solve {
			c := ls.tilt(func(e, _ float64) bool { return e >= b.Upper })
			v.spans[d] = ls.span(c, b.Lower, b.Upper, math.Log(q.delta))
			done = done && b.Upper-b.Lower < 0.05*(v.spans[d].hi-b.Upper)
			continue
		}
		if !(b.Lower > 0) {
			done = false
			continue
		}
		c := ls.tilt(func(e, _ float64) bool { return e >= q.eps })
		v.spans[d] = ls.span(c, q.eps, q.eps, math.Log(b.Lower))
		done = done && b.Upper < 1.5*b.Lower
	}
	return done
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
