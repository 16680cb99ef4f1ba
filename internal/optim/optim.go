package optim

import (
	"fmt"
	"math"
	"sync"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// NamedTensor is one entry of an optimiser's state.
type NamedTensor = autograd.NamedTensor

// Optimizer updates parameters from gradients. One training loop at a time may use an optimiser.
type Optimizer interface {
	// Step updates params in place. When it returns an error it has changed nothing.
	Step(params []*autograd.Param, g *autograd.Grads, lr float64) error
	// State returns everything that Load needs to continue from here, in a fixed order. The matrices are shared with
	// the optimiser: write them out before the next Step.
	State() []NamedTensor
	// Load replaces the state by one from State of an optimiser of the same kind.
	Load(state []NamedTensor) error
	// Steps returns the number of steps taken.
	Steps() int
}

// slot holds an optimiser's state of one parameter.
type slot struct {
	p    *autograd.Param
	a, b tensor.Matrix // moments, contiguous; b may be empty
	last []int32       // AdamLazy: the step each row is up to date with
}

// unit is a piece of work for a core: a range of rows of one parameter, or some single rows.
type unit struct {
	slot   *slot
	lo, hi int
	g      tensor.Matrix // dense gradient, if any
	rows   []int32       // sparse gradient: rows within [lo, hi), or with a lazy optimiser alone
	vals   tensor.Matrix // and their values, one row each
}

// unitFloats is the number of parameters in a unit.
const unitFloats = 16384

// lazyShare is the factor by which units of single rows are smaller, since these lie far apart.
const lazyShare = 8

// memory keeps the slots by name and cuts the work of a step into units.
type memory struct {
	prefix string
	pair   bool // two moments
	lazy   bool // and the step each row is up to date with
	steps  int
	slots  map[string]*slot
	order  []string
	loaded bool // the slots come from Load and have not met their parameters
	units  []unit
	work   func(u *unit) // does one unit; set for the length of a step
	run    func(chunk, lo, hi int)
}

// check returns an error for anything that can be wrong, before anything is changed.
func (m *memory) check(params []*autograd.Param, g *autograd.Grads, lr float64) error {
	if !(lr >= 0) || math.IsInf(lr, 0) {
		return fmt.Errorf("optim: learning rate %v", lr)
	}
	for k, p := range params {
		s := m.slots[p.Name]
		if s == nil || s.p != p { // its first step
			for _, q := range params[:k] {
				if q.Name == p.Name {
					return fmt.Errorf("optim: two parameters are named %q", p.Name)
				}
			}
		}
		switch {
		case s == nil:
		case s.p != nil && s.p != p:
			return fmt.Errorf("optim: two parameters are named %q", p.Name)
		case s.a.Rows != p.Value.Rows || s.a.Cols != p.Value.Cols:
			return fmt.Errorf("optim: state of %q is %d x %d, the parameter %d x %d", p.Name, s.a.Rows, s.a.Cols,
				p.Value.Rows, p.Value.Cols)
		}
	}
	if m.loaded {
		names := map[string]bool{}
		for _, p := range params {
			names[p.Name] = true
		}
		for _, name := range m.order {
			if !names[name] {
				return fmt.Errorf("optim: state of %q, which is not among the parameters", name)
			}
		}
	}
	for i := range g.Len() {
		p := g.Param(i)
		s := m.slots[p.Name]
		known := s != nil && s.p == p
		for _, q := range params {
			known = known || p == q
		}
		if !known {
			return fmt.Errorf("optim: gradient of %q, which is not among the parameters", p.Name)
		}
	}
	return nil
}

// slot returns the state of p, made on first use.
func (m *memory) slot(p *autograd.Param) *slot {
	s := m.slots[p.Name]
	if s == nil {
		s = &slot{a: tensor.NewLarge(p.Value.Rows, p.Value.Cols)}
		if m.pair {
			s.b = tensor.NewLarge(p.Value.Rows, p.Value.Cols)
		}
		m.keep(p.Name, s)
	}
	s.p = p
	return s
}

func (m *memory) keep(name string, s *slot) {
	if m.slots == nil {
		m.slots = map[string]*slot{}
	}
	m.slots[name] = s
	m.order = append(m.order, name)
}

// split appends the units of one parameter.
func (m *memory) split(s *slot, g *autograd.Grads) {
	p := s.p
	dense, _ := g.Dense(p)
	rows, vals, _ := g.Sparse(p)
	n := max(1, unitFloats/max(1, p.Value.Cols))
	if m.lazy && dense.Data == nil { // nothing is done to rows without a gradient
		n = max(1, n/lazyShare)
		for k := 0; k < len(rows); k += n {
			end := min(k+n, len(rows))
			m.units = append(m.units, unit{slot: s, rows: rows[k:end], vals: tensor.RowsView(vals, k, end)})
		}
		return
	}
	k := 0
	for lo := 0; lo < p.Value.Rows; lo += n {
		u := unit{slot: s, lo: lo, hi: min(p.Value.Rows, lo+n), g: dense}
		first := k
		for k < len(rows) && int(rows[k]) < u.hi {
			k++
		}
		if k > first {
			u.rows, u.vals = rows[first:k], tensor.RowsView(vals, first, k)
		}
		m.units = append(m.units, u)
	}
}

// each runs work over the units of all parameters.
func (m *memory) each(params []*autograd.Param, g *autograd.Grads, work func(u *unit)) {
	m.units, m.loaded = m.units[:0], false
	for _, p := range params {
		m.split(m.slot(p), g)
	}
	m.work = work
	if m.run == nil {
		m.run = func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				m.work(&m.units[i])
			}
		}
	}
	tensor.Parallel(len(m.units), 1, m.run)
	clear(m.units) // let go of the tape's memory
}

