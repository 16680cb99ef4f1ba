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
				got, err := KFoldDelta([]Part{{math.Log(float64(ratio)), 0, k}}, math.Log(ef))
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

func drawParts(t *rapid.T) []Part {
	parts := make([]Part, rapid.IntRange(1, 3).Draw(t, "parts"))
	for i := range parts {
		parts[i] = Part{
			Epsilon: math.Pow(10, rapid.Float64Range(-4, 1.2).Draw(t, "epsilon")), Count: rapid.Int64Range(1, 40).Draw(t, "count"),
		}
		if rapid.Bool().Draw(t, "approximate") {
			parts[i].Delta = math.Pow(10, rapid.Float64Range(-12, -3).Draw(t, "delta"))
		}
	}
	return parts
}

// Exact composition is below every theorem, falls with epsilon, rises with every
// part, is the same however equal parts are written, and its inverse never
// overshoots.
func TestKFoldProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := drawParts(t)
		sum, failed := 0.0, failure(parts)
		for _, p := range parts {
			sum += p.Epsilon * float64(p.Count)
		}
		epsilon := sum * rapid.Float64Range(0, 1).Draw(t, "share")
		d := must(t, val(KFoldDelta(parts, epsilon)), nil)
		if d > 1 || d < failed*(1-1e-12) {
			t.Fatalf("delta %v, of failures alone %v", d, failed)
		}
		if more := must(t, val(KFoldDelta(parts, epsilon*1.01)), nil); more > d*(1+1e-12) {
			t.Fatalf("delta rises with epsilon from %v to %v", d, more)
		}
		longer := append(append([]Part(nil), parts...), Part{0.1, 1e-9, 1})
		if more := must(t, val(KFoldDelta(longer, epsilon)), nil); more < d*(1-1e-12) {
			t.Fatalf("one part more lowers delta from %v to %v", d, more)
		}
		var split []Part
		for _, p := range parts {
			if p.Count > 1 {
				split = append(split, Part{p.Epsilon, p.Delta, 1}, Part{p.Epsilon, p.Delta, p.Count - 1})
			} else {
				split = append(split, p)
			}
		}
		if same := must(t, val(KFoldDelta(split, epsilon)), nil); math.Abs(same-d) > 1e-12*d {
			t.Fatalf("delta %v of the same parts, split: %v", d, same)
		}
		slack := math.Pow(10, rapid.Float64Range(-12, -1).Draw(t, "slack"))
		bound, at, err := AdvancedAny(parts, slack)
		if err != nil {
			t.Fatal(err)
		}
		if d := must(t, val(KFoldDelta(parts, bound)), nil); d > at*(1+1e-9) {
			t.Fatalf("theorem 3.5 says (%v, %v), the exact delta there is %v", bound, at, d)
		}
		target := failed + (1-failed)*math.Pow(10, rapid.Float64Range(-14, -0.1).Draw(t, "target"))
		e := must(t, val(KFoldEpsilon(parts, target)), nil)
		if back := must(t, val(KFoldDelta(parts, e)), nil); back > target {
			t.Fatalf("epsilon %v has delta %v, above %v", e, back, target)
		}
		if e > sum*(1+1e-12) {
			t.Fatalf("epsilon %v above the sum %v", e, sum)
		}
		if e > 0 {
			if less := must(t, val(KFoldDelta(parts, e*(1-1e-9))), nil); less < target*(1-1e-9) {
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
		parts   []Part
		delta   float64
		epsilon float64
	}{
		{"pure sum", []Part{{0.5, 0, 3}, {1, 0, 2}}, 0, 3.5},
		{"nothing", []Part{{0, 0, 7}}, 0, 0},
		{"failures only", []Part{{0, 1e-3, 1}}, 1e-3, 0},
		{"one response at its own delta", []Part{{1, 0, 1}}, (math.E - 1) / (math.E + 1), 0},
		{"a delta that everything has", []Part{{1, 0, 4}}, 0.999, 0},
	} {
		got, err := KFoldEpsilon(c.parts, c.delta)
		if err != nil || math.Abs(got-c.epsilon) > 1e-12 {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.epsilon)
		}
	}
	if _, err := KFoldEpsilon([]Part{{1, 1e-3, 10}}, 1e-3); !errors.Is(err, ErrUnreachable) {
		t.Errorf("an unreachable delta: %v", err)
	}
	if d, err := KFoldDelta([]Part{{1, 1, 1}}, 0); d != 1 || err != nil {
		t.Errorf("a part that fails always: %v, %v", d, err)
	}
	if d, err := KFoldDelta([]Part{{1, 0, 3}}, 3); d != 0 || err != nil {
		t.Errorf("at the sum of pure parts: %v, %v", d, err)
	}
}

