package pld

import (
	"context"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// lawOf is the quadrature that windows are chosen by.
func lawOf(x pair, count float64) law {
	lo, hi := x.cut(1e-25, false)
	return newLaw(x.points(lo, hi), count)
}

// Cumulant generating functions that are known: a Gaussian's is mu²c(c+1)/2, that
// of responses and of Laplace noise a few exponentials.
func TestKnownCGFs(t *testing.T) {
	for _, c := range []float64{0, 0.1, 1, 4, 30} {
		for _, mu := range []float64{0.05, 0.5, 2} {
			k, mean, variance := lawOf(mustPair(gaussian(mu)), 1).cgf(c)
			if mu*c > 6 {
				continue // beyond the nodes
			}
			if want := mu * mu * c * (c + 1) / 2; math.Abs(k-want) > 1e-6*(want+1e-3) || math.Abs(mean/(mu*mu*(c+0.5))-1) > 1e-4 || math.Abs(variance/(mu*mu)-1) > 1e-3 {
				t.Errorf("Gaussian %g at %g: %g, %g, %g, want %g", mu, c, k, mean, variance, want)
			}
		}
		for _, e := range []float64{0.01, 1, 3} {
			k, mean, variance := lawOf(mustPair(response(e, 2)), 1).cgf(c)
			up, down := 1/(1+math.Exp(-e)), math.Exp(-e)/(1+math.Exp(-e))
			a, b := up*math.Exp(c*e), down*math.Exp(-c*e)
			if want := math.Log(a + b); math.Abs(k-want) > 1e-12*(1+want) || math.Abs(mean-e*(a-b)/(a+b)) > 1e-12*e || math.Abs(variance-4*e*e*a*b/((a+b)*(a+b))) > 1e-9*e*e {
				t.Errorf("response %g at %g: %g, %g, %g, want %g", e, c, k, mean, variance, want)
			}
			k, _, _ = lawOf(mustPair(laplace(e)), 1).cgf(c)
			// Mironov 2017, table 2, at order c+1.
			want := math.Log(((c+1)*math.Exp(c*e) + c*math.Exp(-(c+1)*e)) / (2*c + 1))
			if math.Abs(k-want) > 5e-3 { // midpoints and ends make up some thousandths more than all mass
				t.Errorf("Laplace %g at %g: %g, want %g", e, c, k, want)
			}
		}
	}
}

// The derivatives that come with a moment are its derivatives, and it is convex.
func TestCGFDerivatives(t *testing.T) {
	for name, x := range pairs(t) {
		l := lawOf(x, 1)
		for _, c := range []float64{0.01, 0.5, 3, 20} {
			h := 1e-4 * (1 + c)
			k, mean, variance := l.cgf(c)
			up, meanUp, _ := l.cgf(c + h)
			down, meanDown, _ := l.cgf(c - h)
			if want := (up - down) / (2 * h); math.Abs(mean-want) > 1e-4*(math.Abs(mean)+1e-6) {
				t.Errorf("%s at %g: mean %g, want %g", name, c, mean, want)
			}
			if want := (meanUp - meanDown) / (2 * h); math.Abs(variance-want) > 1e-3*(variance+1e-9) {
				t.Errorf("%s at %g: variance %g, want %g", name, c, variance, want)
			}
			if up+down < 2*k-1e-12 || variance < 0 {
				t.Errorf("%s at %g: not convex", name, c)
			}
		}
		if k, _, _ := l.cgf(0); math.Abs(k) > 3e-3 {
			t.Errorf("%s: the mass is exp(%g)", name, k)
		}
	}
}

// Laws add, counts multiply.
func TestLawsAdd(t *testing.T) {
	a, b := lawOf(mustPair(gaussian(0.3)), 4), lawOf(mustPair(laplace(0.2)), 7)
	for _, c := range []float64{0, 0.3, 2, 9} {
		k, mean, variance := laws{a, b}.cgf(c)
		ka, ma, va := a.cgf(c)
		kb, mb, vb := b.cgf(c)
		if math.Abs(k-4*ka-7*kb) > 1e-12 || math.Abs(mean-4*ma-7*mb) > 1e-12 || math.Abs(variance-4*va-7*vb) > 1e-12 {
			t.Errorf("at %g: %g, %g, %g", c, k, mean, variance)
		}
	}
}

// The saddle point's delta is within a factor of the exact one, and its epsilon
// rises with the tilt.
func TestSaddle(t *testing.T) {
	ls := laws{lawOf(mustPair(gaussian(0.1)), 100)} // a Gaussian of 1
	last := math.Inf(-1)
	for _, c := range []float64{0.5, 1, 2, 3, 4} {
		eps, logDelta := ls.saddle(c)
		if eps <= last {
			t.Errorf("epsilon %g at %g, before %g", eps, c, last)
		}
		last = eps
		if eps < 0 {
			continue
		}
		want, _ := bigLog(gaussianDelta(1, eps)).Float64()
		if math.Abs(logDelta-want) > 0.15 {
			t.Errorf("tilt %g: log delta %g at %g, want %g", c, logDelta, eps, want)
		}
	}
}

// The tilt is the smallest that is enough.
func TestTiltIsSmallest(t *testing.T) {
	ls := laws{lawOf(mustPair(gaussian(0.1)), 100)}
	for _, eps := range []float64{0, 0.5, 2, 4} {
		c := ls.tilt(func(e, _ float64) bool { return e >= eps })
		if got, _ := ls.saddle(c); got < eps || got > eps+1e-5 {
			t.Errorf("the saddle of the tilt %g is at %g, want %g", c, got, eps)
		}
	}
	if c := ls.tilt(func(float64, float64) bool { return false }); math.Abs(c/mostTilt-1) > 1e-6 {
		t.Errorf("nothing is enough: %g", c)
	}
	if c := ls.tilt(func(float64, float64) bool { return true }); c > leastTilt*2 {
		t.Errorf("anything is enough: %g", c)
	}
}

// A rough law keeps the first two moments of its points, whatever the mesh.
func TestRough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := somePairs[rapid.IntRange(0, len(somePairs)-1).Draw(t, "pair")]()
		l := lawOf(x, 1)
		h := logUniform(t, "mesh", 1e-3, 3)
		m := l.rough(h)
		if m == nil {
			t.Fatal("too many cells")
		}
		var want, got [3]float64
		for i, v := range l.at {
			p := math.Exp(l.logP[i])
			for k := range want {
				want[k] += p * math.Pow(v, float64(k))
			}
		}
		for i, w := range m.w {
			for k := range got {
				got[k] += w * math.Pow(m.loss(i), float64(k))
			}
		}
		for k := range want {
			if math.Abs(got[k]-want[k]) > 1e-9*(1+math.Abs(want[k])) {
				t.Fatalf("moment %d is %v, want %v", k, got[k], want[k])
			}
		}
	})
	if m := lawOf(mustPair(gaussian(1)), 1).rough(1e-9); m != nil {
		t.Errorf("%d cells", len(m.w))
	}
}

