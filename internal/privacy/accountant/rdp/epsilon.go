package rdp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Options selects how a curve is turned into a guarantee. The zero value gives the best result: the default grid, a
// search between its orders and beyond its ends, the best conversion.
type Options struct {
	Conversion Conversion // empty: Best
	Orders     []float64  // above 1 and ascending; empty: Default
	// Fixed restricts the search to the listed orders, as other accountants do: it neither searches between them or
	// beyond their ends, nor takes the largest log-ratio.
	Fixed bool
}

// Point holds a guarantee and the order that gave it.
type Point struct {
	Epsilon float64 // rounded up
	Delta   float64 // rounded up
	Order   float64 // +Inf if the largest log-ratio decides
	// AtEnd says that the best order is the first or last that was allowed. Other orders might give
	// a better result.
	AtEnd bool
}

// ErrNoOrder is returned for a curve that is infinite at every order and so gives no guarantee.
var ErrNoOrder = errors.New("the rényi divergence is infinite at every order")

// Epsilon returns the smallest epsilon that a curve guarantees at delta, rounded up by a relative 1e-12, which is more
// than the error of the quadratures. delta is at least 0 and below 1. At 0 only a finite largest log-ratio gives a
// guarantee. It returns the error of ctx when that ends.
func Epsilon(ctx context.Context, c Curve, delta float64, o Options) (Point, error) {
	if !(delta >= 0 && delta < 1) {
		return Point{}, fmt.Errorf("delta is %v, want at least 0 and below 1", delta)
	}
	s, err := newSearch(ctx, c, o, func(r, alpha float64) float64 {
		if delta == 0 {
			return math.Inf(1)
		}
		return epsilonAt(o.Conversion, r, alpha, delta)
	})
	if err != nil {
		return Point{}, err
	}
	p := s.grid()
	if err := ctx.Err(); err != nil {
		return Point{}, err
	}
	if pure := c(math.Inf(1)); !o.Fixed && pure < p.value {
		p = found{math.Inf(1), pure, false}
	}
	if math.IsInf(p.value, 1) {
		return Point{}, ErrNoOrder
	}
	return Point{roundUp(p.value), delta, p.order, p.atEnd}, nil
}

// roundUp rounds an epsilon up and replaces negative ones by 0.
func roundUp(epsilon float64) float64 {
	if epsilon <= 0 {
		return 0
	}
	return epsilon * (1 + 1e-12)
}

// Delta returns the smallest delta that a curve guarantees at epsilon >= 0, rounded up. It is at
// most 1, which guarantees nothing. It returns the error of ctx when that ends.
func Delta(ctx context.Context, c Curve, epsilon float64, o Options) (Point, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return Point{}, fmt.Errorf("epsilon is %v, want at least 0 and finite", epsilon)
	}
	s, err := newSearch(ctx, c, o, func(r, alpha float64) float64 { return logDelta(o.Conversion, r, alpha, epsilon) })
	if err != nil {
		return Point{}, err
	}
	p := s.grid()
	if err := ctx.Err(); err != nil {
		return Point{}, err
	}
	if pure := c(math.Inf(1)); !o.Fixed && pure <= epsilon {
		return Point{epsilon, 0, math.Inf(1), false}, nil
	}
	if math.IsInf(p.value, 1) {
		return Point{}, ErrNoOrder
	}
	if math.IsInf(p.value, -1) { // smaller than any float, but not 0
		return Point{epsilon, math.SmallestNonzeroFloat64, p.order, p.atEnd}, nil
	}
	// (alpha-1) rdp is off by 1e-13 of itself.
	slack := 1e-12 * (1 + math.Abs(p.value))
	if r := c(p.order); !math.IsInf(p.order, 1) && !math.IsInf(r, 1) {
		slack += 1e-12 * (p.order - 1) * (r + epsilon)
	}
	return Point{epsilon, math.Max(math.SmallestNonzeroFloat64, math.Min(1, math.Exp(p.value+slack))), p.order,
		p.atEnd}, nil
}

// search minimises a converted curve over the order. If the divergence has a cumulant that is convex in the order, both
// conversions have one minimum, and a search from the best order of the grid finds it.
type search struct {
	ctx    context.Context
	curve  Curve
	value  func(rdp, alpha float64) float64
	orders []float64
	fixed  bool
}

// found holds a minimum.
type found struct {
	order, value float64
	atEnd        bool
}

