package pld

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"
)

// losses are places between the ends of a pair, the ends included.
func losses(x pair, n int) []float64 {
	lo, hi := x.cut(1e-15, false)
	out := make([]float64, 0, n+1)
	for i := range n + 1 {
		out = append(out, lo+(hi-lo)*float64(i)/float64(n))
	}
	return out
}

// The four tails of every pair are laws: below and above make up what is not in
// atoms or at infinity, they are monotone, and P and Q differ by exp(loss)
// between any two losses.
func TestTailsAreLaws(t *testing.T) {
	for name, x := range pairs(t) {
		if x.tails == nil {
			continue
		}
		atomsP, atomsQ := 0.0, 0.0
		for _, a := range x.atoms {
			atomsP, atomsQ = atomsP+a.p, atomsQ+a.q
		}
		var was edge
		ls := losses(x, 300)
		for i, l := range ls {
			e := x.tails(min(max(l, x.lo), x.hi))
			if p, q := e.pBelow+e.pAbove+atomsP, e.qBelow+e.qAbove+atomsQ; math.Abs(p-1) > 1e-14 || math.Abs(q-1) > 1e-14 {
				t.Fatalf("%s at %g: P and Q sum to 1%+g and 1%+g", name, l, p-1, q-1)
			}
			if i > 0 {
				p := between(was.pBelow, was.pAbove, e.pBelow, e.pAbove)
				q := between(was.qBelow, was.qAbove, e.qBelow, e.qAbove)
				if e.pAbove > was.pAbove || e.qAbove > was.qAbove || e.pBelow < was.pBelow || e.qBelow < was.qBelow {
					t.Fatalf("%s at %g: tails are not monotone", name, l)
				}
				tol := rho*(min(e.pBelow, was.pAbove)+math.Exp(l)*min(e.qBelow, was.qAbove)) + 1e-300
				if from := ls[i-1]; p < q*math.Exp(from)-tol || p > q*math.Exp(l)+tol {
					t.Fatalf("%s from %g to %g: P %g, Q %g: their ratio is outside", name, from, l, p, q)
				}
			}
			was = e
		}
	}
}

// Exchanging P and Q turns the loss of a symmetric pair into itself: what P has
// above a loss Q has below its negative.
func TestSymmetricPairs(t *testing.T) {
	for name, x := range pairs(t) {
		mirrored := swapped(x.atoms)
		same := len(mirrored) == len(x.atoms)
		for i := range mirrored {
			a, b := mirrored[i], x.atoms[i]
			same = same && math.Abs(a.loss-b.loss) < 1e-12 && math.Abs(a.p-b.p) < 1e-15 && math.Abs(a.q-b.q) < 1e-15
		}
		if x.tails != nil {
			for _, l := range losses(x, 100) {
				if l < x.lo || l > x.hi || -l < x.lo || -l > x.hi {
					continue
				}
				e, f := x.tails(l), x.tails(-l)
				same = same && math.Abs(e.pAbove-f.qBelow) < 1e-14 && math.Abs(e.qAbove-f.pBelow) < 1e-14
			}
		}
		if x.symmetric && !same {
			t.Errorf("%s is not symmetric", name)
		}
		if !x.symmetric && same && (len(x.atoms) > 0 || x.tails != nil) {
			t.Errorf("%s is symmetric but is computed in two directions", name)
		}
	}
}

// Atoms are laws with the ratio exp(loss), in order, between min and max, and on
// the lattice that spacing and pin promise.
func TestAtoms(t *testing.T) {
	for name, x := range pairs(t) {
		for i, a := range x.atoms {
			if math.Abs(a.p-a.q*math.Exp(a.loss)) > 1e-13*a.p {
				t.Errorf("%s: atom %d at %g has %g and %g", name, i, a.loss, a.p, a.q)
			}
			if i > 0 && a.loss <= x.atoms[i-1].loss || a.loss > x.max || a.loss < x.min {
				t.Errorf("%s: atom %d at %g is out of order or outside %g to %g", name, i, a.loss, x.min, x.max)
			}
			if x.spacing > 0 {
				if k := (a.loss - x.pin) / x.spacing; math.Abs(k-math.Round(k)) > 1e-9*max(1, math.Abs(k)) {
					t.Errorf("%s: atom %d at %g is %g steps away from the pin", name, i, a.loss, k)
				}
			}
		}
		if x.tails == nil {
			p, q := x.infP, x.infQ
			for _, a := range x.atoms {
				p, q = p+a.p, q+a.q
			}
			if math.Abs(p-1) > 1e-13 || math.Abs(q-1) > 1e-13 {
				t.Errorf("%s: masses %g and %g", name, p, q)
			}
		}
	}
}

