package pld

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/numeric"
)

// One pure release has the largest tilts: nothing but its largest loss counts. Its
// epsilon at delta is log(exp(e) - delta (1 + exp(e))).
func TestOnePureRelease(t *testing.T) {
	truth := func(e, delta float64) float64 {
		return e + math.Log(max(1-delta*(1+math.Exp(-e)), math.Exp(-e)))
	}
	if v := truth(1.5, 1e-5); math.Abs(v-1.4999878) > 1e-7 {
		t.Fatalf("the oracle says %v", v)
	}
	hold := func(t interface{ Fatalf(string, ...any) }, e, delta float64, bins int) {
		b, err := Bracket(context.Background(), []terms.Term{pureTerm(e, 1)}, delta, Options{Bins: bins})
		if err != nil {
			if !errors.Is(err, ErrCheck) && !errors.Is(err, ErrInfinite) {
				t.Fatalf("epsilon %g, delta %g, %d bins: %v", e, delta, bins, err)
			}
			return
		}
		want := truth(e, delta)
		if b.Upper < want*(1-1e-14)-1e-15 || b.Lower > want*(1+1e-14)+1e-15 || math.IsInf(b.Rounding, 0) || math.IsNaN(b.Rounding) {
			t.Fatalf("epsilon %g, delta %g, %d bins: %+v, want %v", e, delta, bins, b, want)
		}
	}
	for _, bins := range []int{0, 1 << 10, 1 << 12, 1 << 13, 1 << 14, 1 << 16, 1 << 19} {
		for _, delta := range []float64{1e-14, 1e-9, 1e-7, 1e-6, 1e-5, 1e-3, 0.5} {
			if bins <= 1<<14 || delta == 1e-5 {
				hold(t, 1.5, delta, bins)
			}
		}
		if b, err := Bracket(context.Background(), []terms.Term{pureTerm(1.5, 1)}, 1e-5, Options{Bins: bins}); err != nil {
			t.Errorf("%d bins: %+v, %v", bins, b, err)
		}
	}
	check(t, func(t *rapid.T) {
		hold(t, logUniform(t, "epsilon", 1e-6, 400), logUniform(t, "delta", 1e-15, 0.9), 1<<rapid.IntRange(10, 13).Draw(t, "log bins"))
	})
}

// The same of one Laplace release: e + 2 log(1 - delta).
func TestOneLaplaceRelease(t *testing.T) {
	check(t, func(t *rapid.T) {
		e := logUniform(t, "epsilon", 1e-4, 50)
		delta := logUniform(t, "delta", 1e-15, 0.9)
		b, err := Bracket(context.Background(), []terms.Term{laplaceTerm(1, 1/e, 1)}, delta, small)
		if err != nil {
			if !errors.Is(err, ErrCheck) {
				t.Fatal(err)
			}
			return
		}
		want := max(0, 1/(1/e)+2*math.Log1p(-delta))
		if b.Upper < want*(1-1e-13)-1e-15 || b.Lower > want*(1+1e-13)+1e-15 {
			t.Fatalf("epsilon %g, delta %g: %+v, want %v", e, delta, b, want)
		}
	})
}

