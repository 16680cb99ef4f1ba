package exact

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/numeric"
)

// alone is Gaussians without their closed form: what the integral makes of them.
func alone(mu float64) *integral {
	return &integral{terms: []counted{{gaussian{mu * mu}, 1}}, most: math.Inf(1), budget: work}
}

// The integral of Gaussians against their closed form, over all that a user may
// ask: both functions are right to many digits, and the error says how many.
func TestIntegralOfGaussians(t *testing.T) {
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		mu := math.Exp(rapid.Float64Range(math.Log(1e-3), math.Log(60)).Draw(t, "log mu"))
		delta := math.Exp(rapid.Float64Range(math.Log(1e-15), math.Log(0.5)).Draw(t, "log delta"))
		if numeric.GaussianLogDelta(mu, 0) < math.Log(delta) {
			if v, err := alone(mu).epsilon(delta); err != nil || v.Epsilon != 0 {
				t.Fatalf("%+v, %v, want 0", v, err)
			}
			return
		}
		want := smallest(func(e float64) float64 { return numeric.GaussianLogDelta(mu, e) }, math.Log(delta),
			gaussBound(mu, delta))
		v, err := alone(mu).epsilon(delta)
		if err != nil {
			t.Fatal(err)
		}
		slack := 1e-14*want + gaussError(mu, want)*mu
		if v.Epsilon < want-slack || v.Epsilon-v.Error > want+slack {
			t.Fatalf("%+v does not bracket %.17g", v, want)
		}
		worst = max(worst, math.Abs(v.Epsilon-want)/want)
		d, err := alone(mu).delta(want)
		if err != nil || math.Abs(d.Delta/delta-1) > 1e-9 || d.Delta < delta*(1-gaussError(mu, want)) {
			t.Fatalf("%+v, %v, want %g", d, err, delta)
		}
	})
	if worst > 1e-8 {
		t.Errorf("worst relative error %g", worst)
	}
	t.Logf("worst relative error %.2g", worst)
}

// A step that is too large adds images: never less than nothing, never more than
// the bound, and the bound is not idle.
func TestImages(t *testing.T) {
	tight := 0
	for _, mu := range []float64{0.3, 1, 4} {
		for _, eps := range []float64{0, 0.5, 3} {
			exact := numeric.GaussianLogDelta(mu, eps)
			for _, c := range []float64{0.7, 2, 6} {
				g := alone(mu)
				fine := g.stepFor(c, eps, exact, 34)
				for _, coarser := range []float64{1, 3, 6, 12} {
					step := fine * coarser
					l := &line{c: c, step: step}
					l.peak = g.real(c)
					for j := 0.0; j < 4000; j++ {
						y := j * step
						re, im, noise := g.log(c, y)
						w := complex(c, y)
						k := w * (w + 1)
						l.k = append(l.k, complex(re-l.peak-math.Log(math.Hypot(real(k), imag(k))), im-math.Atan2(imag(k), real(k))))
						l.noise = append(l.noise, noise)
						weight := step / math.Pi
						if j == 0 {
							weight /= 2
						}
						l.weight = append(l.weight, weight)
					}
					log, r := l.at(eps)
					over, bound := math.Expm1(log-exact), g.images(c, step, eps, exact)
					if r > 1e-3 { // far off the saddle rounding is all
						continue
					}
					if over < -2*r-1e-12 || over > bound+2*r+1e-12 {
						t.Errorf("mu %g eps %g c %g, %g steps: %.3g over, bound %.3g, rounding %.2g", mu, eps, c, coarser, over, bound, r)
					}
					if coarser == 1 && bound > 1e-13 {
						t.Errorf("mu %g eps %g c %g: bound %g at the step that was asked for", mu, eps, c, bound)
					}
					if over > bound/1000 && bound > 1e-6 {
						tight++
					}
				}
			}
		}
	}
	if tight < 20 {
		t.Errorf("only %d bounds are within a factor of 1000", tight)
	}
}

