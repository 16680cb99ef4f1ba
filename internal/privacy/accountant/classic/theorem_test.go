package classic_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/classic"
	"privrec/internal/privacy/accountant/rdp"
)

func value(t interface{ Fatal(...any) }) func(v float64, err error) float64 {
	return func(v float64, err error) float64 {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// subsets is delta by the sum over all subsets of the terms, as the optimal
// composition theorem for unlike terms is stated:
//
//	1 - prod (1-delta_i) (1 - sum over S of max(0, e^(in S) - e^(eps + not in S)) / prod (1+e^eps_i))
func subsets(epsilons, deltas []float64, eps float64) float64 {
	keep, norm, sum := 1.0, 1.0, 0.0
	for i, e := range epsilons {
		keep *= 1 - deltas[i]
		norm *= 1 + math.Exp(e)
	}
	for s := range 1 << len(epsilons) {
		in, out := 0.0, eps
		for i, e := range epsilons {
			if s>>i&1 == 1 {
				in += e
			} else {
				out += e
			}
		}
		sum += math.Max(0, math.Exp(in)-math.Exp(out))
	}
	return 1 - keep*(1-sum/norm)
}

// Any terms against the theorem as it is stated. A term less or an epsilon a little
// larger may change nothing, where no outcome depends on it, but only ever so.
func TestKFoldIsTheTheorem(t *testing.T) {
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "terms")
		var epsilons, deltas []float64
		var terms []classic.Term
		for range n {
			e := rapid.SampledFrom([]float64{0.1, 0.25, 0.7, 1.3}).Draw(t, "epsilon")
			d := rapid.SampledFrom([]float64{0, 0, 1e-6, 0.02}).Draw(t, "delta")
			epsilons, deltas, terms = append(epsilons, e), append(deltas, d), append(terms, classic.Term{Epsilon: e, Delta: d, Count: 1})
		}
		eps := rapid.Float64Range(0, 4).Draw(t, "eps")
		got := value(t)(classic.KFoldDelta(terms, eps))
		if want := subsets(epsilons, deltas, eps); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v, %v at %v: %v, want %v", epsilons, deltas, eps, got, want)
		}
		less := subsets(epsilons[1:], deltas[1:], eps)
		epsilons[0] *= 1.001
		more := subsets(epsilons, deltas, eps)
		if less > got+1e-12 || more < got-1e-12 {
			t.Fatalf("%v, a term less %v, an epsilon more %v", got, less, more)
		}
		if more > got+1e-9 && less < got-1e-9 {
			seen++
		}
	})
	t.Logf("%d terms matter", seen)
	if seen < 10 {
		t.Errorf("only %d terms matter", seen)
	}
}

// The theorem for equal terms at the epsilons (k-2i) eps0 that it names:
// sum over l < i of C(k, l) (e^((k-l) eps0) - e^((k-2i+l) eps0)) / (1+e^eps0)^k, in
// rationals for e^eps0 a whole number.
func TestKFoldAtTheNamedEpsilons(t *testing.T) {
	for _, ratio := range []int64{2, 5} {
		for _, k := range []int64{3, 8, 31} {
			pow := func(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(ratio), big.NewInt(n), nil) }
			for i := int64(0); i <= k/2; i++ {
				sum := new(big.Int)
				for l := range i {
					term := new(big.Int).Sub(pow(k-l), pow(k-2*i+l))
					sum.Add(sum, term.Mul(term, new(big.Int).Binomial(k, l)))
				}
				want, _ := new(big.Rat).SetFrac(sum, new(big.Int).Exp(big.NewInt(ratio+1), big.NewInt(k), nil)).Float64()
				e := math.Log(float64(ratio))
				got := value(t)(classic.KFoldDelta([]classic.Term{{Epsilon: e, Count: k}}, float64(k-2*i)*e))
				if math.Abs(got-want) > 1e-12*want+1e-15 {
					t.Errorf("ratio %d, %d times, i %d: %v, want %v", ratio, k, i, got, want)
				}
			}
		}
	}
}

