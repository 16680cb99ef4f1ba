package secure

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// The numbers of an event, by rationals: its sensitivity is at least that asked for
// in steps and the root of the dimension (the dimension for l1) on top, its noise
// stands to it at least as asked for, and is what the sampler really draws from.
// Rounding to nearest where the code rounds up would break a promise now and then.
func TestEventsOfTheLatticeKeepTheirPromise(t *testing.T) {
	broken, planned, drawn := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		drawn++
		digits := rapid.SampledFrom([]int{24, 53}).Draw(t, "digits")
		sigma := math.Exp(rapid.Float64Range(-8, 8).Draw(t, "log sigma"))
		sens := sigma * math.Exp(rapid.Float64Range(-3, 3).Draw(t, "log sensitivity"))
		dim := rapid.Int64Range(1, 40).Draw(t, "dimension")
		bound := sigma * rapid.Float64Range(1, 1000).Draw(t, "bound")
		g := DiscreteGaussian{Purpose: "p", Sigma: sigma, Sensitivity: sens, Dimension: dim, Bound: bound, Unit: privacy.User, Neighbouring: privacy.AddRemove}
		l := DiscreteLaplace{Purpose: "p", Scale: sigma, Sensitivity: sens, Dimension: dim, Bound: bound, Unit: privacy.User, Neighbouring: privacy.AddRemove}
		grid, e, err := g.plan(digits)
		grid2, e2, err2 := l.plan(digits)
		if err != nil || err2 != nil {
			return // does not fit into the type: refused, which is tested elsewhere
		}
		planned++
		for _, c := range []struct {
			name         string
			l            *lattice
			noise, moved float64
		}{{"gaussian", grid, e.Sigma, e.Sensitivity}, {"laplace", grid2, e2.Scale, e2.Sensitivity}} {
			step, stated := mechanismtest.Rat(c.l.Step), mechanismtest.Rat(c.moved)
			room := new(big.Rat).Sub(stated, new(big.Rat).Quo(mechanismtest.Rat(sens), step)) // what is left for rounding
			need := new(big.Rat).SetInt64(dim)
			if c.name == "gaussian" { // at least its root
				room.Mul(room, room)
			}
			if room.Cmp(need) < 0 {
				t.Fatalf("%s: %v leaves too little room for rounding %d values", c.name, c.moved, dim)
			}
			ratio := new(big.Rat).Quo(mechanismtest.Rat(c.noise), stated)
			asked := new(big.Rat).Quo(mechanismtest.Rat(sigma), mechanismtest.Rat(sens))
			if ratio.Cmp(asked) < 0 {
				t.Fatalf("%s: noise of %s sensitivities, asked for %s", c.name, ratio.FloatString(20), asked.FloatString(20))
			}
			drawn := new(big.Rat).SetFrac(new(big.Int).SetUint64(c.l.noise.Num), new(big.Int).SetUint64(c.l.noise.Den))
			if drawn.Cmp(mechanismtest.Rat(c.noise)) != 0 {
				t.Fatalf("%s: the sampler draws from %s, the event says %v", c.name, c.l.noise, c.noise)
			}
			if f, _ := ratio.Quo(ratio, asked).Float64(); f > 1+1e-6 {
				t.Fatalf("%s: noise wasted, %g times what was asked for", c.name, f)
			}
		}
		nearest := sigma / grid.Step * (e.Sensitivity / (sens / grid.Step))
		if new(big.Rat).Quo(mechanismtest.Rat(nearest), mechanismtest.Rat(e.Sensitivity)).Cmp(new(big.Rat).Quo(mechanismtest.Rat(sigma), mechanismtest.Rat(sens))) < 0 {
			broken++
		}
	})
	t.Logf("%d plans of %d draws, %d of which rounding to nearest would break", planned, drawn, broken)
	if 10*planned < 3*drawn || broken == 0 { // -short draws fewer
		t.Error("too few plans, or none that rounding to nearest would break")
	}
}