// What is left out beyond any point is below the bound of the tail.
func TestTail(t *testing.T) {
	l := sampledGaussian{mu: 1, rate: 0.02}
	const c, step = 3., 0.25
	g := &integral{terms: []counted{{l.factor(Remove), 800}}, most: math.Inf(1), budget: math.MaxInt}
	if err := g.reach(c, 400); err != nil {
		t.Fatal(err)
	}
	base := g.real(c)
	size := func(y float64) float64 { // twice the real part is at most this, relative to exp(base)
		re, _, _ := g.log(c, y)
		return math.Exp(re-base) / math.Hypot(c, y) / math.Hypot(c+1, y) * step / math.Pi
	}
	for _, from := range []float64{6, 10, 15, 25, 40} {
		rest := 0.0
		for y := from + step; y < 400; y += step {
			rest += size(y)
		}
		bound := g.tail(c, from, math.Inf(1), 1)
		if !(rest <= bound) || bound > 1 {
			t.Errorf("beyond %g: %g, bound %g", from, rest, bound)
		}
		if from == 40 && bound > 1e-12 {
			t.Errorf("bound %g at %g", bound, from)
		}
	}
}

// A call stops when its work is done, and says so.
func TestBudget(t *testing.T) {
	for _, l := range laws() {
		for _, budget := range []int{0, 100, 3000} {
			g := &integral{terms: []counted{{l.factor(Remove), 50}, {gaussian{1e-6}, 1}}, most: math.Inf(1), budget: budget}
			v, err := g.epsilon(1e-6)
			if budget == 0 && !errors.Is(err, ErrNotCovered) || err != nil && v != (Value{}) {
				t.Errorf("%+v with %d: %+v, %v", l, budget, v, err)
			}
			g.budget = budget
			if v, err := g.delta(0.3); err != nil && (!errors.Is(err, ErrNotCovered) || v != (Value{})) {
				t.Errorf("%+v with %d: %+v, %v", l, budget, v, err)
			}
			if g.budget < -40*mostNodes {
				t.Errorf("%+v: %d over its budget of %d", l, -g.budget, budget)
			}
		}
	}
}

func TestMinimise(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		f    func(x float64) float64
		from float64
		want float64
	}{
		"here":       {func(x float64) float64 { return math.Pow(math.Log(x), 2) }, 1, 1},
		"right":      {func(x float64) float64 { return math.Pow(math.Log(x/5000), 2) }, 1, 5000},
		"left":       {func(x float64) float64 { return math.Pow(math.Log(x/1e-7), 2) }, 4, 1e-7},
		"steep":      {func(x float64) float64 { return math.Exp(x) / x }, 0.01, 1},
		"nan beyond": {func(x float64) float64 { return map[bool]float64{true: nan, false: -x}[x > 3] }, 1, 3},
		"starts bad": {func(x float64) float64 { return map[bool]float64{true: nan, false: -x}[x > 1e-3] }, 1, 1e-3},
	} {
		if got := minimise(c.f, c.from); math.Abs(math.Log(got/c.want)) > 0.1 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
	// Without an end it stops at the ends of the range.
	if got := minimise(func(x float64) float64 { return -x }, 1); got < mostC {
		t.Errorf("falling: %g", got)
	}
	if got := minimise(func(x float64) float64 { return x }, 1); got > leastC*3 {
		t.Errorf("rising: %g", got)
	}
	if got := minimise(func(x float64) float64 { return nan }, 1); !(got > 0) {
		t.Errorf("nowhere: %g", got)
	}
}

func TestChernoff(t *testing.T) {
	for _, c := range []float64{1e-6, 0.1, 1, 30, 1e6} {
		best := 0.0
		for i := range 400_000 {
			x := math.Exp(-16 + 32*float64(i)/400_000)
			best = math.Max(best, -math.Expm1(-x)*math.Exp(-c*x))
		}
		if got := math.Exp(chernoff(c)); math.Abs(got/best-1) > 1e-4 {
			t.Errorf("c %g: %g, largest %g", c, got, best)
		}
	}
}