// The normal tails against the tail's series in big.Float, on both sides and far
// out: relative to the smaller one.
func TestNormalTails(t *testing.T) {
	for _, c := range []struct{ z, mean, s float64 }{
		{0, 0, 1}, {1, 0, 1}, {-3, 0, 1}, {5, 2, 0.5}, {-1, 1, 0.25}, {12, 0, 1}, {-13, 0, 1}, {1e3, 980, 4}, {0.01, 0, 0.1},
	} {
		below, above := normalTails(c.z, c.mean, c.s)
		x := quo(sub(bigOf(c.z), bigOf(c.mean)), bigOf(c.s))
		wantAbove := bigUpper(x)
		wantBelow := bigUpper(new(big.Float).Neg(x))
		if !near(below, wantBelow, rho) && !near(above, wantAbove, rho) {
			t.Errorf("%+v: %g and %g, want %.17g and %.17g", c, below, above, wantBelow, wantAbove)
		}
		small, want := below, wantBelow
		if above < below {
			small, want = above, wantAbove
		}
		if !near(small, want, rho) {
			t.Errorf("%+v: the smaller tail is %g, want %.17g", c, small, want)
		}
	}
}

// rho allows for the error of every tail of normal noise that decides a delta: from
// the middle to ten deviations, where it is 1e-23. Beyond, the error is what
// rounding of z makes of it, which a shift of the losses by units of themselves
// allows for again.
func TestTailErrors(t *testing.T) {
	worst := 0.0
	for i := range 400 {
		z := 13.5 * float64(i) / 400
		_, above := normalTails(z, 0, 1)
		ratio, _ := sub(quo(bigOf(above), bigUpper(bigOf(z))), bigOf(1)).Float64()
		off := math.Abs(ratio)
		if z <= 10 {
			worst = max(worst, off)
		} else if off > 3*z*z*unit {
			t.Errorf("the tail at %g is off by %g units", z, off/unit)
		}
	}
	if worst > rho {
		t.Errorf("a tail is off by %g units, allowed %g", worst/unit, rho/unit)
	}
	if worst < 2*unit {
		t.Errorf("no tail is off by two units: not a test of the bound")
	}
}

