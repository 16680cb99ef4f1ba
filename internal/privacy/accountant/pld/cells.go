package pld

import (
	"context"
	"math"
	"sync"
)

// unit is half the distance between 1 and the next float64.
const unit = 0x1p-53

// rho bounds the relative error of the smaller tail of a distribution function: the error of erfc,
// and at z = 10 the z² units that rounding z adds.
const rho = 128 * unit

// cells holds a pair on a mesh. Cell i has the losses between nodes first+i and first+i+1; node k is the loss offset +
// k*h. first is odd and the number of cells even, so that pairs of cells are centred on even nodes.
type cells struct {
	offset, h float64
	first     int
	p, q      []float64
	pTail     []float64 // of each cell: the smaller tail under P that contains it
	qTail     []float64
	pins      []pin
	rho       float64   // of this pair: 0 without a distribution function
	ratio     []float64 // exp of the loss at the lower end of each cell; nil if not yet computed
	// Outside of the cells: P and Q mass above and below all cells; the most mass that was cut off;
	// and P mass at infinity, Q mass at minus infinity.
	pTop, qTop, pBottom, qBottom float64
	cutP, cutQ, infP, infQ       float64
}

// pin is an atom on an even node.
type pin struct {
	node int
	p, q float64
}

// loss returns the loss at a node.
func (c *cells) loss(node int) float64 { return c.offset + float64(node)*c.h }

// ladder is the number of neighbouring nodes that share one exponential.
const ladder = 64

// powers returns exp(a k) for k below ladder, or only the 1 if they grow too much.
func powers(a float64) []float64 {
	if !(math.Abs(a)*ladder < 1) {
		return []float64{1}
	}
	out := make([]float64, ladder)
	for k := range out {
		out[k] = math.Exp(a * float64(k))
	}
	return out
}

// ratios returns the likelihood ratios exp(loss) at the lower ends of all cells, each wrong by at most 4 + 2
// |loss| units: one exponential of a loss, and one of a short way to it.
func (c *cells) ratios() []float64 {
	out, steps := make([]float64, len(c.p)), powers(c.h)
	for from := 0; from < len(out); from += len(steps) {
		first, part := math.Exp(c.loss(c.first+from)), out[from:]
		for k := range part[:min(len(part), len(steps))] {
			part[k] = first * steps[k]
		}
	}
	return out
}

// pinned reports whether the atoms of a pair lie on even nodes of a mesh that starts at one of
// them.
func (x pair) pinned(h float64) bool {
	if len(x.atoms) == 1 {
		return true
	}
	if x.spacing == 0 {
		return false
	}
	m := x.spacing / (2 * h)
	return m > 0.5 && math.Abs(m-math.Round(m)) < 1e-9*m
}

// discretise returns the pair's losses between lo and hi in cells of width h. If ctx ends meanwhile, it leaves cells
// empty, and the caller must check ctx.
func (x pair) discretise(ctx context.Context, h, lo, hi float64) *cells {
	c := &cells{h: h, cutP: x.cutP, cutQ: x.cutQ, infP: x.infP, infQ: x.infQ, rho: x.rho}
	pinned := x.pinned(h)
	switch {
	case len(x.atoms) > 0:
		c.offset = x.pin
	case !math.IsInf(x.min, 0): // the first pair of cells begins where the losses do
		c.offset = x.min + h
	}
	for _, a := range x.atoms {
		if pinned {
			c.pins = append(c.pins, pin{2 * int(math.Round((a.loss-c.offset)/(2*h))), a.p, a.q})
		}
	}
	if x.tails == nil && pinned {
		return c
	}
	c.first = int(math.Floor((lo - c.offset) / h))
	if c.first&1 == 0 {
		c.first--
	}
	n := int(math.Ceil((hi-c.offset)/h)) - c.first + 1
	n += n & 1
	c.p, c.q = make([]float64, n), make([]float64, n)
	if x.tails != nil {
		c.rho = max(c.rho, rho)
		c.fill(ctx, x)
	}
	if !pinned {
		for _, a := range x.atoms {
			i := min(max(int(math.Floor((a.loss-c.offset)/h))-c.first, 0), n-1)
			c.p[i] += a.p
			c.q[i] += a.q
		}
	}
	c.pTail = smaller(c.p, c.pBottom, c.pTop)
	c.qTail = smaller(c.q, c.qBottom, c.qTop)
	return c
}

// smaller returns for each cell the mass on its lighter side, with the cell: the rounding of a
// tail's mass is relative to that.
func smaller(mass []float64, bottom, top float64) []float64 {
	out := make([]float64, len(mass))
	for i, v := range mass {
		bottom += v
		out[i] = bottom
	}
	for i := len(mass) - 1; i >= 0; i-- {
		top += mass[i]
		out[i] = min(out[i], top)
	}
	return out
}

// fill computes the masses of the continuous losses from the tails. It evaluates the tails once for each edge of a
// cell, and stops when ctx ends.
func (c *cells) fill(ctx context.Context, x pair) {
	n := len(c.p)
	fillSpan := func(from, to int) {
		left := x.tails(min(max(c.loss(c.first+from), x.lo), x.hi))
		for i := from; i < to; i++ {
			if i&(apart-1) == 0 && ctx.Err() != nil {
				return
			}
			right := x.tails(min(max(c.loss(c.first+i+1), x.lo), x.hi))
			c.p[i] = between(left.pBelow, left.pAbove, right.pBelow, right.pAbove)
			c.q[i] = between(left.qBelow, left.qAbove, right.qBelow, right.qAbove)
			if i == 0 {
				c.pBottom, c.qBottom = left.pBelow, left.qBelow
			}
			if i == n-1 {
				c.pTop, c.qTop = right.pAbove, right.qAbove
			}
			left = right
		}
	}
	halves(n, fillSpan)
}

// apart is the number of cells filled between two checks of the context, a power of two.
const apart = 1 << 10

// halves calls do for both halves of n items concurrently, or once for all if they are few.
func halves(n int, do func(from, to int)) {
	if n < 4096 {
		do(0, n)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { do(0, n/2) })
	do(n/2, n)
	wg.Wait()
}

// between returns the mass between two edges, from the smaller tails.
func between(below0, above0, below1, above1 float64) float64 {
	if below1 < above0 {
		return max(0, below1-below0)
	}
	return max(0, above0-above1)
}

// swap returns the cells with P and Q exchanged, which changes the sign of the loss.
func (c *cells) swap() *cells {
	n := len(c.p)
	s := &cells{
		offset: -c.offset, h: c.h, first: -(c.first + n), p: make([]float64, n), q: make([]float64, n), rho: c.rho,
		pTail: make([]float64, n), qTail: make([]float64, n),
		pTop: c.qBottom, qTop: c.pBottom, pBottom: c.qTop, qBottom: c.pTop,
		cutP: c.cutQ, cutQ: c.cutP, infP: c.infQ, infQ: c.infP,
	}
	for i := range n {
		s.p[i], s.q[i] = c.q[n-1-i], c.p[n-1-i]
		s.pTail[i], s.qTail[i] = c.qTail[n-1-i], c.pTail[n-1-i]
	}
	for _, a := range c.pins {
		s.pins = append(s.pins, pin{-a.node, a.q, a.p})
	}
	return s
}