func newSearch(ctx context.Context, c Curve, o Options, value func(rdp, alpha float64) float64) (*search, error) {
	if c == nil {
		return nil, errors.New("no curve")
	}
	if err := o.Conversion.Validate(); err != nil {
		return nil, err
	}
	orders := o.Orders
	if len(orders) == 0 {
		orders = Default()
	} else if !(orders[0] > 1) || math.IsInf(orders[len(orders)-1], 1) || !slices.IsSorted(orders) {
		return nil, errors.New("orders must be above 1, finite and growing")
	}
	return &search{ctx, c, value, orders, o.Fixed}, nil
}

// at returns the value at one order; +Inf without evaluating the curve once the context has ended.
func (s *search) at(alpha float64) float64 {
	if s.ctx.Err() != nil {
		return math.Inf(1)
	}
	r := s.curve(alpha)
	if math.IsInf(r, 1) {
		return r
	}
	v := s.value(r, alpha)
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

// grid evaluates every order of the grid, then returns the minimum around the best.
func (s *search) grid() found {
	best, value := 0, math.Inf(1)
	for i, a := range s.orders {
		if v := s.at(a); v < value {
			best, value = i, v
		}
	}
	return s.around(best, value)
}

// walk descends from place from in the grid. If there is only one minimum it finds the same as grid.
func (s *search) walk(from int) (int, found) {
	value := s.at(s.orders[from])
	for _, step := range []int{1, -1} {
		moved := false
		for i := from + step; i >= 0 && i < len(s.orders); i += step {
			v := s.at(s.orders[i])
			if !(v < value) && !(math.IsInf(v, 1) && math.IsInf(value, 1)) {
				break
			}
			from, value, moved = i, v, true
		}
		if moved {
			break
		}
	}
	// The bound by the total variation is best at the lowest order, away from the
	// minimum of the other bounds.
	if low := s.at(s.orders[0]); low < value {
		return from, s.around(0, low)
	}
	return from, s.around(from, value)
}

// The search beyond the grid stays between these orders.
const (
	lowestOrder  = 1 + 1e-9
	highestOrder = 1e9
)

// around returns the minimum around the best order of the grid.
func (s *search) around(i int, value float64) found {
	last := len(s.orders) - 1
	f := found{s.orders[i], value, i == 0 || i == last}
	if s.fixed || math.IsInf(value, 1) {
		return f
	}
	f.atEnd = false
	// The Kullback-Leibler divergence gives the best bound of the total variation.
	if v := s.at(1); v < f.value {
		f.order, f.value = 1, v
		return f
	}
	lo, hi := math.Log(s.orders[max(i-1, 0)]-1), math.Log(s.orders[min(i+1, last)]-1)
	at := func(x float64) float64 { return s.at(1 + math.Exp(x)) }
	// Go beyond an end, in steps that double alpha-1.
	for _, end := range []struct {
		is    bool
		step  float64
		bound *float64
		other *float64
		limit float64
	}{{i == 0, -math.Ln2, &lo, &hi, math.Log(lowestOrder - 1)},
		{i == last, math.Ln2, &hi, &lo, math.Log(highestOrder)}} {
		if !end.is {
			continue
		}
		x := math.Log(f.order - 1)
		for {
			next := x + end.step
			if (next-end.limit)*end.step > 0 {
				f.atEnd = true
				return f
			}
			*end.bound = next
			v := at(next)
			if !(v < f.value) {
				break
			}
			*end.other = x
			x, f.order, f.value = next, 1+math.Exp(next), v
		}
	}
	return polish(f, lo, hi, at)
}

// polish narrows the minimum between lo and hi, the logarithms of alpha-1, by golden-section search. The value is flat
// there: a change of 1e-8 in the order changes it by 1e-15.
func polish(f found, lo, hi float64, at func(x float64) float64) found {
	const golden = 0.6180339887498949
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	va, vb := at(a), at(b)
	for hi-lo > 1e-7 {
		if va <= vb {
			hi, b, vb = b, a, va
			a = hi - golden*(hi-lo)
			va = at(a)
		} else {
			lo, a, va = a, b, vb
			b = lo + golden*(hi-lo)
			vb = at(b)
		}
	}
	if x, v := a, math.Min(va, vb); v < f.value {
		if vb < va {
			x = b
		}
		f.order, f.value = 1+math.Exp(x), v
	}
	return f
}