// The theorems in order: exact, third form, the classic one; equal terms are a list
// of one term; and the forms' minimum is at most each of them, the sum included.
func TestTheoremsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := math.Exp(rapid.Float64Range(-6, 1).Draw(t, "log epsilon"))
		k := rapid.Int64Range(1, 2000).Draw(t, "k")
		slack := math.Pow(10, rapid.Float64Range(-10, -1).Draw(t, "log slack"))
		terms := []classic.Term{{Epsilon: e, Count: k}}
		exact := value(t)(classic.KFoldEpsilon(terms, slack))
		tight := value(t)(classic.AdvancedTight(e, k, slack))
		plain := value(t)(classic.Advanced(e, k, slack))
		sum, _, err := classic.Basic(e, 0, k)
		if err != nil {
			t.Fatal(err)
		}
		least, delta, err := classic.AdvancedAny(terms, slack)
		if err != nil || math.Abs(delta/slack-1) > 1e-12 {
			t.Fatalf("delta %v of slack %v, %v", delta, slack, err)
		}
		if !(exact <= least*(1+1e-9) && least <= math.Min(tight, sum)*(1+1e-15) && tight <= plain) {
			t.Fatalf("exact %v, least %v, tight %v, plain %v, sum %v", exact, least, tight, plain, sum)
		}
		// Written term by term it is the same.
		var split []classic.Term
		for rest := k; rest > 0; {
			n := (rest + 1) / 2
			split, rest = append(split, classic.Term{Epsilon: e, Count: n}), rest-n
		}
		if again, _, err := classic.AdvancedAny(split, slack); err != nil || math.Abs(again/least-1) > 1e-12 {
			t.Fatalf("%v, split %v, %v", least, again, err)
		}
	})
}

// A theorem misread is below what is exact somewhere: the comparison that the right
// ones pass refuses each of these.
func TestMisreadTheoremsAreRefused(t *testing.T) {
	for name, wrong := range map[string]func(e, k, slack float64) float64{
		"no 2 under the root":        func(e, k, slack float64) float64 { return e*math.Sqrt(k*math.Log(1/slack)) + k*e*math.Tanh(e/2) },
		"no drift":                   func(e, k, slack float64) float64 { return e * math.Sqrt(2*k*math.Log(1/slack)) },
		"drift once":                 func(e, k, slack float64) float64 { return e*math.Sqrt(2*k*math.Log(1/slack)) + e*math.Tanh(e/2) },
		"half the drift":             func(e, k, slack float64) float64 { return e*math.Sqrt(2*k*math.Log(1/slack)) + k*e*math.Tanh(e/4) },
		"logarithm to the base ten":  func(e, k, slack float64) float64 { return e*math.Sqrt(-2*k*math.Log10(slack)) + k*e*math.Tanh(e/2) },
		"the root of k for k, twice": func(e, k, slack float64) float64 { return math.Sqrt(k) * e },
	} {
		caught := false
		for _, e := range []float64{0.01, 0.1, 0.5, 2} {
			for _, k := range []int64{10, 300, 20_000} {
				for _, slack := range []float64{1e-8, 1e-3, 0.3} {
					exact := value(t)(classic.KFoldEpsilon([]classic.Term{{Epsilon: e, Count: k}}, slack))
					caught = caught || wrong(e, float64(k), slack) < exact*(1-1e-9)
					if right := value(t)(classic.AdvancedTight(e, k, slack)); right < exact*(1-1e-9) {
						t.Errorf("epsilon %v, %d times, slack %v: the theorem says %v, exact %v", e, k, slack, right, exact)
					}
				}
			}
		}
		if !caught {
			t.Errorf("%s is never below the exact epsilon", name)
		}
	}
}

