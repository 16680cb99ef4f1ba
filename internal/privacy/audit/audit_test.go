package audit

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/binomial"
)

// The ceiling without delta is log(p^(1/r)/(1-p^(1/r))): what r right guesses
// show at most.
func TestCeiling(t *testing.T) {
	for _, c := range []struct {
		r     int64
		level float64
		want  float64
	}{{100, 0.05, 3.49}, {1000, 0.05, 5.81}} {
		b, err := OneRun(Count{c.r, c.r, c.r / 2}, Options{Level: c.level})
		if err != nil {
			t.Fatal(err)
		}
		root := math.Pow(c.level, 1/float64(c.r))
		if want := math.Log(root / (1 - root)); math.Abs(b.Ceiling-want) > 1e-9 || math.Abs(b.Ceiling-c.want) > 0.005 {
			t.Errorf("r=%d: ceiling %v, want %v", c.r, b.Ceiling, want)
		}
		if b.Epsilon != 0 || b.AtCeiling() {
			t.Errorf("half of the guesses right: %+v", b)
		}
		if top, err := OneRun(Count{c.r, c.r, c.r}, Options{Level: c.level}); err != nil || !top.AtCeiling() {
			t.Errorf("all right: %+v, %v", top, err)
		}
	}
	b, err := TwoRun(Rates{500, 500, 0, 500}, Options{Delta: 1e-5, Level: 0.05})
	if err != nil || math.Abs(b.Ceiling-4.9056) > 1e-4 || !b.AtCeiling() {
		t.Errorf("500 and 500 told apart: %+v, %v", b, err)
	}
}

// The p-value holds for the mechanism that it is about, delta included: a
// mechanism that shows every canary's coin with probability delta each and
// answers by randomised response otherwise. The number of right guesses is a
// sum of two independent binomials, convolved here exactly.
func TestPValueHolds(t *testing.T) {
	for _, c := range []struct {
		m              int64
		epsilon, delta float64
	}{{50, 1, 1e-3}, {50, 0, 1e-2}, {200, 2, 1e-4}, {20, 0.5, 0.05}, {200, 0.1, 1e-6}} {
		shown := binomial.Law{N: c.m, P: c.delta, Q: 1 - c.delta}
		for v := range c.m + 1 {
			truth := 0.0
			for known := range c.m + 1 {
				truth += math.Exp(shown.LogPMF(known)) * binomial.FromLogit(c.m-known, c.epsilon).Upper(v-known)
			}
			p, err := OneRunPValue(Count{c.m, c.m, v}, c.epsilon, c.delta)
			if err != nil || truth > p*(1+1e-12) {
				t.Errorf("%+v, %d right: p-value %v, probability %v, %v", c, v, p, truth, err)
			}
		}
	}
}

// The term of delta grows with all canaries, not with the guesses.
func TestDeltaCountsCanaries(t *testing.T) {
	few, err := OneRunEpsilon(Count{100, 100, 90}, 1e-5, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	many, err := OneRunEpsilon(Count{100000, 100, 90}, 1e-5, 0.05)
	if err != nil || !(many < few) {
		t.Errorf("epsilon %v of 100 canaries, %v of 100000, %v", few, many, err)
	}
	if none, err := OneRunEpsilon(Count{1000000, 100, 90}, 1e-3, 0.05); err != nil || none != 0 {
		t.Errorf("epsilon %v where the term of delta leaves nothing, %v", none, err)
	}
}

// Bounds rise with right guesses, fall with delta, tests and copies, and lie in
// [0, ceiling].
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Count{Canaries: rapid.Int64Range(1, 3000).Draw(t, "m")}
		c.Guesses = rapid.Int64Range(0, c.Canaries).Draw(t, "r")
		c.Correct = rapid.Int64Range(0, c.Guesses).Draw(t, "v")
		o := Options{
			Delta: math.Pow(10, rapid.Float64Range(-12, -2).Draw(t, "delta")), Level: math.Pow(10, rapid.Float64Range(-9, -0.1).Draw(t, "level")),
			Copies: rapid.Int64Range(1, 5).Draw(t, "copies"), Tests: rapid.Int64Range(1, 20).Draw(t, "tests"),
		}
		rates := Rates{Positives: c.Canaries, Negatives: max(1, c.Guesses), FalsePositives: c.Correct}
		rates.TruePositives = rapid.Int64Range(0, rates.Positives).Draw(t, "tp")
		for name, bound := range map[string]func(Count, Rates, Options) (Bound, error){
			"one run":     func(c Count, _ Rates, o Options) (Bound, error) { return OneRun(c, o) },
			"one run fdp": func(c Count, _ Rates, o Options) (Bound, error) { return fdp(c, o) },
			"two run":     func(_ Count, r Rates, o Options) (Bound, error) { return TwoRun(r, o) },
			"two run gdp": func(_ Count, r Rates, o Options) (Bound, error) { return TwoRunGDP(r, o, accountant.Exact) },
		} {
			eval := func(c Count, r Rates, o Options) float64 {
				b, err := bound(c, r, o)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !(b.Epsilon >= 0 && b.Epsilon <= b.Ceiling) || math.IsInf(b.Ceiling, 1) {
					t.Fatalf("%s: %+v", name, b)
				}
				return b.Epsilon
			}
			at, tests, weak := eval(c, rates, o), o, o
			tests.Tests++
			weak.Delta /= 3
			if name == "one run fdp" || name == "two run gdp" { // mu does not depend on delta, and its epsilon falls with it
				weak.Delta = o.Delta
			}
			if eval(c, rates, tests) > at || eval(c, rates, weak)*(1+1e-9) < at {
				t.Fatalf("%s: %v is not between more tests and a smaller delta", name, at)
			}
			copies := o
			copies.Copies++
			if eval(c, rates, copies) > at*(1+1e-9) {
				t.Fatalf("%s: more copies show more of one unit", name)
			}
			if strings.HasPrefix(name, "two") {
				continue // of which the complement may rise
			}
			if better := c; c.Correct < c.Guesses {
				better.Correct++
				if eval(better, rates, o)*(1+1e-9) < at {
					t.Fatalf("%s: one more right guess lowers %v", name, at)
				}
			}
		}
	})
}

