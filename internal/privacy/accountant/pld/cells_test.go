package pld

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// meshOf is a mesh of about n cells that fits the atoms.
func meshOf(x pair, lo, hi float64, n int) float64 {
	h := (hi - lo) / float64(n)
	if x.spacing > 0 {
		h = x.spacing / (2 * math.Ceil(x.spacing/(2*h)))
	}
	return h
}

// Every cell has what the tails say is between its ends, and the atoms in it; what
// is outside is outside.
func TestCellMasses(t *testing.T) {
	for name, x := range pairs(t) {
		lo, hi := x.cut(1e-12, false)
		c := x.discretise(context.Background(), meshOf(x, lo, hi, 97), lo, hi)
		if x.tails == nil && x.pinned(c.h) {
			if len(c.p) != 0 || len(c.pins) != len(x.atoms) {
				t.Errorf("%s: %d cells and %d pins for %d atoms", name, len(c.p), len(c.pins), len(x.atoms))
			}
			continue
		}
		if c.first&1 == 0 || len(c.p)%2 != 0 {
			t.Errorf("%s: cells from %d on, %d of them", name, c.first, len(c.p))
		}
		if c.loss(c.first) > lo || c.loss(c.first+len(c.p)) < hi {
			t.Errorf("%s: cells from %g to %g, losses from %g to %g", name, c.loss(c.first), c.loss(c.first+len(c.p)), lo, hi)
		}
		p, q := c.pTop+c.pBottom, c.qTop+c.qBottom
		for i := range c.p {
			l, r := c.loss(c.first+i), c.loss(c.first+i+1)
			var wantP, wantQ float64
			if x.tails != nil {
				a, b := x.tails(min(max(l, x.lo), x.hi)), x.tails(min(max(r, x.lo), x.hi))
				wantP, wantQ = a.pAbove-b.pAbove, a.qAbove-b.qAbove
			}
			if !x.pinned(c.h) {
				for _, a := range x.atoms {
					if a.loss >= l && a.loss < r || i == len(c.p)-1 && a.loss >= r {
						wantP, wantQ = wantP+a.p, wantQ+a.q
					}
				}
			}
			if math.Abs(c.p[i]-wantP) > 1e-14 || math.Abs(c.q[i]-wantQ) > 1e-14 {
				t.Errorf("%s, cell %d from %g: %g and %g, want %g and %g", name, i, l, c.p[i], c.q[i], wantP, wantQ)
			}
			p, q = p+c.p[i], q+c.q[i]
		}
		for _, a := range c.pins {
			p, q = p+a.p, q+a.q
		}
		if math.Abs(p+c.infP-1) > 1e-13 || math.Abs(q+c.infQ-1) > 1e-13 {
			t.Errorf("%s: all masses are %g and %g", name, p, q)
		}
	}
}

// Atoms are pinned to even nodes of any mesh that divides their distance, and the
// places of the nodes are the atoms'.
func TestPins(t *testing.T) {
	for _, x := range []pair{
		mustPair(laplace(0.7)), mustPair(laplace(1)).sampled(0.02), mustPair(response(0.3, 2)), mustPair(response(1, 4)),
		mustPair(discreteGaussian(3, 2)), mustPair(discreteLaplace(4, 3)),
	} {
		for _, m := range []float64{1, 2, 3, 10, 1000} {
			h := x.spacing / (2 * m)
			if !x.pinned(h) {
				t.Fatalf("spacing %g, mesh %g: not pinned", x.spacing, h)
			}
			lo, hi := x.cut(1e-12, false)
			c := x.discretise(context.Background(), h, lo, hi)
			for i, a := range c.pins {
				if a.node&1 != 0 || math.Abs(c.loss(a.node)-x.atoms[i].loss) > 1e-12*(1+math.Abs(x.atoms[i].loss)) || a.p != x.atoms[i].p || a.q != x.atoms[i].q {
					t.Errorf("spacing %g, mesh %g: pin %+v at %g, atom %+v", x.spacing, h, a, c.loss(a.node), x.atoms[i])
				}
			}
		}
		for _, m := range []float64{1.1, 2.5, 10.3} {
			if h := x.spacing / (2 * m); x.pinned(h) {
				t.Errorf("spacing %g, mesh %g: pinned", x.spacing, h)
			}
		}
	}
	if mustPair(gaussian(1)).pinned(0.1) {
		t.Error("no atoms, but pinned")
	}
	if x := mustPair(discreteGaussian(3, 2)).sampled(0.1); x.pinned(0.1) {
		t.Error("sampled atoms have no common distance, but are pinned")
	}
}

// Exchanging P and Q of cells is exchanging those of the pair, and twice is
// nothing.
func TestSwapOfCells(t *testing.T) {
	for name, x := range pairs(t) {
		lo, hi := x.cut(1e-12, false)
		c := x.discretise(context.Background(), meshOf(x, lo, hi, 200), lo, hi)
		s := c.swap()
		back := s.swap()
		if back.first != c.first || back.offset != c.offset || !slices.Equal(back.p, c.p) || !slices.Equal(back.q, c.q) || !slices.Equal(back.pins, c.pins) ||
			!slices.Equal(back.pTail, c.pTail) || !slices.Equal(back.qTail, c.qTail) || back.pTop != c.pTop || back.qBottom != c.qBottom || back.infP != c.infP || back.cutQ != c.cutQ {
			t.Errorf("%s: exchanged twice, cells are others", name)
		}
		if len(s.p) > 0 && s.first&1 == 0 {
			t.Errorf("%s: exchanged cells begin at the even node %d", name, s.first)
		}
		for i := range s.p { // delta of the exchanged cells at -l is Q's side at l
			j := len(c.p) - 1 - i
			if l, m := s.loss(s.first+i), c.loss(c.first+j+1); math.Abs(l+m) > 1e-12*(1+math.Abs(l)) || s.p[i] != c.q[j] || s.q[i] != c.p[j] {
				t.Fatalf("%s: cell %d at %g is cell %d up to %g", name, i, l, j, m)
			}
		}
	}
}