var somePairs = []func() pair{
	func() pair { return mustPair(gaussian(1)) },
	func() pair { return mustPair(gaussian(1)).sampled(0.1) },
	func() pair { return mustPair(laplace(1)) },
	func() pair { return mustPair(response(1, 3)) },
	func() pair { return mustPair(discreteGaussian(2, 1)) },
}

// A window leaves no more of the tilted loss on either side than it was chosen
// for: against the tilted law of the composition, by its moments and, for
// responses, exactly.
func TestWindowsHoldTheirLosses(t *testing.T) {
	for _, c := range []struct {
		e   float64
		n   int
		eps float64
	}{{0.1, 100, 1}, {0.5, 50, 8}, {1, 20, 12}, {2, 60, 90}} {
		x := mustPair(response(c.e, 2))
		v, err := newView(context.Background(), []term{{x, float64(c.n)}}, query{eps: c.eps})
		if err != nil {
			t.Fatal(err)
		}
		s := v.spans[0]
		if !(s.lo < s.hi && s.hi > c.eps && s.tilt > 0 && s.up > 0 && s.down > 0) {
			t.Fatalf("%+v: %+v", c, s)
		}
		// What is above weighs, of all delta, no more than exp(-outside) and a margin.
		above, all := new(big.Float).SetPrec(bits), stick(responses(c.e, c.n), bigOf(c.eps))
		for _, a := range responses(c.e, c.n) {
			if a.loss.Cmp(bigOf(s.hi)) > 0 {
				above = add(above, a.p)
			}
		}
		if r, _ := quo(above, all).Float64(); r > math.Exp(-outside) {
			t.Errorf("%+v: %g of delta is above %g", c, r, s.hi)
		}
	}
}