// The values of a curve known with an error keep to the safe side of it.
func TestValueRounding(t *testing.T) {
	curve := func(e float64) float64 { return -2 * e }
	flat := func(float64) float64 { return 1e-8 }
	v, err := Value{}.solved(curve, flat, math.Log(1e-4), 10)
	if want := math.Log(1e4) / 2; err != nil || v.Epsilon < want+0.5e-8 || v.Epsilon-v.Error > want-0.5e-8 || v.Error > 1e-7 {
		t.Errorf("%+v, %v, want %v", v, err, want)
	}
	if v, err := (Value{}).solved(curve, flat, 1, 10); err != nil || v.Epsilon != 0 || v.Error != 0 {
		t.Errorf("below from the start: %+v, %v", v, err)
	}
	if v, err := (Value{}).solved(curve, func(float64) float64 { return 1e-3 }, -3, 10); !errors.Is(err, ErrNotCovered) {
		t.Errorf("a loud curve: %+v, %v", v, err)
	}
	v, err = Value{}.at(math.Log(0.3), 1e-8)
	if err != nil || v.Delta < 0.3*(1+1e-8) || v.Delta-v.Error > 0.3*(1-1e-8) || v.Error > 1e-8 {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := (Value{}).at(0, 1e-7); err != nil || v.Delta != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := (Value{}).at(-1e4, 1e-9); err != nil || v.Delta == 0 || v.Delta > 1e-300 {
		t.Errorf("below all numbers: %+v, %v", v, err)
	}
	if v, err := (Value{}).at(-3, 1e-3); !errors.Is(err, ErrNotCovered) {
		t.Errorf("a loud delta: %+v, %v", v, err)
	}
	if v, err := (Value{}).at(math.NaN(), 0); !errors.Is(err, ErrNotCovered) {
		t.Errorf("no delta: %+v, %v", v, err)
	}
}

// A value that disagrees with the Rényi bound is not returned.
func TestCrossCheck(t *testing.T) {
	g := alone(1)
	l, err := g.build(5, 4.4, math.Log(1e-5), quiet)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := (Value{}).within(l, 4.4, 1e-12, math.Log(1e-5), 4.3); !errors.Is(err, ErrNotCovered) {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := (Value{}).within(l, -1, 1e-12, math.Log(1e-5), 4.3); err != nil || v.Epsilon != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	eps, r := l.solve(math.Log(1e-5), 4.4)
	if math.Abs(eps-4.3771780956812245) > 1e-9 || !(r < 1e-9) {
		t.Errorf("solved %v, error %g", eps, r)
	}
	// Far off the line the images are all there is, and the bound knows.
	if log, _ := l.at(600); !(g.images(l.c, l.step, 600, log) > 0.1) {
		t.Errorf("images %g of exp(%g)", g.images(l.c, l.step, 600, log), log)
	}
}

// Thinning a base curve is an identity at rate one and a scaling at epsilon 0.
func TestThin(t *testing.T) {
	base := func(e float64) float64 { return logLaplace(2, e) }
	for _, d := range []Direction{Remove, Add} {
		for _, eps := range []float64{0, 0.3, 1.9} {
			if a, b := sampledCurve(1, d, base)(eps), base(eps); math.Abs(a-b) > 1e-14*math.Abs(b) {
				t.Errorf("%s at %g: %g, want %g", d, eps, a, b)
			}
		}
		if a, b := sampledCurve(0.2, d, base)(0), base(0)+math.Log(0.2); math.Abs(a-b) > 1e-14 {
			t.Errorf("%s: %g, want %g", d, a, b)
		}
	}
	if a := sampledCurve(0.2, Add, base)(0.3); !math.IsInf(a, -1) {
		t.Errorf("beyond -log(1-q): %g", a)
	}
	if a := baseEpsilon(1e-9, Remove, 900); math.Abs(a-(900+9*math.Ln10)) > 1e-9 {
		t.Errorf("far out: %g", a)
	}
}
