package pld

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// query asks for epsilon at a delta (solve), or for delta at an epsilon.
type query struct {
	delta, eps float64
	solve      bool
}

// plan holds the composition in one direction and the window of losses that is computed.
type plan struct {
	name  string
	terms []*cells
	span  span
}

// errMissed is returned if a window starts above the epsilon that it should contain.
var errMissed = errors.New("the window of losses missed epsilon")

// enough is the relative width of a bracket at which the search stops adding bins, if their number is not given.
const enough = 3e-6

// brackets returns a bracket for each direction: remove, or both if they are alike, then add. With largest, it stops
// refining a direction once a coarse bracket shows it to be below the other.
func brackets(ctx context.Context, terms []term, q query, o Options, largest bool) ([]Bounds, error) {
	if b := o.Bins; b != 0 && (b < fewestBins || b > mostBins || b&(b-1) != 0) {
		return nil, fmt.Errorf("bins is %d, want a power of two from %d to %d", b, fewestBins, mostBins)
	}
	if len(terms) > mostTerms {
		return nil, fmt.Errorf("%d different releases, want at most %d: %w", len(terms), mostTerms, ErrNotCovered)
	}
	v, err := newView(ctx, terms, q)
	if err != nil {
		return nil, err
	}
	return v.brackets(o, largest)
}

// brackets returns the brackets of each direction. It adds bins until they are narrow enough, or have as many bins as o
// asks for.
func (v *view) brackets(o Options, largest bool) ([]Bounds, error) {
	last := o.Bins
	if last == 0 {
		last = v.bins
	}
	for last*len(v.terms) > mostWork {
		last /= 2
	}
	dirs := []int{0, 1}[:len(v.names)]
	out := make([]Bounds, len(dirs))
	for bins := v.first(o.Bins, last, largest); ; {
		bs, err := v.widened(dirs, bins)
		if stopped := v.ctx.Err(); stopped != nil {
			return nil, stopped
		}
		if err != nil {
			if bins == last {
				return nil, err
			}
			bins = min(8*bins, last) // the mesh was too coarse for any bound
			continue
		}
		widest := 0.0
		for i, d := range dirs {
			out[d] = bs[i]
			widest = max(widest, (bs[i].Upper-bs[i].Lower)/bs[i].Upper)
		}
		if bins >= last || o.Bins == 0 && !(widest > enough) { // 0/0 is narrow
			return out, nil
		}
		if largest && len(dirs) == 2 {
			dirs = contenders(out)
		}
		bins = next(bins, last, o.Bins != 0, len(dirs), widest)
	}
}

// first returns the number of bins to begin with. It is the final number if fewer bins would be of no help.
func (v *view) first(asked, last int, largest bool) int {
	if asked != 0 && (!largest || len(v.names) == 1 || last <= 4*coarseBins) {
		return last
	}
	return min(coarseBins, last)
}

// next returns the number of bins to try after a bracket of the given relative width. The width falls with the square
// of the bins, and at first faster. So a bracket with a few more bins, which is cheap, shows how many bins are needed.
func next(bins, last int, asked bool, directions int, widest float64) int {
	factor := 4
	if asked {
		if directions == 1 || 16*bins > last {
			return last
		}
	} else {
		for factor = 2; factor < 16 && widest > enough*float64(factor*factor); {
			factor *= 2
		}
		if far := widest / (enough * 16 * 16); directions == 2 || far > 4 && far < 64 {
			factor = min(factor, 4)
		}
	}
	return min(bins*factor, last)
}

// contenders returns the directions that may still be the larger one.
func contenders(bs []Bounds) []int {
	switch {
	case bs[1].Upper <= bs[0].Lower:
		return []int{0}
	case bs[0].Upper <= bs[1].Lower:
		return []int{1}
	}
	return []int{0, 1}
}

// widened returns the brackets of some directions. If the narrow windows miss epsilon it takes safer ones.
func (v *view) widened(dirs []int, bins int) ([]Bounds, error) {
	bs, err := v.bracket(dirs, bins)
	if errors.Is(err, errMissed) {
		copy(v.spans, v.safe)
		bs, err = v.bracket(dirs, bins)
	}
	if errors.Is(err, errMissed) { // a window that contains 0 misses nothing
		for i, s := range v.spans {
			v.spans[i].lo = min(s.lo, -0.02*s.hi)
		}
		bs, err = v.bracket(dirs, bins)
	}
	return bs, err
}

