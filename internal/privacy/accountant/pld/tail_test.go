package pld

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// parts is a random composition with masses at few or many losses.
func parts(r *rand.Rand, n int, tilt, h float64) *tilted {
	x := &tilted{lo: r.NormFloat64(), h: h, tilt: tilt, mass: make([]float64, n), logMass: 5 * r.NormFloat64()}
	share := []float64{1, 0.2, 3 / float64(n)}[r.IntN(3)]
	for i := range x.mass {
		if r.Float64() < share {
			x.mass[i] = math.Exp(4 * r.NormFloat64())
		}
	}
	return x
}

// exactly is delta of the parts at eps by its definition, in big.Float.
func exactly(x *tilted, eps float64) *big.Float {
	sum := new(big.Float).SetPrec(bits)
	for j, v := range x.mass {
		l := add(bigOf(x.lo), mul(bigOf(float64(j)), bigOf(x.h)))
		if v <= 0 || l.Cmp(bigOf(eps)) <= 0 {
			continue
		}
		weight := bigExp(sub(bigOf(x.logMass), mul(bigOf(x.tilt), l)))
		sum = add(sum, mul(mul(bigOf(v), weight), sub(bigOf(1), bigExp(sub(bigOf(eps), l)))))
	}
	return sum
}

// The sums carried down the losses give what the definition gives, at losses,
// between them, below the window and above it; never beyond one.
func TestDeltaAtIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		n := rapid.IntRange(2, 60).Draw(t, "losses")
		tilt := logUniform(t, "tilt", 1e-6, 60)
		x := parts(r, n, tilt, logUniform(t, "mesh", 1e-5, min(2, 300/(tilt*float64(n)))))
		b := bound{tilted: x}
		width := x.h * float64(n)
		for _, eps := range []float64{
			x.lo + width*r.Float64(), x.lo + x.h*float64(r.IntN(n)), x.lo - x.h*r.Float64(), x.lo - 0.2*width, x.lo + width, x.lo + 2*width,
		} {
			want := exactly(x, eps)
			if want.Cmp(bigOf(1)) > 0 {
				want = bigOf(1)
			}
			got := b.deltaAt(eps)
			// Where eps is next to a loss, places are rounded.
			w, _ := want.Float64()
			if tol := 1e-10*w + 1e-15*(1+math.Abs(x.lo)+width)*math.Exp(x.logMass-x.tilt*eps)*float64(n)*60*max(1, slices.Max(x.mass)); math.Abs(got-w) > tol {
				t.Fatalf("tilt %g, mesh %g, at %g of %g to %g: %g, want %g", tilt, x.h, eps, x.lo, x.lo+width, got, w)
			}
		}
	})
}

// Walking stops where it is told to, goes from the top, and carries sums that never
// fall.
func TestWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	x := parts(r, 40, 0.7, 0.1)
	x.mass[5] = -1e-18 // noise: counts as nothing
	seen, last, lastA := 0, math.Inf(1), 0.0
	bound{tilted: x}.walk(func(l, a, d float64) bool {
		j := 39 - seen
		if l != x.lo+float64(j)*x.h || l >= last {
			t.Fatalf("loss %d is %g", j, l)
		}
		if want := max(x.mass[j], 0) + math.Exp(-0.07)*lastA; a != want || d > a || d < 0 {
			t.Fatalf("sums at %g are %g and %g, want %g", l, a, d, want)
		}
		seen, last, lastA = seen+1, l, a
		return seen < 36
	})
	if seen != 36 {
		t.Errorf("%d losses were looked at, want 36", seen)
	}
}

// Weights bound the sum of all weights wherever epsilon is, and peak is the largest.
func TestWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "losses")
		x := &tilted{h: logUniform(t, "mesh", 1e-5, 3), tilt: logUniform(t, "tilt", 1e-6, 1e4), mass: make([]float64, n)}
		gap := rapid.Float64Range(0, 1).Draw(t, "gap") * x.h
		sum, largest := 0.0, 0.0
		for j := range n {
			y := gap + float64(j)*x.h
			w := math.Exp(-x.tilt*y) * -math.Expm1(-y)
			sum, largest = sum+w, max(largest, w)
		}
		if w := x.weights(); sum > w*(1+1e-9) {
			t.Fatalf("weights sum to %g, bounded by %g", sum, w)
		}
		if p := peak(x.tilt); largest > p*(1+1e-12) {
			t.Fatalf("the largest weight is %g, bounded by %g", largest, p)
		}
		at := math.Log1p(1 / x.tilt) // where it is reached
		if w := math.Exp(-x.tilt*at) * -math.Expm1(-at); math.Abs(w/peak(x.tilt)-1) > 1e-9 {
			t.Fatalf("the weight at %g is %g, the bound %g", at, w, peak(x.tilt))
		}
	})
}

