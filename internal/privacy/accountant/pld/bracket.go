package pld

import (
	"errors"
	"fmt"
	"math"
	"slices"
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
	safe := slices.Clone(v.spans)
	v.guess(parts, q)
	bs, err := v.look(parts, names, q, o.Bins, most, total)
	if errors.Is(err, errMissed) {
		v.spans = safe
		bs, err = v.look(parts, names, q, o.Bins, most, total)
	}
	if errors.Is(err, errMissed) { // a window with 0 in it misses nothing
		for i, s := range v.spans {
			v.spans[i].lo = min(s.lo, -0.02*s.hi)
		}
		bs, err = v.look(parts, names, q, o.Bins, most, total)
	}
	return bs, err
}

// errMissed is a window that starts above the epsilon that was looked for.
var errMissed = errors.New("the window of losses missed epsilon")

// look computes the bracket of each direction in the windows of the view.
func (v *view) look(parts []part, names []string, q query, bins int, most, total float64) ([]Bounds, error) {
	symmetric := len(names) == 1
	bins, h, err := v.chooseMesh(parts, bins)
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
			if v.laws[d] = ls; pass == 1 {
				v.spans[d] = ls.span(c, min(0, eps), max(eps, 0), min(l, 0))
			}
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

// guess chooses the windows again after a rough composition of the points: the
// saddle point misjudges what few large losses decide.
func (v *view) guess(parts []part, q query) {
	m := newMachine(roughBins)
	counts := make([]float64, len(parts))
	for i, p := range parts {
		counts[i] = p.count
	}
	for d, ls := range v.laws {
		was := v.spans[d]
		h := (was.hi - was.lo) / roughBins
		ms := make([]*masses, len(ls))
		for i, l := range ls {
			if ms[i] = l.rough(h); ms[i] == nil {
				return
			}
		}
		t := m.compose(ms, counts, was)
		b := bound{t, 0, 0}
		eps, least, logDelta := q.eps, q.eps, 0.0
		if q.solve {
			lo, hi, err := b.epsilon(q.delta)
			if !(lo >= 0) || math.IsInf(hi, 1) || err != nil {
				continue
			}
			eps, least, logDelta = hi, 0.97*hi, math.Log(q.delta)
		} else if logDelta = math.Log(b.deltaAt(q.eps)); !(logDelta > -600) {
			continue
		}
		c := ls.tilt(func(e, _ float64) bool { return e >= eps })
		if s := ls.span(c, least, eps, logDelta); s.hi > s.lo && s.hi-s.lo < 4*(was.hi-was.lo) {
			v.spans[d] = s
		}
	}
}

// chooseMesh fits the mesh to the widest window and to the atoms that are drawn
// most often. What discretising adds to the variance of the loss, h²/2 a step
// over both bounds, moves epsilon by tilt/2 times it; bins are added until that
// is 1e-6. A mesh is never so fine that the errors of a distribution function are
// more than a small part of a cell.
func (v *view) chooseMesh(parts []part, bins int) (int, float64, error) {
	window, tilt := 0.0, 0.0
	for _, s := range v.spans {
		window, tilt = max(window, s.hi-s.lo), max(tilt, s.tilt)
	}
	steps, weight, spacing, finest, lattice := 0.0, 0.0, 0.0, 0.0, true
	for i, p := range parts {
		steps += p.count
		if p.pair.tails != nil {
			lattice = false
			for _, ls := range v.laws {
				_, _, variance := ls[i].cgf(0)
				finest = max(finest, 32*math.Sqrt(rho*variance))
			}
		}
		if w := p.count * p.pair.spacing; w > weight {
			weight, spacing = w, p.pair.spacing
		}
	}
	lattice = lattice && len(parts) == 1 && spacing > 0
	if lattice {
		window = max(window, 4*spacing)
	}
	bins, h := mesh(bins, window, math.Sqrt(4e-6/(steps*(tilt+0.5))), spacing, finest, lattice)
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