// Discrete noise against its definition in big.Float.
func TestDiscreteNoiseExactly(t *testing.T) {
	t.Run("gaussian", func(t *testing.T) {
		for _, c := range []struct{ sigma, sensitivity float64 }{{0.4, 1}, {1, 1}, {2.5, 3}, {7, 2.9}} {
			x := mustPair(discreteGaussian(c.sigma, c.sensitivity))
			weight := func(k float64) *big.Float {
				return bigExp(quo(mul(bigOf(-k), bigOf(k)), mul(bigOf(2), mul(bigOf(c.sigma), bigOf(c.sigma)))))
			}
			total := bigOf(1)
			for k := 1.0; k < 40*c.sigma+3; k++ {
				total = add(total, mul(bigOf(2), weight(k)))
			}
			d := math.Floor(c.sensitivity)
			for i := range x.atoms {
				a := x.atoms[i]
				k := math.Round(a.loss*c.sigma*c.sigma/d + d/2)
				if a.p < 1e-200 || a.q < 1e-200 {
					continue
				}
				if wantP, wantQ := quo(weight(k-d), total), quo(weight(k), total); !near(a.p, wantP, 1e-12) || !near(a.q, wantQ, 1e-12) {
					t.Errorf("%+v at %g: %g and %g, want %.15g and %.15g", c, k, a.p, a.q, wantP, wantQ)
				}
			}
		}
	})
	t.Run("laplace", func(t *testing.T) {
		for _, c := range []struct{ scale, sensitivity float64 }{{0.5, 1}, {1, 1}, {3, 4}, {10, 7.5}} {
			x := mustPair(discreteLaplace(c.scale, c.sensitivity))
			r := bigExp(quo(bigOf(-1), bigOf(c.scale)))
			zero := quo(sub(bigOf(1), r), add(bigOf(1), r))
			power := func(k int) *big.Float { return bigExp(quo(bigOf(-float64(k)), bigOf(c.scale))) }
			d := int(c.sensitivity)
			if len(x.atoms) != d+1 {
				t.Fatalf("%+v: %d atoms", c, len(x.atoms))
			}
			for k, a := range x.atoms { // the loss at k is (2k-d)/scale; the ends hold all beyond
				wantP, wantQ := mul(zero, power(d-k)), mul(zero, power(k))
				tail := quo(bigOf(1), add(bigOf(1), r))
				if k == 0 {
					wantP, wantQ = mul(tail, power(d)), tail
				}
				if k == d {
					wantP, wantQ = tail, mul(tail, power(d))
				}
				if !near(a.p, wantP, 1e-14) || !near(a.q, wantQ, 1e-14) || math.Abs(a.loss-float64(2*k-d)/c.scale) > 1e-14 {
					t.Errorf("%+v at %d: %+v, want %.15g and %.15g", c, k, a, wantP, wantQ)
				}
			}
		}
	})
	t.Run("response", func(t *testing.T) {
		for _, e := range []float64{1e-9, 0.1, 1, 30, 499} {
			for _, k := range []int64{2, 3, 10, 1 << 20} {
				x := mustPair(response(e, k))
				others := add(bigExp(bigOf(e)), bigOf(float64(k-1)))
				keep, lie := quo(bigExp(bigOf(e)), others), quo(bigOf(1), others)
				last := x.atoms[len(x.atoms)-1]
				if !near(last.p, keep, 1e-15) || !near(last.q, lie, 4e-15) || last.loss != e {
					t.Errorf("epsilon %g of %d: %+v", e, k, last)
				}
				if k > 2 {
					if rest := mul(lie, bigOf(float64(k-2))); !near(x.atoms[1].p, rest, 4e-15) || x.atoms[1].loss != 0 {
						t.Errorf("epsilon %g of %d: the others are %+v, want %.15g", e, k, x.atoms[1], rest)
					}
				}
			}
		}
	})
}

// What a sampling does to a hockey stick, exactly (Balle, Barthe, Gaboardi 2018,
// theorem 2): at log(1 + q(exp(eps)-1)) the delta is q times the delta at eps.
func TestAmplification(t *testing.T) {
	for name, x := range pairs(t) {
		for _, q := range []float64{1e-9, 1e-3, 0.1, 0.5, 0.99} {
			y := x.sampled(q)
			for _, eps := range []float64{0, 0.01, 0.3, 1, 2.5} {
				want := q * exactDelta(x, eps)
				got := exactDelta(y, math.Log1p(q*math.Expm1(eps)))
				if math.Abs(got-want) > 1e-12*want+2e-15 {
					t.Errorf("%s at %g, rate %g: %g, want %g", name, eps, q, got, want)
				}
			}
		}
	}
}

// Sampling twice is sampling at the product of rates.
func TestSamplingTwice(t *testing.T) {
	for name, x := range pairs(t) {
		once, twice := x.sampled(0.12), x.sampled(0.4).sampled(0.3)
		for _, eps := range []float64{-0.1, 0, 0.001, 0.02, 0.2, 0.7} {
			if a, b := exactDelta(once, eps), exactDelta(twice, eps); math.Abs(a-b) > 1e-14 {
				t.Errorf("%s at %g: %g at once, %g twice", name, eps, a, b)
			}
		}
		if math.Abs(once.max-twice.max) > 1e-12 && !(math.IsInf(once.max, 1) && math.IsInf(twice.max, 1)) || math.Abs(once.min-twice.min) > 1e-12 {
			t.Errorf("%s: losses from %g to %g at once, %g to %g twice", name, once.min, once.max, twice.min, twice.max)
		}
	}
}