// smaller is, of each cell, the lighter of the two sides that it belongs to.
func TestSmaller(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mass := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 30).Draw(t, "masses")
		bottom, top := rapid.Float64Range(0, 1).Draw(t, "bottom"), rapid.Float64Range(0, 1).Draw(t, "top")
		got := smaller(mass, bottom, top)
		for i := range mass {
			low, high := bottom, top
			for _, v := range mass[:i+1] {
				low += v
			}
			for _, v := range mass[i:] {
				high += v
			}
			if want := min(low, high); math.Abs(got[i]-want) > 1e-12*want {
				t.Fatalf("cell %d: %v, want %v", i, got[i], want)
			}
		}
	})
}

// between subtracts on the side with the smaller tail: masses far out keep their
// digits on both.
func TestBetween(t *testing.T) {
	at := func(z float64) (float64, float64) { return normalTails(z, 0, 1) }
	for _, z := range []float64{-12, -9, -3, 0, 3, 9, 12} {
		b0, a0 := at(z)
		b1, a1 := at(z + 0.5)
		want := sub(bigUpper(bigOf(z)), bigUpper(bigOf(z+0.5)))
		if got := between(b0, a0, b1, a1); !near(got, want, 4*rho) {
			t.Errorf("from %g on: %g, want %.15g", z, got, want)
		}
	}
	if got := between(0.5, 0.5, 0.5, 0.5); got != 0 {
		t.Errorf("nothing is %g", got)
	}
	if got := between(0.9, 0.1, 0.9-1e-17, 0.1+1e-17); got < 0 {
		t.Errorf("rounding makes %g", got)
	}
}

// Many cells are filled by two goroutines with what one gives.
func TestFillInHalves(t *testing.T) {
	x := mustPair(gaussian(1)).sampled(0.1)
	lo, hi := x.cut(1e-15, false)
	h := (hi - lo) / 9000
	c := x.discretise(context.Background(), h, lo, hi)
	if len(c.p) < 4096 {
		t.Fatalf("%d cells are filled by one", len(c.p))
	}
	for i := range c.p {
		left, right := x.tails(min(max(c.loss(c.first+i), x.lo), x.hi)), x.tails(min(max(c.loss(c.first+i+1), x.lo), x.hi))
		if p := between(left.pBelow, left.pAbove, right.pBelow, right.pAbove); c.p[i] != p {
			t.Fatalf("cell %d: %g, want %g", i, c.p[i], p)
		}
	}
	again := x.discretise(context.Background(), h, lo, hi)
	if !slices.Equal(again.p, c.p) || !slices.Equal(again.q, c.q) {
		t.Error("other cells at another call")
	}
}

// Nodes of a frame: every cell's ends and every pin have their own place, in steps
// of one and of two nodes.
func TestFrame(t *testing.T) {
	c := &cells{offset: 0.25, h: 0.5, first: -7, p: make([]float64, 10), q: make([]float64, 10), pins: []pin{{-12, 0.1, 0.2}, {8, 0.3, 0.1}}}
	for _, every := range []int{1, 2} {
		m, at := c.frame(every)
		for _, node := range []int{-12, -8, -6, 0, 2, 8} {
			if i := at(node); i < 0 || i >= len(m.w) || math.Abs(m.loss(i)-c.loss(node)) > 1e-12 {
				t.Errorf("every %d: node %d at %g is place %d of %d at %g", every, node, c.loss(node), i, len(m.w), m.loss(at(node)))
			}
		}
		if m.h != c.h*float64(every) {
			t.Errorf("every %d: mesh %g", every, m.h)
		}
	}
	if _, at := c.frame(2); at(-7) != at(-8) || at(-5) != at(-6) {
		t.Error("odd nodes are not rounded down")
	}
}

// A pair whose losses begin somewhere has its first pair of cells there: the
// least loss log(1-q) of a sample is a node, so that nothing is rounded across it.
func TestFirstCellOfSamples(t *testing.T) {
	for _, q := range []float64{1e-4, 0.02, 0.3} {
		x := mustPair(gaussian(1)).sampled(q)
		floor := math.Log1p(-q)
		if math.Abs(x.min-floor) > 1e-15 {
			t.Errorf("rate %g: the least loss is %g, want %g", q, x.min, floor)
		}
		lo, hi := x.cut(1e-15, false)
		for _, n := range []float64{50, 333, 5000} {
			c := x.discretise(context.Background(), (hi-lo)/n, lo, hi)
			k := (floor - c.offset) / c.h
			if off := math.Abs(k - math.Round(k)); off > 1e-6 || int(math.Round(k))&1 == 0 {
				t.Errorf("rate %g, %g cells: losses begin at node %g", q, n, k)
			}
		}
	}
}
