package exact

import (
	"errors"
	"math"
	"math/cmplx"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/numeric"
)

// Chernoff's bound is above delta at every point of the axis, and at its least not
// far above: it is what images, guesses and the cross-check rest on.
func TestBoundIsAboveDelta(t *testing.T) {
	for _, mu := range []float64{0.1, 0.6, 2, 9} {
		g := alone(mu)
		for _, share := range []float64{0.1, 1, 2, 5} {
			eps := mu*mu/2 + share*mu
			exact := numeric.GaussianLogDelta(mu, eps)
			least := math.Inf(1)
			for x := -6.; x < 8; x += 0.05 {
				b := g.bound(math.Exp(x), eps)
				if b < exact {
					t.Errorf("mu %g eps %g c %g: bound %g below %g", mu, eps, math.Exp(x), b, exact)
				}
				least = math.Min(least, b)
			}
			if least > exact+3.5 {
				t.Errorf("mu %g eps %g: least bound %g, delta %g", mu, eps, least, exact)
			}
		}
	}
}

// Without the factor for (1-exp(-x))+ the bound is the classic one, which is looser
// by that factor: from nothing at c 0 to 1/(e c) far out.
func TestChernoffFactor(t *testing.T) {
	if got := chernoff(1e-9); math.Abs(got) > 1e-6 {
		t.Errorf("at nought: %g", got)
	}
	for _, c := range []float64{1e3, 1e6, 1e9} {
		if got := chernoff(c) + 1 + math.Log(c); math.Abs(got) > 1/c {
			t.Errorf("c %g: off by %g", c, got)
		}
	}
	last := 0.0
	for x := -20.; x < 20; x += 0.1 {
		c := math.Exp(x)
		if v := chernoff(c); v > last {
			t.Errorf("it rises at %g", c)
		} else {
			last = v
		}
		// The maximum is at exp(-x) = c/(1+c).
		at := math.Log1p(1 / c)
		if want := math.Log(-math.Expm1(-at)) - c*at; math.Abs(chernoff(c)-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("c %g: %g, at the maximum %g", c, chernoff(c), want)
		}
	}
}

// At the saddle the exponent stands still: K' = eps + 1/c + 1/(1+c), to the few per
// cent that the search is good for.
func TestSaddleStandsStill(t *testing.T) {
	for _, c := range duals {
		p := &plan{mu2: c.mu2, terms: c.parts}
		for _, d := range []Direction{Remove, Add} {
			for _, eps := range []float64{0, 0.5, 1.5} {
				g := p.integrate(d)
				at := g.saddle(eps, 1)
				f := func(c float64) float64 { return g.real(c) - c*eps - math.Log(c) - math.Log1p(c) }
				for _, by := range []float64{0.8, 1.25} {
					if f(at*by) < f(at) {
						t.Errorf("%s %s at %g: %g at the saddle %g, %g beside it", c.name, d, eps, f(at), at, f(at*by))
					}
				}
				if near := g.saddle(eps, at*40); math.Abs(math.Log(near/at)) > 0.2 {
					t.Errorf("%s %s at %g: %g from 1, %g from far right", c.name, d, eps, at, near)
				}
			}
		}
	}
}

// minimise finds the minimum of whatever falls and then rises, wherever it starts
// and however steep the sides.
func TestMinimiseAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := math.Exp(rapid.Float64Range(-20, 20).Draw(t, "log minimum"))
		left, right := rapid.Float64Range(0.2, 8).Draw(t, "left"), rapid.Float64Range(0.2, 8).Draw(t, "right")
		start := math.Exp(rapid.Float64Range(-10, 10).Draw(t, "log start"))
		end := math.Inf(1)
		if rapid.Bool().Draw(t, "ends") {
			end = at * math.Exp(rapid.Float64Range(0.3, 5).Draw(t, "log end"))
		}
		asked := 0
		got := minimise(func(x float64) float64 {
			asked++
			if x > end {
				return math.NaN()
			}
			u := math.Log(x / at)
			if u < 0 {
				return math.Pow(-u, 1+left/8)
			}
			return math.Pow(u, 1+right/8)
		}, start)
		if math.Abs(math.Log(got/at)) > 0.1 {
			t.Fatalf("%g, want %g", got, at)
		}
		if asked > 120 {
			t.Fatalf("%d evaluations", asked)
		}
	})
}

