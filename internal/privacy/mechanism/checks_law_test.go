package mechanism

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"privrec/internal/rng"
)

// binomialLaw is the law of successes of n trials, by logarithms.
func binomialLaw(n int, p float64) []float64 {
	law := make([]float64, n+1)
	lg := func(k int) float64 { v, _ := math.Lgamma(float64(k) + 1); return v }
	for k := range law {
		switch {
		case p == 0:
			law[0] = 1
		case p == 1:
			law[n] = 1
		default:
			law[k] = math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		}
	}
	return law
}

// A proportion's band is crossed with at most e^-x on each side by the exact
// binomial law, from one trial to thousands and from a probability of 0 to 1; and it
// is no wider than it need be by more than the few trials that Bernstein costs.
func TestProportionBand(t *testing.T) {
	for _, n := range []int{1, 3, 20, 200, 4000} {
		for _, p := range []float64{0, 1e-6, 0.001, 0.03, 0.3, 0.5, 0.97, 1} {
			law := binomialLaw(n, p)
			for _, x := range []float64{0.5, 2, 6, 20} {
				above, below, inside := 0.0, 0.0, 0
				for k, q := range law {
					c := proportion{what: "w", n: int64(n), got: int64(k), p: p}
					if c.check("p", x) == nil {
						inside++
					} else if float64(k) > float64(n)*p {
						above += q
					} else {
						below += q
					}
				}
				if limit := math.Exp(-x) * (1 + 1e-9); above > limit || below > limit {
					t.Errorf("n %d, p %g, x %g: outside with %g above and %g below", n, p, x, above, below)
				}
				if width := 2*math.Sqrt(2*float64(n)*p*(1-p)*x) + 4*x/3 + 1; float64(inside) > width+1e-9 {
					t.Errorf("n %d, p %g, x %g: %d counts pass, want at most %g", n, p, x, inside, width)
				}
			}
		}
	}
}