// A sample of a sample, the ends of the rate, what is lost by a linear rule, and
// the order of amplification and composition.
func TestAmplificationLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := math.Exp(rapid.Float64Range(-12, 6).Draw(t, "log epsilon"))
		d := rapid.Float64Range(0, 1).Draw(t, "delta")
		a, b := rapid.Float64Range(1e-6, 1).Draw(t, "a"), rapid.Float64Range(1e-6, 1).Draw(t, "b")
		e1, d1, err1 := classic.AmplifyPoisson(a, e, d)
		e2, d2, err2 := classic.AmplifyPoisson(b, e1, d1)
		e3, d3, err3 := classic.AmplifyPoisson(a*b, e, d)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		if math.Abs(e2-e3) > 1e-12*e3+1e-15*e || math.Abs(d2-d3) > 1e-14 {
			t.Fatalf("%v of %v: (%v, %v), at once (%v, %v)", b, a, e2, d2, e3, d3)
		}
		// Convexity of the exponential: never below rate times epsilon, never above
		// epsilon, and within (e^eps - 1) rate.
		if e1 < a*e*(1-1e-12) || e1 > e*(1+1e-15) || e < 600 && e1 > a*math.Expm1(e)*(1+1e-12) {
			t.Fatalf("rate %v: %v of %v", a, e1, e)
		}
		more, _, err := classic.AmplifyPoisson(math.Min(1, a*1.1), e, d)
		if err != nil || more < e1*(1-1e-14) {
			t.Fatalf("rate %v costs %v, a larger one %v (%v)", a, e1, more, err)
		}
	})
	// A rate below e^-epsilon: what is left is the rate's own, without cancelling.
	for _, e := range []float64{49.9, 50.1, 100, 700, 1e5} {
		for _, q := range []float64{1e-3, 1e-20, 1e-300} {
			got, _, err := classic.AmplifyPoisson(q, e, 0)
			want := e + math.Log(q)
			if want < 40 {
				want = math.Log1p(math.Exp(want))
			}
			if err != nil || math.Abs(got-want) > 1e-9*(1+want) {
				t.Errorf("rate %v of %v: %v, want %v (%v)", q, e, got, want, err)
			}
		}
	}
}

// The limits of the conversion to zCDP, and that conversions of other kinds of
// mechanism are not it.
func TestPureToZCDPLimits(t *testing.T) {
	for _, e := range []float64{1e-8, 1e-4, 0.1, 1, 20, 1e4} {
		rho := value(t)(classic.PureToZCDP(e))
		if e <= 0.1 && math.Abs(rho/(e*e/2)-1) > e*e {
			t.Errorf("epsilon %v: rho %v, epsilon²/2 is %v", e, rho, e*e/2)
		}
		if e >= 20 && math.Abs(rho/e-1) > 1e-8 || rho > e {
			t.Errorf("epsilon %v: rho %v, at most epsilon", e, rho)
		}
		curve, err := rdp.PureDP(e)
		if err != nil {
			t.Fatal(err)
		}
		// epsilon²/8 is what mechanisms of bounded range have, not all of pure DP.
		if e >= 0.1 && curve(1+1e-6) <= e*e/8 && e < 7 {
			t.Errorf("epsilon %v: epsilon²/8 would be enough for %v", e, curve(1+1e-6))
		}
	}
}

// What a filter says has been spent does not depend on the order of what was
// charged, and a refusal in between, of any kind, leaves no trace.
func TestFiltersForgetRefusals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := privacy.Budget{Epsilon: 5, Delta: 1e-4}
		costs := rapid.SliceOfN(rapid.Float64Range(0, 0.2), 1, 12).Draw(t, "costs")
		run := func(costs []float64, disturbed bool) (spent [2]float64) {
			f, err := classic.NewFilter(b, 1e-5)
			r, err1 := classic.NewRenyiFilter(b, 8)
			if err := errors.Join(err, err1); err != nil {
				t.Fatal(err)
			}
			for _, c := range costs {
				if disturbed {
					for _, bad := range []error{
						f.Charge(1e3, 0), f.Charge(0, 0.5), f.Charge(math.NaN(), 0), f.Charge(-1, 0), f.Charge(0, -1), f.ChargeDivergence(0),
						r.ChargeDivergence(1e9), r.ChargeDivergence(math.Inf(1)), r.ChargeDivergence(math.NaN()), r.ChargeDivergence(-1), r.Charge(0, 0),
					} {
						if bad == nil {
							t.Fatal("not refused")
						}
					}
				}
				if err := errors.Join(f.Charge(c, c*1e-6), r.ChargeDivergence(c)); err != nil {
					t.Fatal(err)
				}
			}
			return [2]float64{f.Spent(), r.Spent()}
		}
		plain, disturbed := run(costs, false), run(costs, true)
		if plain != disturbed {
			t.Fatalf("%v, with refusals in between %v", plain, disturbed)
		}
		reversed := make([]float64, len(costs))
		for i, c := range costs {
			reversed[len(costs)-1-i] = c
		}
		if back := run(reversed, false); math.Abs(back[0]-plain[0]) > 1e-13*(1+plain[0]) || math.Abs(back[1]-plain[1]) > 1e-13 {
			t.Fatalf("%v, reversed %v", plain, back)
		}
	})
}