// zeros serves as the gradient of rows without one.
var zeros [unitFloats]tensor.Float

// spreads holds gradients of units whose rows have few gradients, all zero between uses.
var spreads = sync.Pool{New: func() any { return new([unitFloats]tensor.Float) }}

// spans calls f with stretches of equal-length slices of weights, gradient and moments that
// together cover the unit. f must not change the gradient.
func (u *unit) spans(f func(w, g, a, b []tensor.Float)) {
	w, cols := u.slot.p.Value, u.slot.p.Value.Cols
	if cols == 0 {
		return
	}
	step := 1
	if w.Stride == cols {
		step = u.hi - u.lo
	}
	k := 0
	for lo := u.lo; lo < u.hi; lo += step {
		hi, first := lo+step, k
		for k < len(u.rows) && int(u.rows[k]) < hi {
			k++
		}
		n := step * cols
		var g []tensor.Float
		var spread *[unitFloats]tensor.Float
		switch {
		case u.g.Data != nil:
			g = u.g.Data[lo*u.g.Stride : lo*u.g.Stride+n]
		case first < k && step == 1:
			g = tensor.Row(u.vals, first)
		case first < k: // one call for all rows, with or without a gradient
			spread = spreads.Get().(*[unitFloats]tensor.Float)
			g = spread[:n]
			for r := first; r < k; r++ {
				copy(g[(int(u.rows[r])-lo)*cols:], tensor.Row(u.vals, r))
			}
		case n <= len(zeros):
			g = zeros[:n]
		default:
			g = make([]tensor.Float, n) // one row wider than a unit
		}
		var b []tensor.Float
		if u.slot.b.Data != nil {
			b = u.slot.b.Data[lo*cols : hi*cols]
		}
		f(w.Data[lo*w.Stride:lo*w.Stride+n], g, u.slot.a.Data[lo*cols:hi*cols], b)
		if spread != nil {
			for r := first; r < k; r++ {
				at := (int(u.rows[r]) - lo) * cols
				clear(g[at : at+cols])
			}
			spreads.Put(spread)
		}
	}
}

// Steps implements Optimizer.
func (m *memory) Steps() int { return m.steps }
