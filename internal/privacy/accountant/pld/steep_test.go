package pld

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// gaussianDelta is Balle and Wang's delta (theorem 8) in big.Float; it needs both
// arguments of the tails within 14.
func gaussianDelta(mu, eps float64) *big.Float {
	below := sub(quo(bigOf(eps), bigOf(mu)), quo(bigOf(mu), bigOf(2)))
	return sub(bigUpper(below), mul(bigExp(bigOf(eps)), bigUpper(add(below, bigOf(mu)))))
}

// Not a unit of tolerance: the bracket of delta holds what exact enumeration of
// responses gives, from one steep step to many, at zero, near the mean, at the
// largest loss and a hair below it.
func TestDeltaOfResponsesExactly(t *testing.T) {
	for _, c := range []struct {
		e float64
		n int
	}{{1.5, 1}, {0.01, 1}, {100, 1}, {400, 2}, {200, 3}, {0.3, 7}, {20, 5}, {2, 30}, {0.05, 100}, {2, 200}} {
		law, top := responses(c.e, c.n), c.e*float64(c.n)
		for _, bins := range []int{1 << 10, 1 << 13} {
			for _, f := range []float64{0, 1e-6, 0.03, 0.1, 0.37, 0.5, 0.8, 0.95, 0.999, 0.999999, 1 - 1e-9} {
				b, err := DeltaBracket(context.Background(), []terms.Term{pureTerm(c.e, int64(c.n))}, f*top, Options{Bins: bins})
				if err != nil {
					t.Errorf("%+v at %g: %v", c, f*top, err)
					continue
				}
				if want := stick(law, bigOf(f*top)); !holds(b.Lower, b.Upper, want) {
					t.Errorf("%+v at %g, %d bins: %+v, want %.20g", c, f*top, bins, b, want)
				}
			}
		}
	}
}

// The same of one Gaussian, from a loss of a thousandth to one of hundreds.
func TestDeltaOfGaussiansExactly(t *testing.T) {
	for _, mu := range []float64{1e-3, 0.01, 0.1, 0.5, 1, 2, 4, 6, 8, 12, 16, 20} {
		for _, k := range []float64{-20, -10, -8, -5, -3, -1, 0, 1, 4, 7} {
			eps := mu*mu/2 + k*mu
			if eps < 0 || eps/mu+mu/2 > 13.9 {
				continue
			}
			for _, bins := range []int{1 << 10, 1 << 14} {
				b, err := DeltaBracket(context.Background(), []terms.Term{gaussianTerm(1, 1, mu, privacy.AddRemove, 1)}, eps, Options{Bins: bins})
				if err != nil {
					t.Errorf("mu %g at %g: %v", mu, eps, err)
					continue
				}
				if want := gaussianDelta(mu, eps); !holds(b.Lower, b.Upper, want) {
					t.Errorf("mu %g at %g, %d bins: %+v, want %.20g", mu, eps, bins, b, want)
				}
			}
		}
	}
}

// No answer depends on how its window was chosen but in its width: in windows
// moved, stretched and tilted at random the bracket holds the exact delta. A
// window that starts above epsilon has lost what lies between.
func TestAnyWindow(t *testing.T) {
	missed := 0
	check(t, func(t *rapid.T) {
		var x pair
		var want *big.Float
		var eps float64
		count := 1.0
		if rapid.Bool().Draw(t, "response") {
			e := logUniform(t, "epsilon of one", 0.05, 8)
			n := rapid.IntRange(1, 40).Draw(t, "steps")
			eps = rapid.Float64Range(0, 0.999).Draw(t, "share") * e * float64(n)
			x, count, want = mustPair(response(e, 2)), float64(n), stick(responses(e, n), bigOf(eps))
		} else {
			mu := logUniform(t, "mu", 0.02, 7)
			eps = rapid.Float64Range(0, mu*mu/2+4*mu).Draw(t, "epsilon")
			x, want = mustPair(gaussian(mu)), gaussianDelta(mu, eps)
		}
		v, err := newView(context.Background(), []term{{x, count}}, query{eps: eps})
		if err != nil {
			t.Fatal(err)
		}
		s := &v.spans[0]
		width := s.hi - s.lo
		s.tilt *= logUniform(t, "tilt", 0.1, 10)
		s.lo += width * rapid.Float64Range(-1, 1).Draw(t, "moved")
		s.hi = s.lo + width*logUniform(t, "stretched", 0.2, 5)
		s.up *= logUniform(t, "up", 0.2, 5)
		s.down *= logUniform(t, "down", 0.2, 5)
		b, err := v.bracket([]int{0}, 1<<rapid.IntRange(10, 13).Draw(t, "log bins"))
		if err != nil {
			t.Logf("refused: %v", err)
			return
		}
		if s.lo > eps {
			missed++
		}
		if !holds(b[0].Lower, b[0].Upper, want) {
			t.Fatalf("epsilon %g in %+v: %+v, want %.20g", eps, *s, b[0], want)
		}
	})
	if missed == 0 {
		t.Error("no window started above epsilon")
	}
}

