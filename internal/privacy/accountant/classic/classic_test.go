package classic

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func must(t interface{ Fatal(...any) }, v float64, err error) float64 {
	if err != nil {
		t.Fatal(err)
	}
	if math.IsNaN(v) || v < 0 {
		t.Fatal("not a guarantee: ", v)
	}
	return v
}

// The hockey-stick divergence of k randomised responses whose ratio is a whole
// number, in rationals, straight from its definition: the sum over outcomes of
// max(0, P - e^epsilon Q), at e^epsilon a rational too.
func TestKFoldAgainstRationals(t *testing.T) {
	for _, ratio := range []int64{2, 3, 17} {
		for _, k := range []int64{1, 2, 5, 20} {
			for _, e := range []*big.Rat{big.NewRat(1, 1), big.NewRat(3, 2), big.NewRat(2, 1), big.NewRat(100, 7), big.NewRat(ratio*ratio, 1)} {
				var want big.Rat
				for n := range k + 1 { // n answers for the truth
					p, q := outcome(ratio, k, n), outcome(ratio, k, k-n)
					p.Sub(p, q.Mul(q, e))
					if p.Sign() > 0 {
						want.Add(&want, p.Mul(p, new(big.Rat).SetInt(new(big.Int).Binomial(k, n))))
					}
				}
				exact, _ := want.Float64()
				ef, _ := e.Float64()
				got, err := KFoldDelta([]Term{{math.Log(float64(ratio)), 0, k}}, math.Log(ef))
				if err != nil || math.Abs(got-exact) > 1e-12*exact+1e-15 {
					t.Errorf("ratio %d, %d times, e^epsilon %v: %v, want %v, %v", ratio, k, e, got, exact, err)
				}
			}
		}
	}
}

// outcome is the probability of one outcome with n true answers of k.
func outcome(ratio, k, n int64) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).Exp(big.NewInt(ratio), big.NewInt(n), nil), new(big.Int).Exp(big.NewInt(ratio+1), big.NewInt(k), nil))
}

func drawParts(t *rapid.T) []Term {
	terms := make([]Term, rapid.IntRange(1, 3).Draw(t, "terms"))
	for i := range terms {
		terms[i] = Term{
			Epsilon: math.Pow(10, rapid.Float64Range(-4, 1.2).Draw(t, "epsilon")), Count: rapid.Int64Range(1, 40).Draw(t, "count"),
		}
		if rapid.Bool().Draw(t, "approximate") {
			terms[i].Delta = math.Pow(10, rapid.Float64Range(-12, -3).Draw(t, "delta"))
		}
	}
	return terms
}

// Exact composition is below every theorem, falls with epsilon, rises with every
// term, is the same however equal terms are written, and its inverse never
// overshoots.
func TestKFoldProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := drawParts(t)
		sum, failed := 0.0, failure(terms)
		for _, p := range terms {
			sum += p.Epsilon * float64(p.Count)
		}
		epsilon := sum * rapid.Float64Range(0, 1).Draw(t, "share")
		d := must(t, val(KFoldDelta(terms, epsilon)), nil)
		if d > 1 || d < failed*(1-1e-12) {
			t.Fatalf("delta %v, of failures alone %v", d, failed)
		}
		if more := must(t, val(KFoldDelta(terms, epsilon*1.01)), nil); more > d*(1+1e-12) {
			t.Fatalf("delta rises with epsilon from %v to %v", d, more)
		}
		longer := append(append([]Term(nil), terms...), Term{0.1, 1e-9, 1})
		if more := must(t, val(KFoldDelta(longer, epsilon)), nil); more < d*(1-1e-12) {
			t.Fatalf("one term more lowers delta from %v to %v", d, more)
		}
		var split []Term
		for _, p := range terms {
			if p.Count > 1 {
				split = append(split, Term{p.Epsilon, p.Delta, 1}, Term{p.Epsilon, p.Delta, p.Count - 1})
			} else {
				split = append(split, p)
			}
		}
		if same := must(t, val(KFoldDelta(split, epsilon)), nil); math.Abs(same-d) > 1e-12*d {
			t.Fatalf("delta %v of the same terms, split: %v", d, same)
		}
		slack := math.Pow(10, rapid.Float64Range(-12, -1).Draw(t, "slack"))
		bound, at, err := AdvancedAny(terms, slack)
		if err != nil {
			t.Fatal(err)
		}
		if d := must(t, val(KFoldDelta(terms, bound)), nil); d > at*(1+1e-9) {
			t.Fatalf("theorem 3.5 says (%v, %v), the exact delta there is %v", bound, at, d)
		}
		target := failed + (1-failed)*math.Pow(10, rapid.Float64Range(-14, -0.1).Draw(t, "target"))
		e := must(t, val(KFoldEpsilon(terms, target)), nil)
		if back := must(t, val(KFoldDelta(terms, e)), nil); back > target {
			t.Fatalf("epsilon %v has delta %v, above %v", e, back, target)
		}
		if e > sum*(1+1e-12) {
			t.Fatalf("epsilon %v above the sum %v", e, sum)
		}
		if e > 0 {
			if less := must(t, val(KFoldDelta(terms, e*(1-1e-9))), nil); less < target*(1-1e-9) {
				t.Fatalf("epsilon %v is not the smallest: delta %v just below it, target %v", e, less, target)
			}
		}
	})
}