// With a million parts exact composition takes milliseconds and is far below the
// closed forms.
func TestKFoldManyParts(t *testing.T) {
	parts := []Part{{0.001, 0, 1000000}}
	e := must(t, val(KFoldEpsilon(parts, 1e-6)), nil)
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
		t.Errorf("nobody in: %v, %v, %v", e, d, err)
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

// Integer noise against the definition: the sum of max(0, P(k) - e^epsilon
// P(k+shift)) over the grid.
func TestDiscreteDeltas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := math.Pow(10, rapid.Float64Range(-0.7, 1.7).Draw(t, "width"))
		shift := rapid.Int64Range(1, 30).Draw(t, "shift")
		a, s := 1/width, float64(shift)
		epsilon := rapid.Float64Range(0, 1.2).Draw(t, "share") * a * s
		reach := int(40*width) + int(shift) + 40
		laplace, gauss, z := 0.0, 0.0, 0.0
		for k := -reach; k <= reach; k++ {
			x := float64(k)
			z += math.Exp(-x * x / (2 * width * width))
			laplace += math.Max(0, math.Exp(-a*math.Abs(x))-math.Exp(epsilon-a*math.Abs(x+s)))
			gauss += math.Max(0, math.Exp(-x*x/(2*width*width))-math.Exp(epsilon-(x+s)*(x+s)/(2*width*width)))
		}
		laplace *= math.Tanh(a / 2)
		gauss /= z
		if got := must(t, val(DiscreteLaplaceDelta(width, shift, epsilon)), nil); math.Abs(got-laplace) > 1e-12*laplace+1e-14 {
			t.Fatalf("laplace of scale %v, shift %d, epsilon %v: %v, want %v", width, shift, epsilon, got, laplace)
		}
		if got := must(t, val(DiscreteGaussianDelta(width, shift, epsilon)), nil); math.Abs(got-gauss) > 1e-12*gauss+1e-14 {
			t.Fatalf("gaussian of sigma %v, shift %d, epsilon %v: %v, want %v", width, shift, epsilon, got, gauss)
		}
	})
	// Coarse limits: no noise tells everything, no shift to speak of nothing.
	if d, err := DiscreteGaussianDelta(1e-3, 1, 1); err != nil || math.Abs(d-1) > 1e-12 {
		t.Errorf("without noise: %v, %v", d, err)
	}
	if d, err := DiscreteGaussianDelta(1, 1, 1e3); err != nil || d != 0 {
		t.Errorf("a delta of e^-500000: %v, %v", d, err)
	}
	if d, err := DiscreteGaussianDelta(2, 1e6, 0.5); err != nil || math.Abs(d-1) > 1e-12 {
		t.Errorf("a shift beyond all noise: %v, %v", d, err)
	}
}

// The laws of the oracles: what they support, and their variance from the two
// probabilities, where that does not cancel.
func TestOracles(t *testing.T) {
	for _, kind := range []OracleKind{GRR, SUE, OUE, OLH} {
		for _, e := range []float64{0.5, 1, 2, 5} {
			o := Oracle{kind, e, 7}
			p, q := o.P(), o.Q()
			if !(q > 0 && p > q && p < 1) || math.Abs(o.difference()-(p-q)) > 1e-14 || math.Abs(o.miss()-(1-p)) > 1e-14 {
				t.Errorf("%+v: P %v, Q %v, difference %v, miss %v", o, p, q, o.difference(), o.miss())
			}
			ratio := map[OracleKind]float64{GRR: p / q, SUE: p * (1 - q) / (q * (1 - p)), OUE: p * (1 - q) / (q * (1 - p)), OLH: math.Exp(e)}[kind]
			if math.Abs(ratio-math.Exp(e)) > 1e-9*ratio {
				t.Errorf("%+v: ratio %v, want e^%v", o, ratio, e)
			}
			for _, f := range []float64{0, 0.3, 1} {
				v := must(t, val(o.Variance(50, f)), nil)
				if want := (f*p*(1-p) + (1-f)*q*(1-q)) / (50 * (p - q) * (p - q)); math.Abs(v-want) > 1e-10*want {
					t.Errorf("%+v: variance %v, want %v", o, v, want)
				}
			}
		}
	}
}

// Responses: they add up to one, the noise form is the same law, and the delta is
// the definition.
func TestResponse(t *testing.T) {
	for _, k := range []int64{2, 5, 100000} {
		for _, noise := range []float64{1e-9, 0.3, 1} {
			r, err := FromNoise(noise, k)
			if err != nil {
				t.Fatal(err)
			}
			if keep := 1 - noise + noise/float64(k); math.Abs(r.Keep()-keep) > 1e-14 || math.Abs(r.Keep()+float64(k-1)*r.Other()-1) > 1e-14 {
				t.Errorf("noise %v of %d: %+v keeps %v, want %v", noise, k, r, r.Keep(), keep)
			}
			for _, e := range []float64{0, 0.5, 3} {
				d := must(t, val(r.Delta(e)), nil)
				if want := math.Max(0, r.Keep()-math.Exp(e)*r.Other()); math.Abs(d-want) > 1e-14 {
					t.Errorf("%+v at %v: %v, want %v", r, e, d, want)
				}
			}
		}
	}
}

// The hybrid is the better of the two worlds: never above both.
func TestHybrid(t *testing.T) {
	for _, e := range []float64{0.1, 0.61, 0.62, 1, 5} {
		for _, x := range []float64{-1, 0, 0.4, 1} {
			h, p, d := val(HybridVariance(e, x)), val(PiecewiseVariance(e, x)), val(DuchiVariance(e, x))
			if !(h <= math.Max(p, d)*(1+1e-12) && h >= math.Min(p, d)*(1-1e-12)) {
				t.Errorf("epsilon %v, x %v: hybrid %v of %v and %v", e, x, h, p, d)
			}
		}
	}
}