// A replaced Gaussian: its inverse of the loss is an inverse, its delta is the
// integral of the two densities' difference, and for a rate near one it is a
// Gaussian moved by two sensitivities' halves.
func TestReplacedGaussian(t *testing.T) {
	density := func(z, mean, s float64) float64 {
		return math.Exp(-(z-mean)*(z-mean)/(2*s*s)) / (s * math.Sqrt(2*math.Pi))
	}
	for _, c := range []struct{ q, s float64 }{{0.01, 1}, {0.2, 0.6}, {0.5, 3}, {0.9, 1.5}} {
		x := mustPair(replacedGaussian(c.q, c.s))
		for _, eps := range []float64{0, 0.05, 0.3, 1} {
			want, step := 0.0, c.s/2000
			for z := -1 - 10*c.s; z < 1+10*c.s; z += step {
				p := (1-c.q)*density(z, 0, c.s) + c.q*density(z, 1, c.s)
				q := (1-c.q)*density(z, 0, c.s) + c.q*density(z, -1, c.s)
				want += max(0, p-math.Exp(eps)*q) * step
			}
			if got := exactDelta(x, eps); math.Abs(got-want) > 1e-6*want+1e-9 {
				t.Errorf("%+v at %g: %g, want %g", c, eps, got, want)
			}
		}
	}
	sure, two := mustPair(replacedGaussian(1-1e-12, 2)), mustPair(gaussian(1))
	for _, eps := range []float64{0, 0.3, 1, 3} {
		if a, b := exactDelta(sure, eps), exactDelta(two, eps); math.Abs(a-b) > 1e-10 {
			t.Errorf("at rate one and %g: %g, want %g", eps, a, b)
		}
	}
}

// Laplace noise in closed form (Balle and Wang 2018, table 1): delta is
// 1 - exp((eps-e)/2).
func TestLaplacePair(t *testing.T) {
	for _, e := range []float64{1e-9, 1e-3, 0.5, 4, 60, 500} {
		x := mustPair(laplace(e))
		for _, f := range []float64{0, 0.1, 0.5, 0.99, 1} {
			if got, want := exactDelta(x, f*e), -math.Expm1((f-1)*e/2); math.Abs(got-want) > 1e-15+1e-12*want {
				t.Errorf("epsilon %g at %g of it: %g, want %g", e, f, got, want)
			}
		}
	}
}

// Sensitivities that are no whole numbers are rounded down to what can occur.
func TestWholeSteps(t *testing.T) {
	same := func(a, b pair) bool { return slices.Equal(a.atoms, b.atoms) && a.spacing == b.spacing }
	if a, b := mustPair(discreteGaussian(3, 2)), mustPair(discreteGaussian(3, 2.99)); !same(a, b) {
		t.Error("a discrete Gaussian moved by 2.99 steps is not one moved by 2")
	}
	if a, b := mustPair(discreteLaplace(3, 2)), mustPair(discreteLaplace(3, 2.99)); !same(a, b) {
		t.Error("discrete Laplace noise moved by 2.99 steps is not one moved by 2")
	}
	if a, b := mustPair(discreteGaussian(3, 2)), mustPair(discreteGaussian(3, 3)); same(a, b) {
		t.Error("2 and 3 steps are the same")
	}
}

// The parameters of every pair: the ends of its range are accepted, what is
// beyond or no number is refused.
func TestPairRanges(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		of   func(v float64) (pair, error)
		good []float64
		bad  []float64
	}{
		{"gaussian", gaussian, []float64{1e-8, 1, mostRatio}, []float64{nan, inf, -inf, -1, 0, 9e-9, 2000.1}},
		{"laplace", laplace, []float64{1e-9, 1, 500}, []float64{nan, inf, -inf, -1, 0, 9e-10, 500.1}},
		{"response", func(v float64) (pair, error) { return response(v, 2) }, []float64{1e-9, 1, 500}, []float64{nan, inf, -inf, -1, 0, 9e-10, 501}},
		{"replaced", func(v float64) (pair, error) { return replacedGaussian(0.1, v) }, []float64{0.03, 1, 1e8}, []float64{nan, inf, -inf, -1, 0, 0.029, 1.1e8}},
		{"discrete gaussian", func(v float64) (pair, error) { return discreteGaussian(v, 1) }, []float64{0.02, 1, 40_000}, []float64{nan, inf, 0.019, 0, 42_000}},
		{"discrete gaussian, sensitivity", func(v float64) (pair, error) { return discreteGaussian(10, v) }, []float64{1, 1.5, 500}, []float64{nan, inf, -1, 0, 0.99, 501}},
		{"discrete laplace", func(v float64) (pair, error) { return discreteLaplace(v, 2) }, []float64{0.004, 1, 1e6}, []float64{0.0039, 0}},
		{"discrete laplace, sensitivity", func(v float64) (pair, error) { return discreteLaplace(1000, v) }, []float64{1, 1000.7}, []float64{nan, inf, -1, 0, 0.99, 500_001, most}},
	} {
		for _, v := range c.good {
			if x, err := c.of(v); err != nil || len(x.atoms) == 0 && x.tails == nil {
				t.Errorf("%s of %v: %v", c.name, v, err)
			}
		}
		for _, v := range c.bad {
			if _, err := c.of(v); !errors.Is(err, ErrNotCovered) {
				t.Errorf("%s of %v: %v", c.name, v, err)
			}
		}
	}
}