func val(v float64, err error) float64 {
	if err != nil {
		return math.NaN()
	}
	return v
}

func TestKFoldEdges(t *testing.T) {
	for _, c := range []struct {
		name    string
		terms   []Term
		delta   float64
		epsilon float64
	}{
		{"pure sum", []Term{{0.5, 0, 3}, {1, 0, 2}}, 0, 3.5},
		{"nothing", []Term{{0, 0, 7}}, 0, 0},
		{"failures only", []Term{{0, 1e-3, 1}}, 1e-3, 0},
		{"one response at its own delta", []Term{{1, 0, 1}}, (math.E - 1) / (math.E + 1), 0},
		{"a delta that everything has", []Term{{1, 0, 4}}, 0.999, 0},
	} {
		got, err := KFoldEpsilon(c.terms, c.delta)
		if err != nil || math.Abs(got-c.epsilon) > 1e-12 {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.epsilon)
		}
	}
	if _, err := KFoldEpsilon([]Term{{1, 1e-3, 10}}, 1e-3); !errors.Is(err, ErrUnreachable) {
		t.Errorf("an unreachable delta: %v", err)
	}
	if d, err := KFoldDelta([]Term{{1, 1, 1}}, 0); d != 1 || err != nil {
		t.Errorf("a term that fails always: %v, %v", d, err)
	}
	if d, err := KFoldDelta([]Term{{1, 0, 3}}, 3); d != 0 || err != nil {
		t.Errorf("at the sum of pure terms: %v, %v", d, err)
	}
}

// With a million terms exact composition takes milliseconds and is far below the
// closed forms.
func TestKFoldManyParts(t *testing.T) {
	terms := []Term{{0.001, 0, 1000000}}
	e := must(t, val(KFoldEpsilon(terms, 1e-6)), nil)
	closed := must(t, val(AdvancedTight(0.001, 1000000, 1e-6)), nil)
	if !(e > 4 && e < closed) {
		t.Errorf("exact %v, closed form %v", e, closed)
	}
}

// The Kullback-Leibler form of rho dominates the whole curve of randomised
// response, and nothing smaller does.
func TestPureToZCDP(t *testing.T) {
	for _, e := range []float64{1e-3, 0.1, 1, 3, 10} {
		rho := must(t, val(PureToZCDP(e)), nil)
		if rho > e*e/2 {
			t.Errorf("epsilon %v: rho %v above epsilon²/2", e, rho)
		}
		p, q := 1/(1+math.Exp(-e)), 1/(1+math.Exp(e))
		for alpha := 1.0001; alpha < 1e4; alpha *= 1.1 {
			// log(p^a q^(1-a) + q^a p^(1-a))/(a-1) with q = p e^-e
			d := (math.Log(p*math.Exp(0)+q*math.Exp((1-2*alpha)*e)) + (alpha-1)*e) / (alpha - 1)
			if d > alpha*rho*(1+1e-9)+1e-12 {
				t.Errorf("epsilon %v, order %v: divergence %v above %v", e, alpha, d, alpha*rho)
			}
		}
		if kl := (p - q) * e; math.Abs(kl-rho) > 1e-12*rho {
			t.Errorf("epsilon %v: rho %v, divergence at order 1 %v", e, rho, kl)
		}
	}
}

// Sampling a randomised response: the exact log-ratio of (1-q) Q + q P over Q.
func TestAmplify(t *testing.T) {
	for _, q := range []float64{1e-6, 0.1, 0.5, 1} {
		for _, e := range []float64{0, 1e-5, 1, 10} {
			got, d, err := AmplifyPoisson(q, e, 1e-3)
			p, r := 1/(1+math.Exp(-e)), 1/(1+math.Exp(e))
			if want := math.Log(((1-q)*r + q*p) / r); err != nil || math.Abs(got-want) > 1e-9*want+1e-15 || d != q*1e-3 {
				t.Errorf("q=%v epsilon=%v: %v, %v, want %v, %v", q, e, got, d, want, err)
			}
		}
	}
	low, _, err1 := AmplifyPoisson(0.3, 50, 0)
	high, _, err2 := AmplifyPoisson(0.3, math.Nextafter(50, 51), 0)
	if errors.Join(err1, err2) != nil || math.Abs(low-high) > 1e-12 {
		t.Errorf("the two forms differ at 50: %v, %v", low, high)
	}
	if e, d, err := AmplifyPoisson(0, 3, 1); e != 0 || d != 0 || err != nil {
		t.Errorf("no unit in: %v, %v, %v", e, d, err)
	}
	if e, _, err := AmplifyPoisson(1e-300, 51, 1); e < 0 || err != nil {
		t.Errorf("a rate below e^-epsilon: %v, %v", e, err)
	}
	a, _, err1 := AmplifyWithoutReplacement(3, 10, 2, 0)
	b, _, err2 := AmplifyPoisson(0.3, 2, 0)
	if a != b || errors.Join(err1, err2) != nil {
		t.Errorf("3 of 10: %v, rate 0.3: %v", a, b)
	}
}
