package pld

import (
	"math"
	"sort"
	"testing"
)

// The points that a window is chosen by are in order, hold about all mass, and what is
// beyond them is at the ends.
func TestPoints(t *testing.T) {
	for name, x := range pairs(t) {
		lo, hi := x.cut(1e-18, false)
		points := x.points(lo, hi)
		if !sort.SliceIsSorted(points, func(i, j int) bool { return points[i].loss < points[j].loss }) {
			t.Errorf("%s: not in order", name)
		}
		p, q := 0.0, 0.0
		for _, a := range points {
			p, q = p+a.p, q+a.q
		}
		if math.Abs(p-1) > 2e-3 || math.Abs(q-1) > 2e-3 {
			t.Errorf("%s: masses %v and %v", name, p, q)
		}
		if n := len(points); points[0].loss > lo+1e-12 || points[n-1].loss < hi-1e-12 {
			t.Errorf("%s: points from %v to %v, cells from %v to %v", name, points[0].loss, points[n-1].loss, lo, hi)
		}
	}
}

// Many points are grouped without a change of mass or mean, and with little of
// the rest.
func TestGroupedPoints(t *testing.T) {
	x, err := discreteGaussian(2000, 10)
	if err != nil {
		t.Fatal(err)
	}
	l := newLaw(x.atoms, 1)
	if len(l.at) > mostPoints || len(l.at) < mostPoints/2 {
		t.Errorf("%d points of %d", len(l.at), len(x.atoms))
	}
	full := law{count: 1}
	for _, a := range x.atoms {
		if a.p > leastPoint {
			full.put(a.p, a.loss)
		}
	}
	for _, c := range []float64{0, 1, 100} {
		k, mean, variance := l.cgf(c)
		k0, mean0, variance0 := full.cgf(c)
		if math.Abs(k-k0) > 1e-2*math.Abs(k0)+1e-12 || math.Abs(mean-mean0) > 1e-2*math.Abs(mean0)+1e-12 || math.Abs(variance/variance0-1) > 1e-2 {
			t.Errorf("tilt %g: %v %v %v, want %v %v %v", c, k, mean, variance, k0, mean0, variance0)
		}
	}
}

// The exponent of a normal law's Chernoff bound (a²/2 + tol)/a is sqrt(2 tol),
// wherever the search starts.
func TestChernoff(t *testing.T) {
	for _, tol := range []float64{5, 18, 100} {
		for _, start := range []float64{0.3, 0.5, 1, 1.3, 20, 900} {
			a := math.Sqrt(2 * tol)
			best, at := chernoff(a*start, func(a float64) float64 { return (a*a/2 + tol) / a })
			if best > a*1.003 || best < a*(1-1e-12) || math.Abs(at/a-1) > 0.1 {
				t.Errorf("tol %g, start %g: %v at %v, want %v", tol, start, best, at, a)
			}
		}
	}
}

// What may have wrapped around is taken off a lower bound: from below by the
// smaller of its two bounds, from above by its own.
func TestWrapAround(t *testing.T) {
	good := func() *tilted {
		return &tilted{lo: 0, h: 0.01, mass: make([]float64, 500), tilt: 2, logUp: -1e4, logDown: -1e4}
	}
	clean := good().lower(span{tilt: 2, up: 1, down: 1})
	if clean.slack != 0 || clean.extra > 0 || clean.extra < -1e-4 {
		t.Errorf("slack %v, extra %v of nothing", clean.slack, clean.extra)
	}
	x := good()
	x.logUp = 5 // exp(logUp - up*top) is one mass
	peak := math.Exp(2*math.Log(2.0/3)) / 3
	if b := x.lower(span{tilt: 2, up: 1, down: 1}); math.Abs(b.slack+peak) > 1e-12 {
		t.Errorf("from above: slack %v, want %v", b.slack, -peak)
	}
	x = good()
	x.logDown = -3 // far above what the tilt leaves of it, 4.5e-5 of delta
	moved := math.Exp(-10) / -math.Expm1(-10)
	if b := x.lower(span{tilt: 2, up: 1, down: 1}); math.Abs(b.extra+moved) > 1e-15 || b.slack != 0 {
		t.Errorf("from below: slack %v, extra %v, want %v of delta", b.slack, b.extra, -moved)
	}
	x.logDown = -30
	if b := x.lower(span{tilt: 2, up: 1, down: 1}); math.Abs(b.slack+peak*math.Exp(-30)) > 1e-20 || b.extra != 0 {
		t.Errorf("from below: slack %v, extra %v, want %v masses", b.slack, b.extra, peak*math.Exp(-30))
	}
	x.logUp = 800 // infinite: nothing is known
	if b := x.lower(span{tilt: 2, up: 0.01, down: 1}); !math.IsInf(b.slack, -1) {
		t.Errorf("slack %v", b.slack)
	}
}
