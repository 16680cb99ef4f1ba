package exact

import (
	"errors"
	"math"
	"math/cmplx"
	"testing"

	"pgregory.net/rapid"
)

// log and real of any table are log E exp(wL) by definition, and the bound on the
// rounding holds: atoms far apart and close together, tilts that overflow and
// tilts that do nothing.
func TestTablesByDefinition(t *testing.T) {
	overflowed := 0
	rapid.Check(t, func(t *rapid.T) {
		tab := randomAtoms(t, "law")
		by, c := math.Exp(rapid.Float64Range(-8, 4).Draw(t, "log scale")), math.Exp(rapid.Float64Range(-6, 4).Draw(t, "log c"))
		if rapid.Bool().Draw(t, "loud") {
			by, c = math.Exp(rapid.Float64Range(3, 5).Draw(t, "log large scale")), math.Exp(rapid.Float64Range(3, 4).Draw(t, "log large c"))
		}
		// Moved so that exp(-L) has the mean 1, as the ratio of two laws has.
		scaled, ratio := &table{}, 0.0
		for k, l := range tab.loss {
			ratio += tab.p[k] * math.Exp(-by*(l-tab.loss[0]))
		}
		for k, l := range tab.loss {
			scaled.add(by*(l-tab.loss[0])+math.Log(ratio), tab.logp[k], 0)
			scaled.mean += tab.p[k] * scaled.loss[k]
		}
		y := rapid.Float64Range(0, 30).Draw(t, "y")
		most := math.Inf(-1)
		for k, l := range scaled.loss {
			most = math.Max(most, scaled.logp[k]+c*l)
		}
		var sum complex128
		axis := 0.0
		for k, l := range scaled.loss {
			e := math.Exp(scaled.logp[k] + c*l - most)
			sum += complex(e, 0) * cmplx.Exp(complex(0, y*l))
			axis += e
		}
		if most > overflow {
			overflowed++
		}
		turn := 1 + math.Abs(c*scaled.loss[0]) + math.Abs(c*scaled.loss[len(scaled.loss)-1]) + y*by*20
		if got, want := scaled.real(c), most+math.Log(axis); math.Abs(got-want) > 1e-14*turn {
			t.Fatalf("real(%g) = %.17g, want %.17g", c, got, want)
		}
		re, im, noise := scaled.log(c, y)
		if !(noise >= 0) || math.IsNaN(re) || math.IsNaN(im) {
			t.Fatalf("log(%g, %g) = %g, %g, noise %g", c, y, re, im, noise)
		}
		// Compared relative to the value on the axis: off it the law may cancel.
		got := cmplx.Rect(math.Exp(re-most), im)
		if cmplx.Abs(got-sum) > (ulp*noise+1e-14*turn)*axis+ulp*noise*cmplx.Abs(got) {
			t.Fatalf("log(%g, %g): %v, want %v, noise %g", c, y, got, sum, noise*ulp)
		}
		// A table that is cleared forgets, and one used again answers as before.
		again, _, _ := scaled.log(c, y)
		scaled.at(2 * c)
		if third, _, _ := scaled.log(c, y); again != re || third != re {
			t.Fatalf("the same question: %v, %v, %v", re, again, third)
		}
		scaled.clear()
		if len(scaled.loss)+len(scaled.p)+len(scaled.logp)+len(scaled.width) != 0 || scaled.mean != 0 {
			t.Fatalf("cleared: %+v", scaled)
		}
	})
	t.Logf("%d tilts overflow", overflowed)
	if overflowed < 3 { // some 45 of 100
		t.Errorf("only %d tilts overflow", overflowed)
	}
}

// A factor answers the same whatever it was asked before: tables that are laid
// again, larger and smaller, leave nothing behind.
func TestFactorsHaveNoMemory(t *testing.T) {
	for name, l := range laws() {
		for _, d := range []Direction{Remove, Add} {
			fresh := func(c, y float64) [3]float64 {
				f := l.factor(d)
				if err := f.reach(c, y); err != nil {
					t.Fatal(err)
				}
				re, im, _ := f.log(c, y)
				return [3]float64{re, im, f.real(c)}
			}
			used := l.factor(d)
			for _, at := range [][2]float64{{2, 5}, {0.1, 30}, {2, 5}, {7, 1}, {0.5, 5}, {0.5, 5}} {
				if err := used.reach(at[0], at[1]); err != nil {
					t.Fatal(err)
				}
				re, im, noise := used.log(at[0], at[1])
				want := fresh(at[0], at[1])
				if r := used.real(at[0]); math.Abs(r-want[2]) > 2e-13*math.Abs(want[2]) {
					t.Errorf("%s %s: real(%g) = %v, fresh %v", name, d, at[0], r, want[2])
				}
				if off(re, im, want[0], want[1]) > 4*ulp*noise {
					t.Errorf("%s %s at %v: %v%+vi, fresh %v", name, d, at, re, im, want)
				}
				if log, real_ := used.cost(at[1]); log < 1 || real_ < 1 {
					t.Errorf("%s %s: free of cost", name, d)
				}
			}
		}
	}
}

// What no quadrature reaches is an error that says so, and an infinite moment, not a
// number.
func TestFactorsGiveUp(t *testing.T) {
	for name, c := range map[string]struct {
		l    law
		c, y float64
	}{
		"a turn too fast": {sampledGaussian{mu: 1, rate: 0.1}, 1, 1e12},
		"a tilt too far":  {sampledGaussian{mu: 1, rate: 0.1}, 1e9, 1},
		"laplace":         {laplace{shift: 100, rate: 0.5}, 1, 1e9},
		"wide grid":       {discreteGaussian{shift: 1, sigma: 0.5}, 1e9, 1},
	} {
		f := c.l.factor(Remove)
		if err := f.reach(c.c, c.y); !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: %v", name, err)
		}
		if v := f.real(1e12); !math.IsInf(v, 1) {
			t.Errorf("%s: a moment of order 1e12 is %v", name, v)
		}
		// It goes on where it can.
		if err := f.reach(1, 1); err != nil || math.IsInf(f.real(1), 0) {
			t.Errorf("%s: afterwards %v, %v", name, err, f.real(1))
		}
	}
}

// excess and deficit join their series without a step, and are what they say.
func TestExcessAndDeficitMeet(t *testing.T) {
	for _, u := range []float64{0.1, -0.1} {
		in, out := math.Nextafter(u, 0), math.Nextafter(u, 2*u)
		for name, f := range map[string]func(u, l float64) float64{"excess": excess, "deficit": deficit} {
			a, b := f(in, math.Log1p(in)), f(out, math.Log1p(out))
			if math.Abs(a/b-1) > 1e-13 {
				t.Errorf("%s at %g: %.17g inside, %.17g outside", name, u, a, b)
			}
		}
	}
	for _, u := range []float64{1e-12, 1e-5, -1e-5, 0.03, -0.09, 0.5, -0.7, 40} {
		l := math.Log1p(u)
		if small := math.Abs(u) < 1e-4; small && math.Abs(excess(u, l)/(u*u/2-u*u*u/6)-1) > 1e-8 || small && math.Abs(deficit(u, l)/(u*u/2-u*u*u/3)-1) > 1e-8 {
			t.Errorf("u %g: %g and %g", u, excess(u, l), deficit(u, l))
		}
		if !(excess(u, l) > 0 && deficit(u, l) > 0) || (excess(u, l) > deficit(u, l)) != (u > 0) {
			t.Errorf("u %g: %g and %g", u, excess(u, l), deficit(u, l))
		}
	}
}
