package audit

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/accountant"
	"privrec/internal/rng"
)

// An error of a conversion is one of the bound that needs it, also where only the
// ceiling does.
func TestConversionErrors(t *testing.T) {
	late := func(most float64) Convert {
		return func(mu, delta float64) (float64, error) {
			if mu > most {
				return 0, errors.New("out of range")
			}
			return accountant.Exact(mu, delta)
		}
	}
	count, rates := Count{Canaries: 1000, Guesses: 200, Correct: 140}, Rates{Positives: 200, TruePositives: 120, Negatives: 200, FalsePositives: 60}
	o := Options{Delta: 1e-5, Level: 0.05}
	for name, f := range map[string]func(Convert) (Bound, error){
		"one run": func(c Convert) (Bound, error) { return OneRunFDP(count, o, c) },
		"two run": func(c Convert) (Bound, error) { return TwoRunGDP(rates, o, c) },
	} {
		b, err := f(accountant.Exact)
		if err != nil || !(b.Mu > 0 && b.Epsilon < b.Ceiling) || b.AtCeiling() {
			t.Fatalf("%s: %+v, %v", name, b, err)
		}
		for at, most := range map[string]float64{"bound": 0, "ceiling": b.Mu * 1.01} {
			got, err := f(late(most))
			if err == nil || !strings.Contains(err.Error(), "out of range") || got != (Bound{}) {
				t.Errorf("%s, no %s: %+v, %v", name, at, got, err)
			}
		}
	}
}

// No bound is above what the same counts show of a smaller level, its ceiling, or a
// larger audit; perfect guesses are at the ceiling.
func TestBoundsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Int64Range(10, 5000).Draw(t, "canaries")
		r := rapid.Int64Range(1, m).Draw(t, "guesses")
		c := Count{Canaries: m, Guesses: r, Correct: rapid.Int64Range(0, r).Draw(t, "right")}
		level := math.Pow(10, rapid.Float64Range(-9, -0.5).Draw(t, "level"))
		delta := math.Pow(10, rapid.Float64Range(-12, -4).Draw(t, "delta"))
		at := func(c Count, delta, level float64) Bound {
			b, err := OneRun(c, Options{Delta: delta, Level: level})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		b := at(c, delta, level)
		if !(b.Epsilon >= 0 && b.Epsilon <= b.Ceiling) || math.IsInf(b.Ceiling, 1) {
			t.Fatalf("%+v", b)
		}
		if stricter := at(c, delta, level/10); stricter.Epsilon > b.Epsilon {
			t.Fatalf("at a tenth of the level %v, %v", stricter.Epsilon, b.Epsilon)
		}
		if more := at(c, 10*delta, level); more.Epsilon > b.Epsilon {
			t.Fatalf("at ten times delta %v, %v", more.Epsilon, b.Epsilon)
		}
		all := c
		all.Correct = r
		if best := at(all, delta, level); best.Epsilon != b.Ceiling || !best.AtCeiling() {
			t.Fatalf("all right: %v, ceiling %v", best.Epsilon, b.Ceiling)
		}
		// Twice the experiment with the same share of right guesses shows no less.
		twice := at(Count{2 * m, 2 * r, 2 * c.Correct}, 0, level)
		if once := at(c, 0, level); twice.Epsilon < once.Epsilon*(1-1e-9) && 2*c.Correct >= r {
			t.Fatalf("%+v shows %v, doubled %v", c, once.Epsilon, twice.Epsilon)
		}
	})
}

// A p-value is one: in [0, 1], larger for a weaker claim, smaller with every right
// guess; and the bound is where it crosses the level.
func TestPValuesAndBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Int64Range(1, 3000).Draw(t, "canaries")
		r := rapid.Int64Range(1, m).Draw(t, "guesses")
		c := Count{m, r, rapid.Int64Range(0, r).Draw(t, "right")}
		epsilon, delta := rapid.Float64Range(0, 6).Draw(t, "epsilon"), math.Pow(10, rapid.Float64Range(-12, -3).Draw(t, "delta"))
		p := func(c Count, epsilon float64) float64 {
			v, err := OneRunPValue(c, epsilon, delta)
			if err != nil || !(v >= 0 && v <= 1) {
				t.Fatalf("%+v at %v: %v, %v", c, epsilon, v, err)
			}
			return v
		}
		here := p(c, epsilon)
		if weaker := p(c, epsilon+0.1); weaker < here*(1-1e-9) {
			t.Fatalf("%v at %v, %v at more", here, epsilon, weaker)
		}
		if c.Correct < r {
			if better := p(Count{m, r, c.Correct + 1}, epsilon); better > here*(1+1e-9) {
				t.Fatalf("one more right: %v, %v", better, here)
			}
		}
		level := math.Pow(10, rapid.Float64Range(-6, -0.5).Draw(t, "level"))
		e, err := OneRunEpsilon(c, delta, level)
		if err != nil {
			t.Fatal(err)
		}
		if e > 0 && p(c, e*(1-1e-6)) > level*(1+1e-6) {
			t.Fatalf("%+v: epsilon %v is called impossible at level %v, its p-value is %v", c, e, level, p(c, e*(1-1e-6)))
		}
		if p(c, e*(1+1e-6)+1e-6) <= level*(1-1e-6) {
			t.Fatalf("%+v: epsilon %v is not the largest to be rejected at level %v", c, e, level)
		}
	})
}

// A planted fault: canaries that are in by coins which the attacker saw. Best
// sees it; on honest scores it does not, whatever the rules. Level 1e-9.
func TestPlantedCoins(t *testing.T) {
	const n = 4000
	coins, err := NewCoins(rng.Seed(9).Stream("coins"), n)
	if err != nil {
		t.Fatal(err)
	}
	s := rng.Seed(9).Stream("scores")
	honest, told := make([]float64, n), make([]float64, n)
	for i := range honest {
		honest[i] = s.Float64()
		if told[i] = honest[i]; coins.In(i) && i%4 == 0 { // one canary in four is known
			told[i] += 1
		}
	}
	rules := []Rule{{In: 50, Out: 50}, {In: 200}, {In: 400, Out: 400}, {In: 500}}
	o := Options{Level: 1e-9}
	for name, c := range map[string]struct {
		scores []float64
		leaks  bool
	}{"honest": {honest, false}, "told": {told, true}} {
		_, best, err := Best(coins, c.scores, rules, o, OneRun)
		if err != nil {
			t.Fatal(err)
		}
		if (best.Epsilon > 0.3) != c.leaks || !c.leaks && best.Epsilon != 0 {
			t.Errorf("%s scores: %+v", name, best)
		}
	}
}