// Meshes divide the atoms' distance where that is possible, and are never finer
// than asked for.
func TestMesh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		window, finest := logUniform(t, "window", 1e-3, 1e3), logUniform(t, "finest", 1e-9, 1e-2)
		bins := 1 << rapid.IntRange(10, 19).Draw(t, "log bins")
		spacing := logUniform(t, "spacing", 1e-6, 1e3)
		least := max(window/float64(bins), finest)
		if h := mesh(bins, window, 0, finest); h != least {
			t.Fatalf("without atoms: %v, want %v", h, least)
		}
		h := mesh(bins, window, spacing, finest)
		if h < least*(1-1e-12) || h > 2*least {
			t.Fatalf("mesh %v for cells of at least %v", h, least)
		}
		if m := spacing / (2 * h); spacing >= 2*least && math.Abs(m-math.Round(m)) > 1e-9*m {
			t.Fatalf("atoms %v apart are %v pairs of cells", spacing, m)
		}
	})
}

// The survey cuts every pair where what is beyond is far below delta, and takes
// both directions of what is not symmetric.
func TestView(t *testing.T) {
	for name, x := range pairs(t) {
		v, err := newView(context.Background(), []term{{x, 10}}, query{delta: 1e-6, solve: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := map[bool]int{true: 1, false: 2}[x.symmetric]; len(v.names) != want || len(v.spans) != want {
			t.Errorf("%s: directions %v", name, v.names)
		}
		if v.total != 10 || v.most < 10*x.max*(1-1e-12) {
			t.Errorf("%s: %g releases, losses up to %g", name, v.total, v.most)
		}
		if x.tails == nil {
			continue
		}
		if e := x.tails(min(max(v.ranges[0][1], x.lo), x.hi)); 10*e.pAbove > 1e-6*1.1e-9 {
			t.Errorf("%s: %g is cut off above %g", name, e.pAbove, v.ranges[0][1])
		}
	}
	// One part that is not symmetric makes the whole so.
	v, err := newView(context.Background(), []term{{mustPair(gaussian(1)), 1}, {mustPair(gaussian(1)).sampled(0.1), 2}}, query{delta: 1e-6, solve: true})
	if err != nil || len(v.names) != 2 {
		t.Errorf("%+v, %v", v, err)
	}
}

// Terms become pairs: Gaussians that are not sampled are joined exactly, equal terms
// counted, everything else kept apart.
func TestBuild(t *testing.T) {
	g := func(q, s float64, n int64) terms.Term { return gaussianTerm(q, s, 1, privacy.AddRemove, n) }
	for _, c := range []struct {
		name   string
		ts     []terms.Term
		counts []float64
	}{
		{"joined", []terms.Term{g(1, 3, 4), g(1, 4, 9)}, []float64{1}},
		{"counted", []terms.Term{g(0.1, 3, 4), g(0.1, 3, 5)}, []float64{9}},
		{"other rates", []terms.Term{g(0.1, 3, 4), g(0.2, 3, 5)}, []float64{4, 5}},
		{"other noise", []terms.Term{g(0.1, 3, 4), g(0.1, 2, 5)}, []float64{4, 5}},
		{"joined first", []terms.Term{g(0.1, 3, 4), g(1, 2, 5), laplaceTerm(1, 1, 2)}, []float64{1, 4, 2}},
	} {
		parts, err := build(c.ts)
		if err != nil || len(parts) != len(c.counts) {
			t.Errorf("%s: %d terms, %v", c.name, len(parts), err)
			continue
		}
		for i, p := range parts {
			if p.count != c.counts[i] {
				t.Errorf("%s: term %d has count %g, want %g", c.name, i, p.count, c.counts[i])
			}
		}
	}
	// mu² adds up: 4/9 + 9/16.
	parts, err := build([]terms.Term{g(1, 3, 4), g(1, 4, 9)})
	if err != nil {
		t.Fatal(err)
	}
	want := mustPair(gaussian(math.Sqrt(4.0/9 + 9.0/16)))
	for _, eps := range []float64{0, 0.7, 3} {
		if a, b := exactDelta(parts[0].pair, eps), exactDelta(want, eps); a != b {
			t.Errorf("joined at %g: %g, want %g", eps, a, b)
		}
	}
}