// The step that is asked for keeps the images below what is asked for, a longer one
// has more of them, and their bound grows with it.
func TestStepsKeepImagesDown(t *testing.T) {
	for _, c := range duals {
		p := &plan{mu2: c.mu2, terms: c.parts}
		for _, d := range []Direction{Remove, Add} {
			for _, eps := range []float64{0.1, 1} {
				g := p.integrate(d)
				at := g.saddle(eps, 1)
				log := g.bound(at, eps) - 2
				for _, loud := range []float64{10, 20, 32, 45} {
					step := g.stepFor(at, eps, log, loud)
					if got := g.images(at, step, eps, log); got > 2.2*math.Exp(-loud) {
						t.Errorf("%s %s at %g: images %g at a step for exp(-%g)", c.name, d, eps, got, loud)
					}
					last := 0.0
					for _, by := range []float64{0.5, 1, 2, 4} {
						got := g.images(at, step*by, eps, log)
						if !(got >= last) {
							t.Errorf("%s %s at %g: images %g, then %g at a longer step", c.name, d, eps, last, got)
						}
						last = got
					}
				}
			}
		}
	}
}

// Moving the line off the saddle only ever buys a longer step, at a price in digits
// that is bounded.
func TestPlaceIsNoWorse(t *testing.T) {
	moved := 0
	cases := append(duals[:len(duals):len(duals)], struct {
		name  string
		mu2   float64
		parts []term
	}{"rare", 0, []term{{sampledGaussian{mu: 1 / 0.7, rate: 1e-5}, 1e6}}})
	for _, c := range cases {
		p := &plan{mu2: c.mu2, terms: c.parts}
		for _, d := range []Direction{Remove, Add} {
			g := p.integrate(d)
			const eps = 0.12
			at := g.saddle(eps, 1)
			log := g.bound(at, eps) - 3
			before := g.stepFor(at, eps, log, quiet)
			c2, step := g.place(at, eps, log, quiet)
			if c2 > at || c2 < at/2*(1-1e-12) || step < before {
				t.Errorf("%s %s: from %g, step %g, to %g, step %g", c.name, d, at, before, c2, step)
			}
			if g.bound(c2, eps) > g.bound(at, eps)+5 {
				t.Errorf("%s %s: the bound rises from %g to %g", c.name, d, g.bound(at, eps), g.bound(c2, eps))
			}
			if c2 < at {
				moved++
			}
		}
	}
	if moved == 0 {
		t.Error("no line was moved")
	}
}