// Walking down the losses, epsilon compares sums with a threshold that is carried
// along. Where that overflows, as it does at large tilts far above epsilon, or
// underflows, every loss must be compared. The oracle looks at each loss alone.
func TestLargeTilts(t *testing.T) {
	check(t, func(t *rapid.T) {
		n := rapid.IntRange(300, 2000).Draw(t, "parts")
		tilt := logUniform(t, "tilt", 1, 1e5)
		// No composition tilts by more than a nat or so a cell; beyond that sums of
		// neighbouring cells no longer fit one float64.
		x := &tilted{h: logUniform(t, "mesh", 1e-5, math.Min(0.1, 1/tilt)), tilt: tilt, mass: make([]float64, n)}
		for range rapid.IntRange(1, 4).Draw(t, "masses") {
			x.mass[rapid.IntRange(0, n-1).Draw(t, "at")] += rapid.Float64Range(0.01, 1).Draw(t, "mass")
		}
		x.lo = rapid.Float64Range(0, 1).Draw(t, "from")
		delta := logUniform(t, "delta", 1e-12, 0.5)
		// The mass of some loss is about delta.
		x.logMass = x.tilt*(x.lo+x.h*float64(rapid.IntRange(0, n-1).Draw(t, "middle"))) + math.Log(delta)
		b := bound{tilted: x}
		lo, hi, err := b.epsilon(delta)
		if errors.Is(err, ErrCheck) {
			return // a gap of 745 nats between masses: the sums underflow, which is noticed
		}
		if err != nil {
			t.Fatal(err)
		}
		if !math.IsInf(hi, 1) {
			if v := b.deltaAt(hi); v > delta*(1+1e-9) {
				t.Fatalf("delta at the upper end %v is %v, above %v", hi, v, delta)
			}
		}
		if lo >= 0 {
			if v := b.deltaAt(lo); v < delta*(1-1e-9) {
				t.Fatalf("delta at the lower end %v is %v, below %v", lo, v, delta)
			}
		}
		above := 0.0 // delta at every loss at or above hi, one by one
		for j := range n {
			if l := x.lo + float64(j)*x.h; l > hi {
				above += x.mass[j] * math.Exp(x.logMass-x.tilt*l) * -math.Expm1(hi-l)
			}
		}
		if above > delta*(1+1e-6) {
			t.Fatalf("delta at %v is %v, above %v", hi, above, delta)
		}
	})
}

// A threshold that overflows at the top of a window: the loss at which delta is
// passed is within what 256 steps would skip.
func TestThresholdOverflow(t *testing.T) {
	x := &tilted{h: 1e-3, tilt: 1e5, mass: make([]float64, 400), lo: 1}
	x.mass[150] = 1 // at 1.15, where the threshold is near one
	x.logMass = x.tilt*1.15 + math.Log(0.1)
	b := bound{tilted: x}
	lo, hi, err := b.epsilon(1e-5)
	want := 1.15 + math.Log1p(-1e-4)
	if err != nil || !(hi >= want*(1-1e-12) && lo <= want*(1+1e-12)) {
		t.Errorf("%v to %v, %v; want %v", lo, hi, err, want)
	}
}

// Bounds of errors that are infinite or no numbers never reach an answer.
func TestInfiniteErrors(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	good := Bounds{Lower: 1, Upper: 2}
	if err := good.check(query{solve: true}); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Bounds){
		"rounding":          func(b *Bounds) { b.Rounding = inf },
		"rounding nan":      func(b *Bounds) { b.Rounding = nan },
		"negative rounding": func(b *Bounds) { b.Rounding = -1e-9 },
		"truncated":         func(b *Bounds) { b.Truncated = inf },
		"truncated nan":     func(b *Bounds) { b.Truncated = nan },
		"order":             func(b *Bounds) { b.Lower = 3 },
		"lower nan":         func(b *Bounds) { b.Lower = nan },
		"upper nan":         func(b *Bounds) { b.Upper = nan },
	} {
		b := good
		spoil(&b)
		if err := b.check(query{solve: true}); !errors.Is(err, ErrCheck) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := good
	b.Upper = inf
	if err := b.check(query{solve: true}); !errors.Is(err, ErrInfinite) {
		t.Error(err)
	}
	if err := b.check(query{}); !errors.Is(err, ErrCheck) {
		t.Error(err)
	}
	for _, v := range []float64{inf, -inf, nan} {
		if err := (bound{slack: v}).usable(); !errors.Is(err, ErrCheck) {
			t.Errorf("slack %v: %v", v, err)
		}
		if err := (bound{extra: v}).usable(); !errors.Is(err, ErrCheck) {
			t.Errorf("extra %v: %v", v, err)
		}
		for name, spoil := range map[string]func(*tilted){
			"mass": func(x *tilted) { x.logMass = v }, "up": func(x *tilted) { x.logUp = v }, "down": func(x *tilted) { x.logDown = v },
			"fuzz": func(x *tilted) { x.fuzz = v }, "sum fuzz": func(x *tilted) { x.sumFuzz = v },
		} {
			x := &tilted{h: 1, mass: []float64{0.5, 0.5}, tilt: 1, sum: 1, sumFuzz: 1e-9, fuzz: 1e-12}
			spoil(x)
			if err := x.check(inf); !errors.Is(err, ErrCheck) {
				t.Errorf("%s %v: %v", name, v, err)
			}
		}
	}
}