// plans returns the discretised pairs for some directions, in the windows of the view. shift bounds the rounding of
// losses.
func (v *view) plans(dirs []int, bins int) (plans []plan, h, shift float64, err error) {
	if h, err = v.chooseMesh(dirs, bins); err != nil {
		return nil, 0, 0, err
	}
	plans = make([]plan, len(dirs))
	for i, d := range dirs {
		plans[i] = plan{name: v.names[d], span: v.spans[d]}
	}
	size := 0.0
	for i, p := range v.terms {
		lo, hi := v.ranges[i][0], v.ranges[i][1]
		if size += (hi - lo) / h; !(size <= 2*mostCells) {
			return nil, 0, 0, fmt.Errorf("losses from %v to %v do not fit a mesh of %v: %w", lo, hi, h, ErrNotCovered)
		}
		c := p.pair.discretise(v.ctx, h, lo, hi)
		if err := v.ctx.Err(); err != nil {
			return nil, 0, 0, err
		}
		v.work += len(c.p) + len(c.pins)
		for k, d := range dirs {
			if d == 1 {
				plans[k].terms = append(plans[k].terms, c.swap())
			} else {
				plans[k].terms = append(plans[k].terms, c)
			}
		}
		shift += 16 * unit * p.count * max(math.Abs(lo), math.Abs(hi))
	}
	return plans, h, shift, nil
}