// renyi is the Rényi divergence of two laws shifted against each other, by sums.
func renyi(pmf func(k int64) float64, shift int64, alpha float64, far int64) float64 {
	sum := 0.0
	for k := -far; k <= far; k++ {
		if p, q := pmf(k-shift), pmf(k); p > 0 && q > 0 {
			sum += math.Exp(alpha*math.Log(p) - (alpha-1)*math.Log(q))
		}
	}
	return math.Log(sum) / (alpha - 1)
}

// Discrete normal noise of whole steps costs no more than normal noise (Canonne,
// Kamath, Steinke, theorem 4): alpha m²/(2 sigma²) at any order and shift, and just
// that where alpha times the shift is whole. Half the noise would cost more.
func TestDiscreteGaussianRenyi(t *testing.T) {
	for _, s := range []float64{0.6, 1, 2.3, 5} {
		law := DiscreteGaussianLaw{s}
		far := int64(40*s) + 60
		for _, shift := range []int64{1, 2, 3} {
			for _, alpha := range []float64{1.25, 1.5, 2, 3, 4.5} {
				if alpha*float64(shift)/s > 25 {
					continue // beyond the sums' range
				}
				want := alpha * float64(shift*shift) / (2 * s * s)
				got := renyi(law.PMF, shift, alpha, far)
				whole := alpha*float64(shift) == math.Trunc(alpha*float64(shift))
				if got > want*(1+1e-11) || whole && got < want*(1-1e-11) {
					t.Errorf("sigma %g, shift %d, order %g: %g, want %g (whole: %v)", s, shift, alpha, got, want, whole)
				}
				if half := renyi(DiscreteGaussianLaw{s * 0.9}.PMF, shift, alpha, far); half <= want {
					t.Errorf("sigma %g, order %g: a tenth less noise passes", s, alpha)
				}
			}
		}
	}
}

