package accountant

import (
	"errors"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/rng"
)

func noise(sigma float64) privacy.Gaussian {
	return privacy.Gaussian{Sigma: sigma, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
}

func poisson(e privacy.Event, q float64) privacy.Event {
	return privacy.Sampled{Event: e, Rate: q, Method: privacy.Poisson}
}

func spent(t testing.TB, m Method, relation privacy.Neighbouring, delta float64, n int64, events ...privacy.Event) Result {
	t.Helper()
	a, err := New(m, privacy.Record, relation)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := a.Charge(e, n); err != nil {
			t.Fatal(err)
		}
	}
	r, err := a.Spent(delta)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// One composition under every method: the exact number within the bracket, below
// the Rényi bound. Reference values: goldens pld_eps, dpsgd_rdp_eps, laplace.
func TestMethodsAgree(t *testing.T) {
	laplace := privacy.Laplace{Scale: 10, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	for name, c := range map[string]struct {
		events []privacy.Event
		n      int64
		delta  float64
		want   float64
		within float64
	}{
		"gaussian":         {[]privacy.Event{noise(40)}, 100, 1e-6, 1.0607018623282738, 1e-9},
		"sampled":          {[]privacy.Event{poisson(noise(300), 1)}, 234000, 1e-5, 7.69064275477024, 1e-9},
		"sampled gaussian": {[]privacy.Event{poisson(noise(20), 0.2)}, 500, 1e-6, 0.9446402857149574, 2e-6},
		"one sampled":      {[]privacy.Event{poisson(noise(1), 0.01)}, 1, 1e-6, 0.36394783961550853, 1e-9},
		"laplace":          {[]privacy.Event{laplace}, 100, 1e-5, 4.2203473250724794, 1e-5},
		"sampled laplace":  {[]privacy.Event{poisson(privacy.Laplace{Scale: 1, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}, 0.02)}, 500, 1e-5, 1.6586752416397126, 2e-5},
	} {
		t.Run(name, func(t *testing.T) {
			exact := spent(t, Contour, privacy.AddRemove, c.delta, c.n, c.events...)
			bracket := spent(t, PLD, privacy.AddRemove, c.delta, c.n, c.events...)
			bound := spent(t, RDP, privacy.AddRemove, c.delta, c.n, c.events...)
			if math.Abs(exact.Epsilon-c.want) > c.within {
				t.Errorf("exact %v by %s, want %v within %v", exact.Epsilon, exact.Method, c.want, c.within)
			}
			if exact.Method == string(PLD) != (len(exact.Notes) > 0) {
				t.Errorf("by %s with the notes %q", exact.Method, exact.Notes)
			}
			if !(bracket.Lower <= c.want+c.within && c.want-c.within <= bracket.Epsilon) {
				t.Errorf("the bracket [%v, %v] is beside %v", bracket.Lower, bracket.Epsilon, c.want)
			}
			if bound.Epsilon < c.want || bound.Order <= 1 {
				t.Errorf("the rényi bound %v at order %v is below %v", bound.Epsilon, bound.Order, c.want)
			}
			if bracket.Lower > exact.Epsilon*(1+1e-9) || exact.Epsilon > bracket.Epsilon*(1+1e-9) {
				t.Errorf("exact %v outside [%v, %v]", exact.Epsilon, bracket.Lower, bracket.Epsilon)
			}
		})
	}
}

// A replaced record moves a clipped sum twice as far as an added one.
func TestReplace(t *testing.T) {
	g := noise(1)
	g.Sensitivity, g.Norm, g.Neighbouring = 2, 1, privacy.Replace
	r := spent(t, Contour, privacy.Replace, 1e-5, 1000, poisson(g, 0.01))
	if math.Abs(r.Epsilon-2.8434402716927365) > 1e-5 {
		t.Errorf("epsilon %v, want 2.84344", r.Epsilon)
	}
}

// What the exact method cannot do is done by the next best, which says so.
func TestFallback(t *testing.T) {
	choice := privacy.Exponential{Epsilon: 0.1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	r := spent(t, Contour, privacy.AddRemove, 1e-5, 1000, choice)
	if r.Method != string(RDP) || len(r.Notes) != 1 || math.Abs(r.Epsilon-8.079232649880330) > 0.01 {
		t.Errorf("%+v", r)
	}
	mixed := privacy.Parallel{Events: []privacy.Event{noise(3), choice}}
	if r := spent(t, Contour, privacy.AddRemove, 1e-5, 10, mixed); r.Method != string(RDP) || !strings.Contains(r.Notes[0], "known to be the worst") {
		t.Errorf("%+v", r)
	}
	a, err := New(PLD, privacy.Record, privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Charge(choice, 1); err == nil {
		t.Error("the bracket's own accountant took a choice")
	}
}

// Gaussians are in closed form however far from one their noise is.
func TestExtremeGaussians(t *testing.T) {
	for _, sigma := range []float64{1e-20, 1e-3, 1e6, 1e20} {
		r := spent(t, Contour, privacy.AddRemove, 1e-5, 1, noise(sigma))
		want, err := Exact(1/sigma, 1e-5)
		if err != nil || r.Epsilon != want || r.Method != string(Contour) {
			t.Errorf("sigma %v: %v by %s, want %v (%v)", sigma, r.Epsilon, r.Method, want, err)
		}
	}
}

// A wrong integral is noticed: here the value that a trial version returned, and
// others on both sides of the truth, 0.4936.
func TestDoubt(t *testing.T) {
	a, err := New(Contour, privacy.Record, privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Charge(poisson(noise(1), 64.0/60000), 9380); err != nil {
		t.Fatal(err)
	}
	ts, err := a.list.Worst()
	if err != nil {
		t.Fatal(err)
	}
	q := question{ctx: t.Context(), delta: 1e-5}
	for _, wrong := range []float64{0, 0.4018, 0.45, 0.55, 0.9} {
		if _, err := q.doubt(ts, a.list, wrong, wrong); err == nil {
			t.Errorf("%v passed", wrong)
		}
	}
	if note, err := q.doubt(ts, a.list, 0.4936, 0.4936); err != nil || note != "" {
		t.Error(note, err)
	}
	choice := []terms.Term{{Leaf: privacy.Exponential{Epsilon: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}, Rate: 1, Relation: privacy.AddRemove, Count: 1}}
	if _, err := q.doubt(choice, terms.List{Terms: choice}, 0.5, 0.5); err == nil || !strings.Contains(err.Error(), "cannot be checked") {
		t.Errorf("%v", err)
	}
}

// Rare events: the bracket stays wide, which is said.
func TestWideCheck(t *testing.T) {
	r := spent(t, Contour, privacy.AddRemove, 1e-8, 1_000_000, poisson(noise(0.7), 1e-5))
	if math.Abs(r.Epsilon-0.12697) > 2e-5 || r.Method != string(Contour) || len(r.Notes) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestAccountEdges(t *testing.T) {
	for _, m := range Methods() {
		a, err := New(m, privacy.Record, privacy.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := a.Spent(1e-5); err != nil || r.Epsilon != 0 {
			t.Errorf("%s: nothing costs %v, %v", m, r.Epsilon, err)
		}
		if err := a.Charge(privacy.PureLDP{Epsilon: 1, Unit: privacy.Record}, 1); !errors.Is(err, ErrUnit) {
			t.Errorf("%s: local under add-remove: %v", m, err)
		}
		if err := a.Charge(noise(2), 1); err != nil {
			t.Fatal(err)
		}
		for _, delta := range []float64{0, 1, -1, math.NaN(), math.Inf(1)} {
			if _, err := a.Spent(delta); err == nil {
				t.Errorf("%s: delta %v accepted", m, delta)
			}
		}
		for _, eps := range []float64{-1, math.NaN(), math.Inf(1)} {
			if _, err := a.DeltaAt(eps); err == nil {
				t.Errorf("%s: epsilon %v accepted", m, eps)
			}
		}
		r, err := a.Spent(1e-5)
		if err != nil {
			t.Fatal(err)
		}
		d, err := a.DeltaAt(r.Epsilon)
		if err != nil || d.Epsilon != r.Epsilon || math.Abs(d.Delta/1e-5-1) > 0.01 {
			t.Errorf("%s: delta %v at epsilon %v, want 1e-5 (%v)", m, d.Delta, r.Epsilon, err)
		}
		if err := a.Charge(bare, 1); err != nil {
			t.Fatal(err)
		}
		if r, err := a.Spent(1e-5); err != nil || !math.IsInf(r.Epsilon, 1) || len(r.Unprotected) != 1 {
			t.Errorf("%s: %+v, %v", m, r, err)
		}
		if r, err := a.DeltaAt(1); err != nil || r.Delta != 1 {
			t.Errorf("%s: %+v, %v", m, r, err)
		}
	}
	if _, err := New("magic", privacy.Record, privacy.AddRemove); err == nil {
		t.Error("unknown method accepted")
	}
	if _, err := New(RDP, "node", privacy.AddRemove); err == nil {
		t.Error("unknown unit accepted")
	}
}

// Whatever is asked: no NaN, nothing negative, n at once is n times one, and the
// exact value below the Rényi bound.
func TestMethodsInOrder(t *testing.T) {
	draw := rng.Seed(1).Stream("settings")
	for range 25 {
		uniform := func(lo, hi float64) float64 { return lo + (hi-lo)*draw.Float64() }
		q, s := math.Exp(uniform(math.Log(1e-4), 0)), math.Exp(uniform(math.Log(0.5), math.Log(50)))
		n, delta := 1+int64(draw.IntN(3000)), math.Pow(10, uniform(-9, -2))
		e := poisson(noise(s), q)
		bound := spent(t, RDP, privacy.AddRemove, delta, n, e)
		exact := spent(t, Contour, privacy.AddRemove, delta, n, e)
		if !(exact.Epsilon >= 0) || !(exact.Epsilon <= bound.Epsilon*(1+1e-9)) {
			t.Errorf("q %v sigma %v n %d delta %v: exact %v (%s), rényi bound %v", q, s, n, delta, exact.Epsilon, exact.Method, bound.Epsilon)
		}
		if again := spent(t, Contour, privacy.AddRemove, delta, 1, privacy.SelfComposed{Event: e, Count: n}); again.Epsilon != exact.Epsilon {
			t.Errorf("q %v sigma %v n %d delta %v: %v at once, %v as one event", q, s, n, delta, exact.Epsilon, again.Epsilon)
		}
	}
}

func TestMethodValidate(t *testing.T) {
	for _, m := range Methods() {
		if err := m.Validate(); err != nil {
			t.Error(err)
		}
	}
	if err := Method("").Validate(); err == nil {
		t.Error("no method accepted")
	}
}

// A bracket that has no number at its coarsest may have one when refined: the
// exact value is checked with that, not given up.
func TestCoarseBracketIsRefined(t *testing.T) {
	r := spent(t, Contour, privacy.AddRemove, 1e-6, 1_000_000_000, poisson(noise(2), 1e-6))
	if r.Method != string(Contour) || math.Abs(r.Epsilon-0.05905111918) > 1e-9 {
		t.Errorf("%v by %s (%q), want 0.05905111918 by %s", r.Epsilon, r.Method, r.Notes, Contour)
	}
}