// The ends of epsilon are next to each other and delta passes there, as an oracle
// that looks at one loss after the other says.
func TestEpsilonInvertsDelta(t *testing.T) {
	hit, drawn := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		drawn++
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		n := rapid.IntRange(2, 600).Draw(t, "losses")
		tilt := logUniform(t, "tilt", 1e-3, 20)
		x := parts(r, n, tilt, logUniform(t, "mesh", 1e-4, min(0.5, 200/(tilt*float64(n)))))
		x.lo = -x.h * float64(r.IntN(n))
		b := bound{tilted: x, drift: carried(n)}
		delta := logUniform(t, "delta", 1e-12, 0.9)
		lo, hi, err := b.epsilon(delta)
		if err != nil {
			t.Fatal(err)
		}
		if hi > 0 && b.deltaAt(hi) > delta*(1+1e-12) {
			t.Fatalf("delta at %v is %g, above %g", hi, b.deltaAt(hi), delta)
		}
		if lo >= 0 {
			hit++
			if b.deltaAt(lo) <= delta*(1-1e-12) {
				t.Fatalf("delta at %v is %g, not above %g", lo, b.deltaAt(lo), delta)
			}
			if !math.IsInf(hi, 1) && math.Nextafter(lo, math.Inf(1)) < hi {
				t.Fatalf("%v and %v are not next to each other", lo, hi)
			}
		} else if b.deltaAt(0) > delta {
			t.Fatalf("delta at 0 is %g, above %g, but no epsilon was found", b.deltaAt(0), delta)
		}
	})
	if 10*hit < drawn { // -short draws fewer
		t.Errorf("%d crossings in %d draws", hit, drawn)
	}
}

// What is added to an upper bound and taken off a lower one moves both the way it
// should, in parts and in units of delta.
func TestErrorsMoveBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	x := parts(r, 50, 0.8, 0.1)
	x.logMass, x.lo = -8, 0.5
	for i := range x.mass {
		x.mass[i] = 1
	}
	plain := bound{tilted: x}
	for _, eps := range []float64{0, 0.3, 0.77, 2, 5} {
		d := plain.deltaAt(eps)
		scale := math.Exp(x.logMass - x.tilt*eps)
		for name, c := range map[string]struct {
			b    bound
			want float64
		}{
			"slack":       {bound{tilted: x, slack: 3}, d + 3*scale},
			"less slack":  {bound{tilted: x, slack: -0.5}, max(0, d-0.5*scale)},
			"extra":       {bound{tilted: x, extra: 0.01}, d + 0.01},
			"less extra":  {bound{tilted: x, extra: -1e-9}, max(0, d-1e-9)},
			"drift":       {bound{tilted: x, drift: 1e-3}, d * 1.001},
			"negative":    {bound{tilted: x, drift: -1e-3}, d * 0.999},
			"all at once": {bound{tilted: x, drift: 1e-3, slack: 2, extra: 1e-4}, d*1.001 + 2*scale + 1e-4},
			"too much":    {bound{tilted: x, extra: 2}, 1},
			"nothing":     {bound{tilted: x, slack: -1e9}, 0},
		} {
			if got := c.b.deltaAt(eps); math.Abs(got-c.want) > 1e-12*c.want {
				t.Errorf("%s at %g: %g, want %g", name, eps, got, c.want)
			}
		}
		under := bound{tilted: x, under: 2}.deltaAt(eps)
		if want := d + 2*scale; eps < x.lo && math.Abs(under-want) > 1e-12*want || eps >= x.lo && under != d {
			t.Errorf("below the window at %g: %g, without %g", eps, under, d)
		}
	}
}