// A lattice is found where every spacing is a multiple of the smallest, and only
// then; most and offset add up with the counts.
func TestIntegrateFindsLattices(t *testing.T) {
	for name, c := range map[string]struct {
		mu2             float64
		parts           []term
		h, offset, most float64
	}{
		"one":             {0, []term{{response{eps: 0.5, categories: 2}, 3}}, 1, 1.5, 1.5},
		"categories":      {0, []term{{response{eps: 0.5, categories: 5}, 3}}, 0.5, 0, 1.5},
		"multiple":        {0, []term{{response{eps: 0.5, categories: 2}, 2}, {response{eps: 1, categories: 2}, 3}}, 1, 4, 4},
		"multiple, late":  {0, []term{{response{eps: 1, categories: 2}, 3}, {response{eps: 0.5, categories: 2}, 2}}, 1, 4, 4},
		"no multiple":     {0, []term{{response{eps: 0.5, categories: 2}, 2}, {response{eps: 0.7, categories: 2}, 3}}, 0, 0, 3.1},
		"gaussian beside": {0.1, []term{{response{eps: 0.5, categories: 2}, 2}}, 0, 0, math.Inf(1)},
		"density beside":  {0, []term{{response{eps: 0.5, categories: 2}, 2}, {laplace{shift: 1, rate: 1}, 1}}, 0, 0, 2},
		"density first":   {0, []term{{laplace{shift: 1, rate: 1}, 1}, {response{eps: 0.5, categories: 2}, 2}}, 0, 0, 2},
		"grid":            {0, []term{{discreteLaplace{shift: 3, scale: 2, rate: 1}, 4}}, 1, 6, 6},
		"sampled grid":    {0, []term{{discreteLaplace{shift: 3, scale: 2, rate: 0.5}, 4}}, 0, 0, 4 * math.Log1p(0.5*math.Expm1(1.5))},
	} {
		g := (&plan{mu2: c.mu2, terms: c.parts}).integrate(Remove)
		if math.Abs(g.h-c.h) > 1e-15 || math.Abs(g.offset-c.offset) > 1e-14 {
			t.Errorf("%s: spacing %g, offset %g, want %g, %g", name, g.h, g.offset, c.h, c.offset)
		}
		if g.most != c.most && !(math.Abs(g.most-c.most) < 1e-12) {
			t.Errorf("%s: most %g, want %g", name, g.most, c.most)
		}
		if m := g.method(); (m == Lattice) != (c.h > 0) {
			t.Errorf("%s: method %s", name, m)
		}
		want := len(c.parts)
		if c.mu2 > 0 {
			want++
		}
		if len(g.terms) != want {
			t.Errorf("%s: %d factors, want %d", name, len(g.terms), want)
		}
	}
}

// A line on a lattice is one period and no more; its kernel is the sum over the
// points of the lattice above epsilon.
func TestLatticeLines(t *testing.T) {
	for _, l := range []law{response{eps: 0.5, categories: 3}, response{eps: 0.8, categories: 2}, discreteLaplace{shift: 4, scale: 3, rate: 1}, discreteGaussian{shift: 1, sigma: 2}} {
		g := (&plan{terms: []term{{l, 6}}}).integrate(Remove)
		for _, eps := range []float64{0, 0.33, 1.1} {
			c := g.saddle(eps, 1)
			line, err := g.build(c, eps, g.bound(c, eps)-3, quiet)
			if err != nil {
				t.Fatal(err)
			}
			n := len(line.k)
			if last := float64(n-1) * line.step; math.Abs(last*g.h/math.Pi-1) > 1e-9 && line.tail == 0 {
				t.Errorf("%+v: the line ends at %g of half a period, with nothing known of the rest", l, last*g.h/math.Pi)
			}
			for _, j := range []int{0, n / 2, n - 1} {
				w := complex(line.c, float64(j)*line.step)
				var low, high complex128
				for k := 0.0; k < 4000; k++ {
					low += cmplx.Exp(-w * complex(k*g.h, 0))
					high += cmplx.Exp(-(w + 1) * complex(k*g.h, 0))
				}
				if cmplx.Abs(line.low[j]-low) > 1e-9*cmplx.Abs(low) || cmplx.Abs(line.high[j]-high) > 1e-9*cmplx.Abs(high) {
					t.Errorf("%+v at %v: kernels %v and %v, sums %v and %v", l, w, line.low[j], line.high[j], low, high)
				}
			}
		}
	}
}

// Between two points of a lattice delta is linear in exp(epsilon): nothing happens
// there.
func TestLatticeIsLinearBetweenPoints(t *testing.T) {
	p := &plan{terms: []term{{response{eps: 0.5, categories: 2}, 11}}} // losses at odd multiples of 0.5
	for _, from := range []float64{0.5, 1.5, 2.5} {
		var d [3]float64
		for i, part := range []float64{0.01, 0.5, 0.99} {
			v, err := p.delta(Remove, from+part)
			if err != nil {
				t.Fatal(err)
			}
			d[i] = v.Delta
		}
		a, b, c := math.Exp(from+0.01), math.Exp(from+0.5), math.Exp(from+0.99)
		if want := d[0] + (d[2]-d[0])*(b-a)/(c-a); math.Abs(d[1]-want) > 1e-9*want {
			t.Errorf("from %g: %.15g, linear %.15g", from, d[1], want)
		}
	}
}