// No loss is above the sum of the largest: beyond, delta is nothing but
// what rounds, at whatever tilt.
func TestDeltaBeyondTheLargestLoss(t *testing.T) {
	for _, ts := range [][]terms.Term{{pureTerm(1.5, 1)}, {pureTerm(0.5, 40)}, {laplaceTerm(1, 2, 5)}, {laplaceTerm(0.1, 1, 3)}} {
		for _, eps := range []float64{30, 100, 1e6} {
			b, err := DeltaBracket(context.Background(), ts, eps, small)
			if err != nil {
				if !errors.Is(err, ErrCheck) && !errors.Is(err, ErrNotCovered) {
					t.Error(err)
				}
				continue
			}
			// The masses that make up infinity are rounded.
			if b.Upper > 1e-15 || b.Lower != 0 || b.Rounding != 0 {
				t.Errorf("%v at %v: %+v", ts, eps, b)
			}
		}
	}
}

// Cells whose Q mass underflows: P is far from Q. The masses stay one, bound the
// exact hockey stick, and the composition holds the closed form.
func TestUnderflowOfQ(t *testing.T) {
	for _, mu := range []float64{30, 45, 90, 400, 995, 1999} {
		x, err := gaussian(mu)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := x.cut(1e-20, true)
		c := x.discretise(context.Background(), (hi-lo)/4000, lo, hi)
		zero := 0
		for i, q := range c.q {
			if q <= tiny && c.p[i] > 1e-6 {
				zero++
			}
		}
		if mu > 45 && zero < 100 {
			t.Errorf("mu %g: %d cells underflow: not a test", mu, zero)
		}
		up, low := c.upper(), c.lower()
		if total := up.total(); math.Abs(total-1) > 2e-13 {
			t.Errorf("mu %g: the masses sum to 1%+g", mu, total-1)
		}
		for i := range 200 {
			eps := lo + (hi-lo)*(float64(i)+0.37)/200
			want := 0.0 // P above less exp(eps) Q above
			if a := mu/2 - eps/mu; a <= 0 {
				want = math.Exp(numeric.LogPhi(a)) * numeric.MillsDifference(-a, mu)
			} else {
				want = numeric.Upper(-a) - math.Exp(eps+numeric.LogPhi(mu-a)+math.Log(numeric.Mills(mu-a)))
			}
			u, l := hockeyStick(up, eps), hockeyStick(low, eps)
			tol := 1e-12*want + 1e-19
			if math.IsNaN(want) || u < want-tol-1e-13 || l > want+tol+1e-13 {
				t.Errorf("mu %g, eps %g: %g <= %g <= %g", mu, eps, l, want, u)
			}
		}
		for _, delta := range []float64{1e-3, 1e-6, 1e-10} {
			b, err := Bracket(context.Background(), []terms.Term{gaussianTerm(1, 1, mu, "add-remove", 1)}, delta, small)
			if err != nil {
				t.Errorf("mu %g: %v", mu, err)
				continue
			}
			deltaAt := func(eps float64) float64 {
				a := mu/2 - eps/mu
				return math.Exp(numeric.LogPhi(a)) * numeric.MillsDifference(-a, mu)
			}
			if u, l := deltaAt(b.Upper), deltaAt(b.Lower); !(u <= delta*(1+1e-8)) || !(l >= delta*(1-1e-8)) {
				t.Errorf("mu %g, delta %g: delta is %g at %v and %g at %v", mu, delta, u, b.Upper, l, b.Lower)
			}
		}
	}
}