// bracket returns the brackets of some directions in the windows of the view.
func (v *view) bracket(dirs []int, bins int) ([]Bounds, error) {
	plans, h, shift, err := v.plans(dirs, bins)
	if err != nil {
		return nil, err
	}
	uppers, lowers := make([]side, len(plans)), make([]side, len(plans))
	var wg sync.WaitGroup
	wg.Go(func() {
		m := newMachine(bins)
		for i, p := range plans {
			if v.ctx.Err() != nil {
				return
			}
			uppers[i] = p.upper(m, v.counts, v.q, shift, v.target, v.total)
		}
	})
	m := newMachine(bins / 2)
	for i, p := range plans {
		if v.ctx.Err() != nil {
			break
		}
		lowers[i] = p.lower(m, v.counts, v.q, shift)
	}
	wg.Wait()
	if err := v.ctx.Err(); err != nil {
		return nil, err
	}
	out := make([]Bounds, len(plans))
	for i, p := range plans {
		u, l := uppers[i], lowers[i]
		v.work += u.work + l.work
		if u.err != nil || l.err != nil {
			return nil, fmt.Errorf("direction %s: %w", p.name, firstOf(u.err, l.err))
		}
		b := Bounds{
			Lower: l.value, Upper: u.value, Direction: p.name, Mesh: h, Bins: bins, Tilt: p.span.tilt,
			Truncated: u.truncated, Rounding: u.rounding,
		}
		out[i] = b.capped(v.q, v.most, u.infinite)
		if err := out[i].check(v.q); err != nil {
			return nil, fmt.Errorf("direction %s: %w", p.name, err)
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

// check returns an error if the bounds cannot be those of a valid bracket. An error bound that is infinite or NaN makes
// the rest worthless.
func (b Bounds) check(q query) error {
	for _, v := range []float64{b.Truncated, b.Rounding} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("the errors by truncation or rounding have no bound: %w", ErrCheck)
		}
	}
	if !(b.Lower <= b.Upper) {
		return fmt.Errorf("lower %v above upper %v: %w", b.Lower, b.Upper, ErrCheck)
	}
	if math.IsInf(b.Upper, 1) {
		if q.solve {
			return fmt.Errorf("delta %v: %w", q.delta, ErrInfinite)
		}
		return fmt.Errorf("delta is infinite: %w", ErrCheck)
	}
	return nil
}

// capped returns the bracket limited by the sum of the largest losses: no loss is above it, and beyond it delta is the
// mass of infinite losses.
func (b Bounds) capped(q query, most, infinite float64) Bounds {
	most *= 1 + 8*unit
	if q.solve {
		if infinite <= q.delta {
			b.Upper = min(b.Upper, most)
		}
		return b
	}
	if q.eps >= most {
		b.Upper, b.Truncated, b.Rounding = min(b.Upper, infinite), infinite, 0
	}
	return b
}

// view holds the parameters of a computation: the losses of each direction as points, the window of each direction, and
// the range of losses to which each pair is cut.
type view struct {
	ctx         context.Context
	terms       []term
	counts      []float64
	most, total float64 // the largest sum of losses, and the number of releases
	names       []string
	q           query
	laws        []laws
	spans, safe []span
	ranges      [][2]float64
	target      float64 // delta, or a guess of it
	bins        int     // the most that are of use, if their number is not given
	work        int     // visits of points, cells and bins so far
}

func newView(ctx context.Context, terms []term, q query) (*view, error) {
	v := &view{ctx: ctx, terms: terms, q: q, names: []string{"both"}, ranges: make([][2]float64, len(terms)),
		bins: defaultBins}
	for _, p := range terms {
		v.most += p.count * max(p.pair.max, -p.pair.min)
		v.total += p.count
		v.counts = append(v.counts, p.count)
		if p.pair.rho > 0 {
			v.bins = boundBins
		}
		if !p.pair.symmetric {
			v.names = []string{"remove", "add"}
		}
	}
	if err := v.survey(); err != nil {
		return nil, err
	}
	v.safe = slices.Clone(v.spans)
	v.guess()
	return v, nil
}

// survey chooses tilts and windows from a quadrature of the losses. It cuts off the ends of a pair whose mass is below
// 1e-9 of delta. If delta is not given a first pass estimates it.
func (v *view) survey() error {
	terms, q, directions := v.terms, v.q, len(v.names)
	v.laws, v.spans = make([]laws, directions), make([]span, directions)
	logTarget := math.Log(q.delta)
	first := 0
	if q.solve {
		first = 1
	}
	for pass := first; pass < 2; pass++ {
		best := math.Inf(-1)
		for i, p := range terms {
			if err := v.ctx.Err(); err != nil {
				return err
			}
			tau := 1e-60
			if pass == 1 {
				tau = math.Exp(max(logTarget+math.Log(1e-9)-math.Log(p.count*float64(len(terms))), -690))
			}
			v.ranges[i][0], v.ranges[i][1] = p.pair.cut(tau, directions == 1)
		}
		for d := range directions {
			var ls laws
			for i, p := range terms {
				points := p.pair.points(v.ranges[i][0], v.ranges[i][1])
				v.work += len(points)
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
			return fmt.Errorf("no window for the composed loss (%v to %v): %w", s.lo, s.hi, ErrNotCovered)
		}
	}
	return nil
}

// guess chooses the windows again from a rough composition of the points. The saddle point is a bad guess if a few
// large losses decide.
func (v *view) guess() {
	m, q := newMachine(roughBins), v.q
	for d, ls := range v.laws {
		was := v.spans[d]
		h := (was.hi - was.lo) / roughBins
		ms := make([]*masses, len(ls))
		for i, l := range ls {
			if ms[i] = l.rough(h); ms[i] == nil {
				return
			}
		}
		t := m.compose(ms, v.counts, was)
		v.work += m.work(len(ms))
		b := bound{tilted: t}
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

// chooseMesh returns a mesh for the widest window and for the atoms that are drawn most often. The mesh is coarse
// enough that the errors of a distribution function are small against a cell, and that there are not too many cells.
func (v *view) chooseMesh(dirs []int, bins int) (float64, error) {
	window := 0.0
	for _, d := range dirs {
		window = max(window, v.spans[d].hi-v.spans[d].lo)
	}
	weight, spacing, finest, size, lattice := 0.0, 0.0, 0.0, 0.0, len(v.terms) == 1
	for i, p := range v.terms {
		size += v.ranges[i][1] - v.ranges[i][0]
		rounded := p.pair.rho
		if p.pair.tails != nil {
			lattice, rounded = false, max(rounded, rho)
		}
		if rounded > 0 {
			for _, d := range dirs {
				_, _, variance := v.laws[d][i].cgf(0)
				finest = max(finest, 32*math.Sqrt(rounded*variance))
			}
		}
		if w := p.count * p.pair.spacing; w > weight {
			weight, spacing = w, p.pair.spacing
		}
	}
	if lattice && spacing > 0 {
		window = max(window, 4*spacing)
	}
	cells := min(4*bins*len(v.terms), mostCells)
	h := mesh(bins, window, spacing, max(finest, size/float64(cells)))
	if !(h > 0) || math.IsInf(h, 1) {
		return 0, fmt.Errorf("no mesh for a window of %v: %w", window, ErrNotCovered)
	}
	return h, nil
}