// The same for a sum of bounded values, at the law that is worst: one of the two
// ends of the interval each.
func TestBoundedBand(t *testing.T) {
	for _, n := range []int{1, 2, 9, 100, 3000} {
		for _, p := range []float64{0.5, 0.2, 0.9} {
			for _, width := range []float64{1, 0.01, 36} {
				for _, x := range []float64{0.5, 3, 12} {
					above, below := 0.0, 0.0
					for k, q := range binomialLaw(n, p) {
						c := bounded{what: "w", n: int64(n), width: width, sum: width * (float64(k) - float64(n)*p)}
						if c.check("p", x) == nil {
							continue
						}
						if c.sum > 0 {
							above += q
						} else {
							below += q
						}
					}
					if limit := math.Exp(-x) * (1 + 1e-9); above > limit || below > limit {
						t.Errorf("n %d, p %g, x %g: outside with %g and %g", n, p, x, above, below)
					}
				}
			}
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if (&bounded{what: "w", n: 5, width: 1, sum: bad}).check("p", 3) == nil || (&drift{what: "w", n: 5, v: 1, b: 1, sum: bad}).check("p", 3) == nil {
			t.Errorf("a sum of %v passed", bad)
		}
	}
}

// driftLaw is the exact law of the sum that a responder watches, after n values x of
// k categories, by convolution on a grid of 1/(2(k-1)).
func driftLaw(m Response, x, n int) (law []float64, centre int, unit float64) {
	k := int(m.Categories)
	others := float64(k - 1)
	mean := (others*(others+1)/2 - float64(x)) / others
	unit = 1 / (2 * others)
	reach := int(math.Ceil(float64(k)/unit)) + 1
	one := make([]float64, 2*reach+1)
	one[reach] += m.Keep()
	for y := range k {
		if y != x {
			one[reach+int(math.Round((float64(y)-mean)/unit))] += m.Other()
		}
	}
	law, centre = []float64{1}, 0
	for range n {
		next := make([]float64, len(law)+2*reach)
		for i, p := range law {
			if p == 0 {
				continue
			}
			for j, q := range one {
				if q != 0 {
					next[i+j] += p * q
				}
			}
		}
		law, centre = next, centre+reach
	}
	return law, centre, unit
}

// The drift of replaced values leaves its band with at most e^-x on each side, by
// the exact law of what randomised response replaces.
func TestDriftBand(t *testing.T) {
	for _, m := range []Response{{Epsilon: 0.1, Categories: 2}, {Epsilon: 1, Categories: 3}, {Epsilon: 3, Categories: 6}} {
		for _, n := range []int{1, 4, 12} {
			for x := range 2 {
				law, centre, unit := driftLaw(m, x, n)
				r := m.responder()
				v := (1 - m.Keep()) * float64(m.Categories) * float64(m.Categories) / 4
				total := 0.0
				for _, tail := range []float64{0.5, 2, 5} {
					above, below := 0.0, 0.0
					total = 0
					for i, p := range law {
						total += p
						c := drift{what: "w", n: int64(n), b: r.moved.b, v: float64(n) * v, sum: float64(i-centre) * unit}
						if c.check("p", tail) == nil {
							continue
						}
						if c.sum > 0 {
							above += p
						} else {
							below += p
						}
					}
					if limit := math.Exp(-tail) * (1 + 1e-9); above > limit || below > limit {
						t.Errorf("%+v, %d values of %d, x %g: outside with %g and %g", m, n, x, tail, above, below)
					}
				}
				if math.Abs(total-1) > 1e-12 {
					t.Fatalf("mass %g", total)
				}
				// The watch adds up what the law is of: the mean of its sum is 0.
				sum := 0.0
				for i, p := range law {
					sum += p * float64(i-centre) * unit
				}
				if math.Abs(sum) > 1e-12*float64(n)*float64(m.Categories) {
					t.Errorf("%+v: the drift has mean %g", m, sum)
				}
			}
		}
	}
}

// Power: a rate that is off by d is seen after about 2 p(1-p) x/d² trials, neither
// far before, which luck would do too, nor far after.
func TestChecksSeeWhatTheyCan(t *testing.T) {
	x := math.Log(2e9)
	for _, c := range []struct{ p, wrong float64 }{{0.5, 0.51}, {0.5, 0.45}, {0.02, 0.03}, {0.9, 0.85}} {
		d := math.Abs(c.p - c.wrong)
		need := 2 * c.p * (1 - c.p) * x / d / d
		at := 0.0
		for n := 10.0; n < 100*need; n *= 1.01 {
			k := proportion{what: "w", n: int64(n), got: int64(math.Round(math.Floor(n) * c.wrong)), p: c.p}
			if k.check("p", x) != nil {
				at = n
				break
			}
		}
		if at < 0.9*need || at > 2.5*need+4*x/3/d {
			t.Errorf("a rate of %g for %g is seen after %g trials, want about %g", c.wrong, c.p, at, need)
		}
	}
	// A scale that is 1 % off in normal noise, after about 4 x / 0.02² values.
	for _, wrong := range []float64{1.01, 0.99} {
		need := 4 * x / 0.0004
		at := 0.0
		for n := 100.0; n < 100*need; n *= 1.01 {
			k := tally{n: int64(n), sq: math.Floor(n) * wrong * wrong}
			if k.check("p", 1, x) != nil {
				at = n
				break
			}
		}
		if at < 0.9*need || at > 1.2*need {
			t.Errorf("%g times the scale is seen after %g values, want about %g", wrong, at, need)
		}
	}
}

// A smaller share widens every band, and n mechanisms of 1/n each spend what one
// does; k checks of one mechanism share its part.
func TestSharesAddUp(t *testing.T) {
	for _, s := range []Share{0, 1, 0.5, 1e-3, 1e-9} {
		if err := s.validate(); err != nil {
			t.Error(err)
		}
		want := float64(s) * 1e-9
		if s == 0 {
			want = 1e-9
		}
		if got := s.falseAlarm(); got != want {
			t.Errorf("share %v may spend %g, want %g", s, got, want)
		}
	}
	var last float64
	for _, share := range []Share{1, 0.1, 0.01} {
		got := int64(5000)
		for (&proportion{what: "w", n: 10_000, got: got, p: 0.5}).check("p", math.Log(2/share.falseAlarm())) == nil {
			got++
		}
		both := checkAll("p", share, &proportion{what: "w", n: 10_000, got: got - 1, p: 0.5}, &proportion{what: "v", n: 4, got: 2, p: 0.5})
		if both != nil {
			t.Errorf("share %v: two checks have a narrower band than one: %v", share, both)
		}
		if float64(got) <= last {
			t.Errorf("share %v: the band ends at %d, that of a larger share at %g", share, got, last)
		}
		last = float64(got)
	}
	var spent spending
	a := spent.next(2, 0.5)
	b := spent.next(2, 0.5)
	if !(b > a) || math.Abs(math.Exp(a-b)-0.25) > 1e-12 { // the second gets a quarter of the first
		t.Errorf("checks get e^-%g and e^-%g", a, b)
	}
}

// A failed check says what is wrong in words that a log keeps, stays itself through
// wrapping, and the first of several is the one that is told.
func TestCheckErrorsSpeak(t *testing.T) {
	err := checkAll("graph", 1, &proportion{what: "number of ones lost", n: 1000, got: 500, p: 0.5},
		&proportion{what: "number of zeros made ones", n: 1000, got: 900, p: 0.5}, &bounded{what: "sum", n: 10, sum: 1e9, width: 1})
	wrapped := fmt.Errorf("epoch 3: %w", errors.Join(err, errors.New("other")))
	var e *CheckError
	if !errors.As(wrapped, &e) || e.Purpose != "graph" || e.What != "number of zeros made ones" || e.Got != 900 || e.N != 1000 || !e.Final() {
		t.Fatalf("%v became %+v", wrapped, e)
	}
	if !(e.Low < 500 && e.High > 500 && e.High < 900) || math.Abs(e.Low+e.High-1000) > 1e-9 {
		t.Errorf("a band of [%g, %g] about 500", e.Low, e.High)
	}
	for _, part := range []string{"noise check of graph failed", "number of zeros made ones is 900", "after 1000 values"} {
		if !strings.Contains(wrapped.Error(), part) {
			t.Errorf("%q does not say %q", wrapped, part)
		}
	}
	if s := (&CheckError{Purpose: "p", What: "mean", Hint: "look there"}).Error(); !strings.HasSuffix(s, "(look there)") {
		t.Errorf("%q hides its hint", s)
	}
	if checkAll("p", 1) != nil {
		t.Error("no checks fail")
	}
	if _, err := PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: 1, Unit: edges.Unit}, nil, rng.Stream{}, Adjacency{Ptr: []int64{0}}); errors.As(err, &e) {
		t.Errorf("a refusal is a failed check: %v", err)
	}
}