// With k copies a bound is one on a group: k times smaller without delta, and
// consistent with the group's guarantee with it.
func TestCopies(t *testing.T) {
	c, r := Count{1000, 500, 450}, Rates{480, 500, 20, 500}
	for _, k := range []int64{1, 2, 7} {
		for _, delta := range []float64{0, 1e-6} {
			o := Options{Delta: delta, Level: 0.05, Copies: k}
			one, err := OneRun(c, o)
			if err != nil {
				t.Fatal(err)
			}
			two, err := TwoRun(r, o)
			if err != nil {
				t.Fatal(err)
			}
			e, d := group(one.Epsilon, delta, k)
			if p, err := OneRunPValue(c, e, d); err != nil || math.Abs(p-0.05) > 1e-9 {
				t.Errorf("one run, %d copies, delta %v: p-value %v at the group's bound, %v", k, delta, p, err)
			}
			e, d = group(two.Epsilon, delta, k)
			b, err := r.bounds(0.05)
			if left, right := b.truePositive, math.Exp(e)*b.falsePositive+d; err != nil || math.Abs(left-right) > 1e-9 {
				t.Errorf("two runs, %d copies, delta %v: %v and %v at the group's bound, %v", k, delta, left, right, err)
			}
		}
	}
	one, err := TwoRunGDP(r, Options{Delta: 1e-5, Level: 0.05}, accountant.Exact)
	if err != nil {
		t.Fatal(err)
	}
	four, err := TwoRunGDP(r, Options{Delta: 1e-5, Level: 0.05, Copies: 4}, accountant.Exact)
	if err != nil || math.Abs(4*four.Mu-one.Mu) > 1e-12 {
		t.Errorf("mu %v of four copies, %v of one, %v", four.Mu, one.Mu, err)
	}
	whole, err := OneRunMu(c, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := OneRunFDP(c, Options{Delta: 1e-5, Level: 0.05, Copies: 3}, accountant.Exact); err != nil || !(whole > 0) || math.Abs(3*b.Mu-whole) > 1e-12 {
		t.Errorf("mu %v of three copies, %v of one, %v", b.Mu, whole, err)
	}
	if e, d := group(800, 0.5, 3); e != 2400 || d != 1 {
		t.Errorf("group of overflowing factor: %v, %v", e, d)
	}
	if _, d := group(0, 0.1, 3); math.Abs(d-0.3) > 1e-15 {
		t.Errorf("group at epsilon 0: delta %v", d)
	}
}

// The complement is the same counts with the answers turned around, and the
// larger of the two is what TwoRun reports.
func TestComplement(t *testing.T) {
	r := Rates{990, 1000, 500, 1000}
	turned := Rates{500, 1000, 10, 1000}
	first, err1 := TwoRunEpsilon(r, 1e-5, 0.05)
	second, err2 := TwoRunComplement(r, 1e-5, 0.05)
	other, err3 := TwoRunEpsilon(turned, 1e-5, 0.05)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if !(second > first && first > 0) || math.Abs(second-other) > 1e-9 {
		t.Errorf("%v, complement %v, turned around %v", first, second, other)
	}
	if b, err := TwoRun(r, Options{Delta: 1e-5, Level: 0.05}); err != nil || math.Abs(b.Epsilon-second) > 1e-12 {
		t.Errorf("%+v, %v", b, err)
	}
}

// Clopper-Pearson intervals cover every true probability at their level: exactly,
// by summing the law in rationals over the outcomes whose bound is above it.
func TestIntervalsCover(t *testing.T) {
	for _, n := range []int64{1, 5, 30} {
		for num := int64(1); num < 64; num += 3 {
			p := big.NewRat(num, 64)
			for _, level := range []float64{0.3, 0.05, 1e-4} {
				var misses big.Rat
				for k := range n + 1 {
					low, err := LowerBound(k, n, level)
					if err != nil {
						t.Fatal(err)
					}
					if new(big.Rat).SetFloat64(low).Cmp(p) > 0 {
						misses.Add(&misses, mass(n, k, num, 64))
					}
					up, err := UpperBound(n-k, n, level)
					if err != nil || math.Abs(up+low-1) > 3e-12 {
						t.Errorf("n=%d k=%d level %v: lower %v and upper %v of the failures, %v", n, k, level, low, up, err)
					}
				}
				if misses.Cmp(new(big.Rat).SetFloat64(level)) > 0 {
					t.Errorf("n=%d p=%v: the lower bound at level %v is above with probability %v", n, p, level, misses.FloatString(6))
				}
			}
		}
	}
}

// mass is the binomial probability of k in n at num/den.
func mass(n, k, num, den int64) *big.Rat {
	v := new(big.Int).Binomial(n, k)
	v.Mul(v, new(big.Int).Exp(big.NewInt(num), big.NewInt(k), nil))
	v.Mul(v, new(big.Int).Exp(big.NewInt(den-num), big.NewInt(n-k), nil))
	return new(big.Rat).SetFrac(v, new(big.Int).Exp(big.NewInt(den), big.NewInt(n), nil))
}

// Curves have the shape that the recursion assumes, and reject nothing true: a
// curve of no privacy is never rejected, perfect privacy by few right guesses.
func TestCurves(t *testing.T) {
	for name, curve := range map[string]Curve{
		"gauss 0": GaussianCurve(0), "gauss 1": GaussianCurve(1), "gauss 9": GaussianCurve(9), "pure": ApproximateCurve(1, 0), "delta": ApproximateCurve(0.3, 0.1),
	} {
		last, slope := 0.0, 0.0
		for i := range 1001 {
			x := float64(i) / 1000
			y := curve(x)
			if !(y >= last && y <= x+1e-15) || y-last < slope-1e-12 {
				t.Errorf("%s at %v: %v after %v", name, x, y, last)
			}
			last, slope = y, y-last
		}
		if name != "delta" && last != 1 {
			t.Errorf("%s: %v at 1", name, last)
		}
	}
	if got, want := GaussianCurve(2)(1e-12), 8.238911947202973e-20; math.Abs(got/want-1) > 1e-12 {
		t.Errorf("far tail %v, want %v", got, want)
	}
	for _, c := range []struct {
		count Count
		curve Curve
		want  bool
	}{
		{Count{1000, 1000, 1000}, GaussianCurve(40), false}, {Count{1000, 1000, 600}, GaussianCurve(0), true},
		{Count{1000, 1000, 500}, GaussianCurve(0), false}, {Count{1000, 1000, 1000}, ApproximateCurve(1, 1e-9), true},
		{Count{1000, 1000, 1000}, ApproximateCurve(30, 0), false}, {Count{1000, 0, 0}, GaussianCurve(0), false},
	} {
		if got, err := OneRunRejects(c.count, c.curve, 0.05); got != c.want || err != nil {
			t.Errorf("%+v: rejected %v, %v", c.count, got, err)
		}
	}
}

// Many tests at a level are one test at its share of it, for every method.
func TestBonferroni(t *testing.T) {
	c, r := Count{1000, 500, 450}, Rates{480, 500, 20, 500}
	for name, bound := range map[string]func(o Options) (Bound, error){
		"one run":      func(o Options) (Bound, error) { return OneRun(c, o) },
		"one run f-DP": func(o Options) (Bound, error) { return fdp(c, o) },
		"two runs":     func(o Options) (Bound, error) { return TwoRun(r, o) },
		"two runs GDP": func(o Options) (Bound, error) { return TwoRunGDP(r, o, accountant.Exact) },
	} {
		many, err1 := bound(Options{Delta: 1e-6, Level: 0.05, Tests: 10})
		one, err2 := bound(Options{Delta: 1e-6, Level: 0.005})
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if math.Abs(many.Epsilon-one.Epsilon) > 1e-9 || math.Abs(many.Ceiling-one.Ceiling) > 1e-9 || many.Level != 0.05 || many.Tests != 10 {
			t.Errorf("%s: %+v of ten tests, %+v at a tenth of the level", name, many, one)
		}
	}
}

// A bound as it stands in a report.
func TestBoundAsJSON(t *testing.T) {
	b, err := OneRun(Count{1000, 100, 75}, Options{Delta: 1e-5, Level: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"method":"one-run"`, `"confidence":0.95`, `"ceiling":3.4`, `"count":{"canaries":1000,"guesses":100,"correct":75}`, `"tests":1`, `"copies":1`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s: no %s", text, want)
		}
	}
	if b.Contradicts(1) || !b.Contradicts(0.5) {
		t.Errorf("%+v", b)
	}
}