func mustPair(x pair, err error) pair {
	if err != nil {
		panic(fmt.Sprintf("a pair of the tests: %v", err))
	}
	return x
}

// Planted: without the bound of what lies below it, a window that starts above
// epsilon gives an upper end below the exact delta; with it, none.
func TestBelowTheWindow(t *testing.T) {
	x := mustPair(gaussian(1))
	eps := 0.2
	want := gaussianDelta(1, eps)
	v, err := newView(context.Background(), []term{{x, 1}}, query{eps: eps})
	if err != nil {
		t.Fatal(err)
	}
	s := v.spans[0]
	for _, lo := range []float64{0.6, 1.5, 3} {
		s.lo, s.hi = lo, v.spans[0].hi+4
		c := x.discretise(context.Background(), (s.hi-s.lo)/4096, v.ranges[0][0], v.ranges[0][1])
		m := newMachine(4096)
		composed := m.compose([]*masses{c.upper()}, []float64{1}, s)
		b := composed.upper(s)
		if got := b.deltaAt(eps); bigOf(got).Cmp(want) < 0 {
			t.Errorf("from %g on: %g, want at least %g", lo, got, want)
		}
		b.under = 0
		if got := b.deltaAt(eps); bigOf(got).Cmp(want) >= 0 {
			t.Errorf("from %g on, without what is below: %g is not below %g", lo, got, want)
		}
	}
}

// dense is a composition of equal parts.
func dense(n int, h, tilt float64) *tilted {
	x := &tilted{lo: 0.1, h: h, tilt: tilt, mass: make([]float64, n)}
	for i := range x.mass {
		x.mass[i] = 1 / float64(n)
	}
	return x
}

// Sums carried down many losses drift by what their factors are rounded: never
// more than is allowed for, against the sum of a geometric series in big.Float.
func TestDrift(t *testing.T) {
	drifted := 0.0
	for _, n := range []int{1 << 10, 1 << 13, 1 << 16, 1 << 19} {
		for _, h := range []float64{1e-6, 3.3e-5, 7e-4} {
			for _, tilt := range []float64{1e-7, 0.01, 0.3, 1.7, 30} {
				x := dense(n, h, tilt)
				var a, d float64
				bound{tilted: x}.walk(func(_, sa, sd float64) bool { a, d = sa, sd; return true })
				series := func(rate float64) *big.Float { // sum of exp(-rate i h) over i < n
					one := bigOf(1)
					step := mul(bigOf(rate), bigOf(h))
					return quo(sub(one, bigExp(mul(step, bigOf(float64(-n))))), sub(one, bigExp(step.Neg(step))))
				}
				wantA := mul(series(tilt), bigOf(1/float64(n)))
				exact := add(bigOf(tilt), bigOf(1))
				// 1-exp(-y) of the weight: the series at tilt less that at tilt+1.
				step := mul(exact, bigOf(h))
				other := quo(sub(bigOf(1), bigExp(mul(step, bigOf(float64(-n))))), sub(bigOf(1), bigExp(new(big.Float).Neg(step))))
				wantD := sub(wantA, mul(other, bigOf(1/float64(n))))
				for name, v := range map[string]struct {
					got  float64
					want *big.Float
				}{"a": {a, wantA}, "d": {d, wantD}} {
					off, _ := sub(quo(bigOf(v.got), v.want), bigOf(1)).Float64()
					drifted = max(drifted, math.Abs(off)/unit)
					if math.Abs(off) > carried(n) {
						t.Errorf("%s of %d losses of %g, tilt %g: off by %g, allowed %g", name, n, h, tilt, off, carried(n))
					}
				}
			}
		}
	}
	if drifted < 1000 {
		t.Errorf("sums drift by %g units at most: nothing to bound", drifted)
	}
}