// Whatever start solve is given near the line, it finds the same root, and says so
// where the line tells nothing.
func TestSolveFromAnywhere(t *testing.T) {
	g := alone(1.3)
	const want = 2.5
	target := numeric.GaussianLogDelta(1.3, want)
	c := g.saddle(want, 1)
	line, err := g.build(c, want, target, quiet)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Float64Range(0, 6).Draw(t, "start")
		eps, r := line.solve(target, start)
		if _, bad := line.at(start); bad >= 0.1 {
			if !math.IsInf(r, 1) {
				t.Fatalf("from %g, where nothing is known: %g, error %g", start, eps, r)
			}
			return
		}
		if math.Abs(eps-want) > 1e-10 || !(r < 1e-9) {
			t.Fatalf("from %g: %.15g, error %g", start, eps, r)
		}
	})
	if eps, r := line.solve(0.5, 1); eps != 0 || !(r < 1) { // above every log delta
		t.Errorf("a target above the curve: %g, error %g", eps, r)
	}
}

// Work is paid for by everything that visits nodes, and a line that is not paid for
// is an error, not a number.
func TestWorkIsPaid(t *testing.T) {
	f := sampledGaussian{mu: 0.7, rate: 0.1}.factor(Remove)
	g := &integral{terms: []counted{{f, 30}}, most: math.Inf(1), budget: work}
	left := g.budget
	paid := func(what string) {
		t.Helper()
		if g.budget >= left {
			t.Errorf("%s is free", what)
		}
		left = g.budget
	}
	if err := g.reach(2, 10); err != nil {
		t.Fatal(err)
	}
	paid("reach")
	g.log(2, 5)
	paid("log")
	g.real(2)
	paid("real")
	g.falls(2, 3, 9)
	paid("falls")
	g.budget = 10
	if err := g.reach(2, 30); !errors.Is(err, errWork) {
		t.Errorf("reach without work left: %v", err)
	}
	if _, err := g.build(2, 0.5, -8, quiet); !errors.Is(err, ErrNotCovered) {
		t.Errorf("a line without work left: %v", err)
	}
	g.budget = -1
	if v := g.real(2); !math.IsInf(v, 1) {
		t.Errorf("a moment without work left: %g", v)
	}
	if err := g.noMoment(); !errors.Is(err, ErrNotCovered) {
		t.Errorf("lost: %v", err)
	}
}

// Every error bound is made of parts that are at least nothing: a line's own error,
// its images and the tail never take from each other.
func TestErrorsAreNotNegative(t *testing.T) {
	for _, c := range duals {
		p := &plan{mu2: c.mu2, terms: c.parts}
		g := p.integrate(Remove)
		at := g.saddle(0.5, 1)
		l, err := g.build(at, 0.5, g.bound(at, 0.5)-3, quiet)
		if err != nil {
			t.Fatal(err)
		}
		if l.tail < 0 || math.IsNaN(l.tail) || l.tail > 1e-12 {
			t.Errorf("%s: tail %g", c.name, l.tail)
		}
		for j := range l.k {
			if !(l.noise[j] >= 0) || !(l.weight[j] >= 0) || real(l.k[j]) > 20 {
				t.Errorf("%s: node %d has noise %g, weight %g, exponent %v", c.name, j, l.noise[j], l.weight[j], l.k[j])
				break
			}
		}
		for eps := 0.0; eps < 3; eps += 0.1 {
			if _, r := l.at(eps); !(r >= 0) {
				t.Errorf("%s at %g: error %g", c.name, eps, r)
			}
		}
	}
}