// Arguments out of range name the field, at every place that a list is taken too.
func TestEveryFieldIsRefused(t *testing.T) {
	type call = func(e, d float64, n int64) error
	calls := map[string]call{
		"Basic": func(e, d float64, n int64) error { _, _, err := classic.Basic(e, d, n); return err },
		"AdvancedAny": func(e, d float64, n int64) error {
			_, _, err := classic.AdvancedAny([]classic.Term{{Epsilon: 1, Count: 1}, {Epsilon: e, Delta: d, Count: n}}, 0.1)
			return err
		},
		"KFoldDelta": func(e, d float64, n int64) error {
			_, err := classic.KFoldDelta([]classic.Term{{Epsilon: e, Delta: d, Count: n}}, 1)
			return err
		},
		"KFoldEpsilon": func(e, d float64, n int64) error {
			_, err := classic.KFoldEpsilon([]classic.Term{{Epsilon: e, Delta: d, Count: n}}, 0.99)
			return err
		},
		"AmplifyPoisson": func(e, d float64, n int64) error { _, _, err := classic.AmplifyPoisson(0.5, e, d); return err },
	}
	for name, f := range calls {
		if err := f(1, 0.1, 3); err != nil {
			t.Errorf("%s refuses what is right: %v", name, err)
		}
		for _, e := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e-300, -1} {
			if err := f(e, 0, 1); err == nil || !strings.Contains(err.Error(), "epsilon is") {
				t.Errorf("%s with epsilon %v: %v", name, e, err)
			}
		}
		for _, d := range []float64{math.NaN(), math.Inf(1), -1e-300, 1.0000001, 7} {
			if err := f(1, d, 1); err == nil || !strings.Contains(err.Error(), "delta is") {
				t.Errorf("%s with delta %v: %v", name, d, err)
			}
		}
		for _, n := range []int64{0, -1, math.MinInt64, 1<<53 + 1, math.MaxInt64} {
			if err := f(0.5, 0, n); name != "AmplifyPoisson" && (err == nil || !strings.Contains(err.Error(), "count is")) {
				t.Errorf("%s with count %d: %v", name, n, err)
			}
		}
	}
	// The last counts and lists that are taken.
	if _, _, err := classic.Basic(1, 0, 1<<53); err != nil {
		t.Errorf("the largest count: %v", err)
	}
	if _, err := classic.KFoldDelta([]classic.Term{{Epsilon: 1e-9, Count: 1<<20 - 1}, {Epsilon: 2e-9, Count: 1 << 30}}, 1); err != nil {
		t.Errorf("as many outcomes as are taken: %v", err)
	}
}

// Two mechanisms that are known only by epsilon and delta, and what they cost
// together at the best delta, half of which is slack.
func ExampleAdvancedAny() {
	epsilon, delta, err := classic.AdvancedAny([]classic.Term{{Epsilon: 0.01, Delta: 1e-9, Count: 5000}, {Epsilon: 0.5, Count: 1}}, 1e-6)
	fmt.Printf("%.3f %.2e %v\n", epsilon, delta, err)
	// Output: 4.901 6.00e-06 <nil>
}