// An upper end that carried sums have lost is refused, not returned: two masses so
// far apart that the weight of the upper one underflows on the way down.
func TestLostSumsAreRefused(t *testing.T) {
	x := &tilted{h: 0.01, tilt: 1000, mass: make([]float64, 400), lo: 0.5}
	x.mass[390] = 1 // weighs exp(-3900) at the bottom
	x.logMass = x.tilt*(x.lo+390*x.h) + math.Log(0.4)
	b := bound{tilted: x}
	lo, hi, err := b.epsilon(1e-6)
	if err == nil {
		want := x.lo + 390*x.h + math.Log1p(-1e-6/0.4)
		if hi < want*(1-1e-12) || lo > want*(1+1e-12) {
			t.Errorf("%v to %v, want %v", lo, hi, want)
		}
	} else if !errors.Is(err, ErrCheck) {
		t.Error(err)
	}
	// Delta itself is at most one and never NaN, however far below the masses.
	for _, eps := range []float64{0, 0.5, 1, 3, 4.39, 4.41, 100} {
		if d := b.deltaAt(eps); !(d >= 0 && d <= 1) {
			t.Errorf("delta at %g is %v", eps, d)
		}
	}
}

// With an error of rounding, however small, an upper end of delta holds where its
// sums underflow: what multiplies the error is what was lost. The tilts here span
// thousands of nats of the window.
func TestSteepTiltsKeepTheirSlack(t *testing.T) {
	lost := 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		n := rapid.IntRange(50, 300).Draw(t, "losses")
		tilt := logUniform(t, "tilt", 10, 1e5)
		x := &tilted{h: logUniform(t, "mesh", 1e-4, 0.1), tilt: tilt, mass: make([]float64, n), lo: r.Float64(), fuzz: 1e-20 * math.Exp(10*r.Float64())}
		for range 3 {
			x.mass[r.IntN(n)] += r.Float64() / 3
		}
		x.logMass = x.tilt*(x.lo+x.h*float64(n)*r.Float64()) - 40*r.Float64()
		up := bound{tilted: x, slack: x.fuzz * x.weights(), drift: carried(n)}
		low := bound{tilted: x, slack: -x.fuzz * x.weights(), drift: -carried(n)}
		for range 5 {
			eps := x.lo + x.h*float64(n)*(1.2*r.Float64()-0.1)
			want := exactly(x, eps)
			one := bigOf(1)
			if want.Cmp(one) > 0 {
				want = one
			}
			u, l := up.deltaAt(eps), low.deltaAt(eps)
			w, _ := want.Float64()
			if (bound{tilted: x}).deltaAt(eps) < w/2 {
				lost++
			}
			// Places near eps and exponents of thousands are rounded.
			tol := 1e-9 * w
			if u < w-tol || l > w+tol {
				t.Fatalf("tilt %g over %g nats at %g: %g to %g, want %g", tilt, tilt*x.h*float64(n), eps, l, u, w)
			}
		}
	})
	if lost == 0 {
		t.Error("no sum was lost: not a test")
	}
}

// The width of what may have left a window falls as the window grows, for both
// bounds, and an infinite moment says that nothing is known.
func TestWindowsBoundWhatLeaves(t *testing.T) {
	x := &tilted{lo: -1, h: 0.01, mass: make([]float64, 400), tilt: 1.5, logMass: 0.3, logUp: 4, logDown: 2, fuzz: 1e-17}
	s := span{tilt: 1.5, up: 1.2, down: 0.8}
	wasUp, wasLow := math.Inf(1), math.Inf(1)
	for _, n := range []int{400, 800, 1600, 3200} {
		x.mass = make([]float64, n)
		up, low := x.upper(s), x.lower(s)
		if !(up.extra < wasUp) || !(-low.slack-low.extra < wasLow) {
			t.Errorf("%d losses: %g above the window, %g off the lower bound; before %g and %g", n, up.extra, -low.slack-low.extra, wasUp, wasLow)
		}
		wasUp, wasLow = up.extra, -low.slack-low.extra
		if up.slack <= 0 || low.slack >= 0 || up.drift != carried(n) || low.drift != -carried(n) || low.under != 0 || up.under <= 0 {
			t.Errorf("%d losses: %+v and %+v", n, up, low)
		}
	}
	x.logUp = math.Inf(1)
	if b := x.upper(s); b.usable() == nil {
		t.Errorf("an infinite moment is usable: %+v", b)
	}
}
