package mechanism

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
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
					c := Proportion{What: "w", N: int64(n), Got: int64(k), P: p}
					if c.Check("p", x) == nil {
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
						c := Bounded{What: "w", N: int64(n), Width: width, Sum: width * (float64(k) - float64(n)*p)}
						if c.Check("p", x) == nil {
							continue
						}
						if c.Sum > 0 {
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
		if (&Bounded{What: "w", N: 5, Width: 1, Sum: bad}).Check("p", 3) == nil || (&Drift{What: "w", N: 5, V: 1, B: 1, Sum: bad}).Check("p", 3) == nil {
			t.Errorf("a sum of %v passed", bad)
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
			k := Proportion{What: "w", N: int64(n), Got: int64(math.Round(math.Floor(n) * c.wrong)), P: c.p}
			if k.Check("p", x) != nil {
				at = n
				break
			}
		}
		if at < 0.9*need || at > 2.5*need+4*x/3/d {
			t.Errorf("a rate of %g for %g is seen after %g trials, want about %g", c.wrong, c.p, at, need)
		}
	}
}

// A smaller share widens every band, and n mechanisms of 1/n each spend what one
// does; k checks of one mechanism share its part.
func TestSharesAddUp(t *testing.T) {
	for _, s := range []Share{0, 1, 0.5, 1e-3, 1e-9} {
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
		want := float64(s) * 1e-9
		if s == 0 {
			want = 1e-9
		}
		if got := s.FalseAlarm(); got != want {
			t.Errorf("share %v may spend %g, want %g", s, got, want)
		}
	}
	var last float64
	for _, share := range []Share{1, 0.1, 0.01} {
		got := int64(5000)
		for (&Proportion{What: "w", N: 10_000, Got: got, P: 0.5}).Check("p", math.Log(2/share.FalseAlarm())) == nil {
			got++
		}
		both := CheckAll("p", share, &Proportion{What: "w", N: 10_000, Got: got - 1, P: 0.5}, &Proportion{What: "v", N: 4, Got: 2, P: 0.5})
		if both != nil {
			t.Errorf("share %v: two checks have a narrower band than one: %v", share, both)
		}
		if float64(got) <= last {
			t.Errorf("share %v: the band ends at %d, that of a larger share at %g", share, got, last)
		}
		last = float64(got)
	}
}

// A failed check says what is wrong in words that a log keeps, stays itself through
// wrapping, and the first of several is the one that is told.
func TestCheckErrorsSpeak(t *testing.T) {
	err := CheckAll("graph", 1, &Proportion{What: "number of ones lost", N: 1000, Got: 500, P: 0.5},
		&Proportion{What: "number of zeros made ones", N: 1000, Got: 900, P: 0.5}, &Bounded{What: "sum", N: 10, Sum: 1e9, Width: 1})
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
	if CheckAll("p", 1) != nil {
		t.Error("no checks fail")
	}
}