// cut leaves no more than was asked for on either side, and is not wider than
// that needs.
func TestCut(t *testing.T) {
	for name, x := range pairs(t) {
		if x.tails == nil {
			lo, hi := x.cut(1e-9, false)
			if lo != x.atoms[0].loss || hi != x.atoms[len(x.atoms)-1].loss {
				t.Errorf("%s: atoms are cut to %g to %g", name, lo, hi)
			}
			continue
		}
		at := func(l float64) edge { return x.tails(min(max(l, x.lo), x.hi)) }
		wasLo, wasHi := math.Inf(1), math.Inf(-1)
		for _, tau := range []float64{1e-3, 1e-9, 1e-18, 1e-60} {
			lo, hi := x.cut(tau, false)
			if e := at(hi); e.pAbove > tau*(1+1e-9) {
				t.Errorf("%s: P has %g above %g, want %g", name, e.pAbove, hi, tau)
			}
			if e := at(lo); e.qBelow > tau*(1+1e-9) {
				t.Errorf("%s: Q has %g below %g, want %g", name, e.qBelow, lo, tau)
			}
			if lo > wasLo || hi < wasHi {
				t.Errorf("%s: less mass is beyond narrower cuts", name)
			}
			if len(x.atoms) == 0 && hi < x.hi { // tight: a little further in there is more
				if e := at(hi - 1e-6*(hi-lo)); e.pAbove <= tau && hi-1e-6*(hi-lo) > x.lo {
					t.Errorf("%s: %g of P is above %g too", name, e.pAbove, hi-1e-6*(hi-lo))
				}
			}
			one, _ := x.cut(tau, true)
			if one < lo {
				t.Errorf("%s: one direction needs losses from %g on, both from %g on", name, one, lo)
			}
			wasLo, wasHi = lo, hi
		}
	}
}

// Exchanging twice is nothing; a moment of the exchanged law is the other's.
func TestSwapped(t *testing.T) {
	x := mustPair(discreteLaplace(2, 5)).sampled(0.3)
	if !slices.Equal(swapped(swapped(x.atoms)), x.atoms) {
		t.Error("exchanged twice, atoms are others")
	}
	for i, a := range swapped(x.atoms) {
		if b := x.atoms[len(x.atoms)-1-i]; a.loss != -b.loss || a.p != b.q || a.q != b.p {
			t.Errorf("atom %d is %+v, was %+v", i, a, b)
		}
	}
}

// The trapezoid's nodes integrate polynomials times the normal density to about
// rounding, and their number is bounded.
func TestTrapezoid(t *testing.T) {
	at := func(z float64) atom { return atom{z, density(z), density(z) * z * z} }
	for _, step := range []float64{0.25, 0.05, 1e-6} {
		var p, q float64
		nodes := trapezoid(-12, 12, step, at)
		for _, a := range nodes {
			p, q = p+a.p, q+a.q
		}
		if math.Abs(p-1) > 1e-13 || math.Abs(q-1) > 1e-12 {
			t.Errorf("step %g: moments 1%+g and 1%+g", step, p-1, q-1)
		}
		if len(nodes) > 20_001 {
			t.Errorf("step %g: %d nodes", step, len(nodes))
		}
	}
	if n := trapezoid(0, 1, 0.1, func(float64) atom { return atom{} }); len(n) != 0 {
		t.Errorf("%d nodes without mass", len(n))
	}
}