// Two values that are the sensitivity apart may be rounded apart by a step more.
// With noise that was not widened for it the loss is above what is asked for; with
// the lattice's own noise it is not, for any pair and any output, clamped or not.
func TestRoundingCostsWithoutWidening(t *testing.T) {
	m := DiscreteLaplace{Purpose: "p", Scale: 3, Sensitivity: 1, Dimension: 1, Bound: 20, Grid: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	l, e, err := m.plan(24)
	if err != nil {
		t.Fatal(err)
	}
	asked := m.Sensitivity / m.Scale
	loss := func(law DiscreteLaplaceLaw, x, y float64, limit int64) (worst float64) {
		a, b := int64(l.Round(x)), int64(l.Round(y))
		at := func(centre, out int64) (p float64) {
			if out > -limit && out < limit {
				return law.PMF(out - centre)
			}
			for k := int64(0); k < 400; k++ { // all beyond the limit comes out at it
				p += law.PMF(max(out, -out) + k - int64(math.Copysign(1, float64(out)))*centre)
			}
			return p
		}
		for out := -limit; out <= limit; out++ {
			worst = max(worst, math.Abs(math.Log(at(a, out)/at(b, out))))
		}
		return worst
	}
	widened, plain := 0.0, 0.0
	s := rng.Seed(7).Stream("pairs")
	for i := range 400 {
		x := 50*s.Float64() - 25 // some beyond the bound
		y := x + 2*s.Float64() - 1
		if i%3 == 0 { // the worst: halves go to the even number, so away from each other
			x = 2*math.Floor(x/2) + 0.5
			y = x + 1
		}
		widened = max(widened, loss(DiscreteLaplaceLaw{e.Scale}, x, y, 30))
		plain = max(plain, loss(DiscreteLaplaceLaw{m.Scale}, x, y, 30))
	}
	if widened > asked*(1+1e-9) || widened < asked*0.99 {
		t.Errorf("a loss of %g, asked for %g", widened, asked)
	}
	if plain < asked*1.4 {
		t.Errorf("without widening a loss of %g only: the pairs do not show it", plain)
	}
}

// The output for any input is on the grid and within the limit, and the
// noise of a key does not depend on the values: the support tells nothing of them.
// Noise added to values as they are would leave the grid.
func TestNoiseDoesNotDependOnTheValues(t *testing.T) {
	t.Run("float32", testNoiseIsOblivious[float32])
	t.Run("float64", testNoiseIsOblivious[float64])
}

func testNoiseIsOblivious[T mechanism.Float](t *testing.T) {
	m := DiscreteGaussian{Purpose: "p", Sigma: 0.7, Sensitivity: 0.5, Dimension: 3, Bound: 4, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	l, _, err := m.plan(digits[T]())
	if err != nil {
		t.Fatal(err)
	}
	perturbed := func(t testing.TB, x []T) []T {
		c, err := OpenKeyedGaussian[T](m, mechanismtest.Ledger(t), rng.Seed(3).Stream("oblivious"))
		if err != nil {
			t.Fatal(err)
		}
		y := slices.Clone(x)
		if err := c.Perturb(y, 3, 1, 5, 2); err != nil {
			t.Fatal(err)
		}
		return y
	}
	noise := perturbed(t, make([]T, 3))
	rapid.Check(t, func(rt *rapid.T) {
		x := make([]T, 3)
		for i := range x {
			x[i] = T(rapid.Float64Range(-6, 6).Draw(rt, "x"))
			if rapid.IntRange(0, 9).Draw(rt, "huge") == 0 {
				x[i] *= 1e30
			}
		}
		for i, y := range perturbed(t, x) {
			k := float64(y) / l.Step
			if k != math.Trunc(k) || math.Abs(k) > float64(l.Limit) {
				rt.Fatalf("%v became %v: %v steps", x[i], y, k)
			}
			if got, want := k-l.Round(float64(x[i])), float64(noise[i])/l.Step; got != want {
				rt.Fatalf("noise of %v steps at %v, of %v at 0", got, x[i], want)
			}
			if v := float64(x[i]); math.Abs(v) < 4 && math.Abs(l.Round(v)*l.Step-v) > l.Step/2 {
				rt.Fatalf("%v is rounded by more than half a step", v)
			}
		}
	})
	off := 0
	s := rng.Seed(4).Stream("values")
	for range 100 { // the fault: not rounded before noise is added
		if v := T(s.Float64()) + T(5*l.Step); float64(v)/l.Step != math.Trunc(float64(v)/l.Step) {
			off++
		}
	}
	if off < 40 {
		t.Errorf("%d of 100 values that were not rounded are off the grid", off)
	}
}

// A release through the exported mechanism has the law of its event around the
// rounded value, at values between two steps too: chi-square, false alarm 1e-9. The
// law around the next step does not fit.
func TestReleasesHaveTheLawOfTheEvent(t *testing.T) {
	const n = 20_000
	for _, x := range []float64{0, 0.49, -2.51, 7.5, 1000} {
		m := DiscreteLaplace{Purpose: "p", Scale: 2, Sensitivity: 1, Dimension: 1, Bound: 64, Grid: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
		c, err := OpenKeyedLaplace[float64](m, mechanismtest.Ledger(t), rng.Seed(5).Stream("law"))
		if err != nil {
			t.Fatal(err)
		}
		e, ok := c.Event().(privacy.DiscreteLaplace)
		if !ok || math.Abs(e.Scale-4) > 1e-6 || math.Abs(e.Sensitivity-2) > 1e-6 || e.Sensitivity < 2 {
			t.Fatalf("event %v, want twice of all for rounding", c.Event())
		}
		y := slices.Repeat([]float64{x}, n)
		if err := c.Perturb(y, 100, 1); err != nil {
			t.Fatal(err)
		}
		centre := math.RoundToEven(math.Max(-64, math.Min(64, x)))
		at := func(to float64) func() int64 {
			i := -1
			return func() int64 { i++; return int64(y[i] - to) }
		}
		mechanismtest.CheckLaw(t, "released", n, 1, at(centre), DiscreteLaplaceLaw{e.Scale}.PMF)
		if mechanismtest.CheckLaw(mechanismtest.Quiet{TB: t}, "the next step", n, 1, at(centre+1), DiscreteLaplaceLaw{e.Scale}.PMF) {
			t.Errorf("%g: the law around the next step passes too", x)
		}
	}
}
