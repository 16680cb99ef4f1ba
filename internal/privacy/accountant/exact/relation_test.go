package exact_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/reference"
)

// below reports an answer that is surely above another.
func below(a, b exact.Value) bool {
	return a.Epsilon-a.Error <= b.Epsilon+1e-12 && a.Delta-a.Error <= b.Delta*(1+1e-12)+1e-300
}

// ask is Delta where it is covered.
func ask(t *rapid.T, ts []terms.Term, eps float64) (exact.Value, bool) {
	v, err := exact.Delta(context.Background(), ts, eps)
	if err != nil && (!errors.Is(err, exact.ErrNotCovered) || v != (exact.Value{})) {
		t.Fatalf("%+v at %g: %+v, %v", ts, eps, v, err)
	}
	return v, err == nil
}

// Only the ratio of the move to the noise counts: in other units it is the same
// release, byte for byte.
func TestUnitsDoNotMatter(t *testing.T) {
	for _, by := range []float64{0x1p-20, 0.5, 2, 0x1p30} {
		for name, c := range map[string][2][]terms.Term{
			"gaussian":        {list(plain(gauss(1.3, 1, privacy.AddRemove), 7)), list(plain(gauss(1.3*by, by, privacy.AddRemove), 7))},
			"sampled":         {list(sampled(gauss(1.3, 1, privacy.AddRemove), 0.02, 700)), list(sampled(gauss(1.3*by, by, privacy.AddRemove), 0.02, 700))},
			"laplace":         {list(plain(laplace(2, 3), 1)), list(plain(laplace(2*by, 3*by), 1))},
			"sampled laplace": {list(sampled(laplace(2, 3), 0.1, 4), gaussians(2, 1)), list(sampled(laplace(2*by, 3*by), 0.1, 4), plain(gauss(2*by, by, privacy.AddRemove), 1))},
		} {
			for _, delta := range []float64{1e-7, 1e-3} {
				v, err := exact.Epsilon(context.Background(), c[0], delta)
				w, err1 := exact.Epsilon(context.Background(), c[1], delta)
				if err != nil || err1 != nil || v != w {
					t.Errorf("%s by %g: %+v and %+v (%v, %v)", name, by, v, w, err, err1)
				}
			}
		}
	}
}

// Unsampled Gaussians add up in squares: n of them, one of less noise, one that is
// moved further, and any mixture of unlike ones.
func TestGaussiansAddInSquares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(2, 100_000).Draw(t, "n")
		sigma, delta := draw(t, "sigma", 0.5, 300), draw(t, "delta", 1e-14, 0.4)
		beside := list()
		if rapid.Bool().Draw(t, "beside") {
			beside = list(rr(0.3, 3, 4))
		}
		many, err := exact.Epsilon(context.Background(), append(list(gaussians(sigma, n)), beside...), delta)
		for name, ts := range map[string][]terms.Term{
			"less noise": list(gaussians(sigma/math.Sqrt(float64(n)), 1)),
			"a group":    list(plain(gauss(sigma, math.Sqrt(float64(n)), privacy.AddRemove), 1)),
			"two terms":  list(gaussians(sigma, 1), plain(gauss(sigma*3, 3, privacy.AddRemove), n-1)),
		} {
			one, err1 := exact.Epsilon(context.Background(), append(ts, beside...), delta)
			if (err == nil) != (err1 == nil) || math.Abs(one.Epsilon-many.Epsilon) > 1e-13*many.Epsilon+2*(one.Error+many.Error) {
				t.Fatalf("%s: %+v, %d of %g %+v (%v, %v)", name, one, n, sigma, many, err1, err)
			}
		}
	})
}

// At epsilon 0 delta is the total variation, which has no direction.
func TestTotalVariationHasNoDirection(t *testing.T) {
	for name, ts := range map[string][]terms.Term{
		"sampled":          list(sampled(gauss(1.1, 1, privacy.AddRemove), 0.01, 2000)),
		"once":             list(sampled(gauss(0.4, 1, privacy.AddRemove), 0.3, 1)),
		"laplace":          list(sampled(laplace(1, 1), 0.2, 1)),
		"laplace, beside":  list(sampled(laplace(1, 2), 0.2, 8), gaussians(2, 1)),
		"discrete":         list(sampled(dlap(2, 3, 1).Leaf, 0.3, 5), gaussians(3, 2)),
		"discrete, once":   list(sampled(dlap(2, 3, 1).Leaf, 0.3, 1)),
		"sampled, unalike": list(sampled(gauss(1.1, 1, privacy.AddRemove), 0.05, 200), sampled(gauss(2, 1, privacy.AddRemove), 0.2, 100)),
	} {
		v, err := exact.DeltaIn(context.Background(), exact.Remove, ts, 0)
		w, err1 := exact.DeltaIn(context.Background(), exact.Add, ts, 0)
		if err != nil || err1 != nil || math.Abs(v.Delta-w.Delta) > v.Error+w.Error+1e-13*v.Delta {
			t.Errorf("%s: %+v and %+v (%v, %v)", name, v, w, err, err1)
		}
	}
}

// A record exchanged for another is one taken out and one put in: hockey sticks
// have a triangle inequality, and the exchange costs at least what the taking out
// alone does.
func TestReplaceIsTwoSteps(t *testing.T) {
	for _, c := range []struct {
		sigma, q float64
		n        int64
	}{{1, 0.05, 300}, {2, 0.5, 40}, {0.8, 0.01, 3000}, {1, 0.3, 1}} {
		add := list(sampled(gauss(c.sigma, 1, privacy.AddRemove), c.q, c.n))
		term := sampled(gauss(c.sigma, 2, privacy.Replace), c.q, c.n)
		term.Relation = privacy.Replace
		for _, eps := range []float64{0.1, 0.4, 1} {
			out, err := exact.DeltaIn(context.Background(), exact.Remove, add, eps)
			in, err1 := exact.DeltaIn(context.Background(), exact.Add, add, eps)
			both, err2 := exact.Delta(context.Background(), list(term), 2*eps)
			once, err3 := exact.Delta(context.Background(), list(term), eps)
			if err := errors.Join(err, err1, err2, err3); err != nil {
				t.Errorf("%+v at %g: %v", c, eps, err)
				continue
			}
			if most := out.Delta + math.Exp(eps)*in.Delta; both.Delta-both.Error > most {
				t.Errorf("%+v at %g: replaced %g, in two steps %g", c, eps, both.Delta, most)
			}
			if once.Delta < out.Delta-out.Error {
				t.Errorf("%+v at %g: replaced %g, removed %g", c, eps, once.Delta, out.Delta)
			}
		}
	}
}

// No mechanism of pure DP beats randomised response over two answers: all of them
// are it after more processing, also in any company.
func TestResponseIsTheWorstPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.Float64Range(0.05, 3).Draw(t, "epsilon")
		n := rapid.Int64Range(1, 12).Draw(t, "n")
		shift := float64(rapid.IntRange(1, 9).Draw(t, "shift"))
		beside := gaussians(draw(t, "sigma", 0.7, 3), 1)
		eps := rapid.Float64Range(0, 1).Draw(t, "share") * (e*float64(n) + 1)
		worst, ok := ask(t, list(ldp(e, n), beside), eps)
		if !ok {
			return
		}
		for name, term := range map[string]terms.Term{
			"three":            rr(e, 3, n),
			"a thousand":       rr(e, 1000, n),
			"laplace":          plain(laplace(1, e), n),
			"discrete laplace": dlap(shift/e, shift, n),
		} {
			if v, ok := ask(t, list(term, beside), eps); ok && !below(v, worst) {
				t.Fatalf("%s: %+v, the worst is %+v", name, v, worst)
			}
		}
		if same, ok := ask(t, list(rr(e, 2, n), beside), eps); !ok || same != worst {
			t.Fatalf("over two answers %+v, want %+v", same, worst)
		}
	})
}

// The optimal composition of (epsilon, delta) guarantees knows less than the curve
// that they are points of, and so is never below it.
func TestCurvesAreBelowOptimalComposition(t *testing.T) {
	for _, c := range []struct {
		one terms.Term
		n   int64
	}{{gaussians(2, 1), 20}, {sampled(gauss(0.8, 1, privacy.AddRemove), 0.1, 1), 60}, {dgauss(3, 1, 1), 15}, {dlap(2, 1, 1), 10}} {
		many := c.one
		many.Count = c.n
		for _, point := range []float64{0.2, 0.6} {
			v, err := exact.Delta(context.Background(), list(c.one), point)
			if err != nil {
				t.Fatal(err)
			}
			parts := []reference.Guarantee{{Epsilon: point, Delta: v.Delta, Count: c.n}}
			for _, eps := range []float64{0.5, 1.5, 4} {
				know := reference.KFoldDelta(parts, eps)
				if w, err := exact.Delta(context.Background(), list(many), eps); err != nil || w.Delta-w.Error > know {
					t.Errorf("%+v %d times at %g: %+v, from one point %g (%v)", c.one.Leaf, c.n, eps, w, know, err)
				}
			}
		}
	}
}

// Rényi DP of every order bounds the exact epsilon from above; by an independent
// evaluation of the same moments, and not by more than its known slack.
func TestBelowRenyi(t *testing.T) {
	compared := 0
	for _, q := range []float64{1e-4, 0.01, 0.3} {
		for _, sigma := range []float64{0.7, 1.5, 6} {
			for _, n := range []int64{1000, 100_000} {
				ts := list(sampled(gauss(sigma, 1, privacy.AddRemove), q, n))
				curve, err := rdp.Total(ts)
				if err != nil {
					t.Fatal(err)
				}
				for _, delta := range []float64{1e-3, 1e-7} {
					v, err := exact.Epsilon(context.Background(), ts, delta)
					if errors.Is(err, exact.ErrNotCovered) {
						continue
					} else if err != nil {
						t.Fatal(err)
					}
					compared++
					least := math.Inf(1)
					for a := 1.05; a < 3000; a *= 1.3 {
						least = math.Min(least, rdp.TightEpsilon(curve(a), a, delta))
					}
					if v.Epsilon-v.Error > math.Max(0, least)*(1+1e-12) {
						t.Errorf("q %g sigma %g, %d times, delta %g: %+v, by Rényi DP %g", q, sigma, n, delta, v, least)
					}
					// Within a factor of two of it where epsilon is not tiny: both price the same.
					if v.Epsilon > 1 && v.Epsilon < least/2 {
						t.Errorf("q %g sigma %g, %d times, delta %g: %+v, far below Rényi DP's %g", q, sigma, n, delta, v, least)
					}
				}
			}
		}
	}
	if compared < 25 {
		t.Errorf("only %d epsilons compared", compared)
	}
}

// Two compositions together cost no more than both of their guarantees added, and
// no less than either.
func TestBasicCompositionHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := list(sampled(gauss(draw(t, "sigma a", 0.9, 4), 1, privacy.AddRemove), draw(t, "q", 0.02, 0.5), int64(draw(t, "n", 300, 2e4))), gaussians(draw(t, "sigma", 1, 3), 1))
		b := list(rr(draw(t, "eps b", 0.01, 1), 4, rapid.Int64Range(1, 20).Draw(t, "responses")), gaussians(draw(t, "sigma b", 0.7, 4), 2))
		delta, share := draw(t, "delta", 1e-8, 0.05), rapid.Float64Range(0.05, 0.95).Draw(t, "share")
		v, ok := checked(t, a, delta*share)
		w, ok1 := checked(t, b, delta*(1-share))
		both, ok2 := checked(t, append(append(list(), a...), b...), delta)
		if !ok || !ok1 || !ok2 {
			return
		}
		if both.Epsilon-both.Error > v.Epsilon+w.Epsilon {
			t.Fatalf("%+v, apart %+v and %+v", both, v, w)
		}
		for _, ts := range [][]terms.Term{a, b} {
			if one, ok := checked(t, ts, delta); ok && one.Epsilon-one.Error > both.Epsilon {
				t.Fatalf("%+v, of which a part alone is %+v", both, one)
			}
		}
	})
}

// A sample of a sample is a sample: rates multiply, for one release exactly.
func TestSamplesOfSamples(t *testing.T) {
	for _, q := range []float64{0.1, 0.5, 0.9} {
		for _, r := range []float64{0.2, 0.8} {
			for _, eps := range []float64{0, 0.05, 0.3} {
				once, err := exact.DeltaIn(context.Background(), exact.Remove, list(sampled(gauss(0.7, 1, privacy.AddRemove), q*r, 1)), eps)
				// delta of the mixture of rate r at eps is r times that of the release
				// it is made of, at log(1 + (e^eps - 1)/r).
				inner, err1 := exact.DeltaIn(context.Background(), exact.Remove, list(sampled(gauss(0.7, 1, privacy.AddRemove), q, 1)), math.Log1p(math.Expm1(eps)/r))
				if err != nil || err1 != nil || math.Abs(once.Delta-r*inner.Delta) > 1e-12*once.Delta {
					t.Errorf("%g of %g at %g: %g, want %g (%v, %v)", r, q, eps, once.Delta, r*inner.Delta, err, err1)
				}
			}
		}
	}
}

// Epsilon is the inverse of Delta wherever the curve falls, and the smallest: just
// below it delta is not met.
func TestEpsilonIsTheSmallest(t *testing.T) {
	for name, ts := range map[string][]terms.Term{
		"gaussian": list(gaussians(1.4, 3)),
		"sampled":  list(sampled(gauss(1.1, 1, privacy.AddRemove), 256./60000, 14040)),
		"once":     list(sampled(gauss(0.6, 1, privacy.AddRemove), 0.2, 1)),
		"lattice":  list(rr(0.5, 3, 20)),
		"grid":     list(dgauss(4, 1, 12)),
		"mixed":    list(rr(0.5, 3, 5), plain(laplace(1, 0.3), 6), gaussians(1, 1)),
	} {
		for _, delta := range []float64{1e-9, 1e-5, 0.01} {
			v, err := exact.Epsilon(context.Background(), ts, delta)
			if err != nil || v.Delta != delta || v.Epsilon <= 0 {
				t.Errorf("%s at %g: %+v, %v", name, delta, v, err)
				continue
			}
			low := (v.Epsilon - v.Error) * (1 - 1e-9)
			over, err := exact.Delta(context.Background(), ts, low)
			if err != nil || over.Delta-over.Error < delta*(1-1e-7) || over.Delta <= delta {
				t.Errorf("%s at %g: delta %+v just below the epsilon %+v (%v)", name, delta, over, v, err)
			}
			under, err := exact.Delta(context.Background(), ts, v.Epsilon)
			if err != nil || under.Delta-under.Error > delta {
				t.Errorf("%s at %g: delta %+v at the epsilon %+v (%v)", name, delta, under, v, err)
			}
			if under.Epsilon != v.Epsilon {
				t.Errorf("%s: asked at %g, answered at %g", name, v.Epsilon, under.Epsilon)
			}
		}
	}
}

// The same question has the same bytes for an answer, from any number of
// goroutines, and terms are left as they were.
func TestAnswersAreTheSame(t *testing.T) {
	ts := list(sampled(gauss(1.2, 1, privacy.AddRemove), 0.01, 3000), plain(laplace(3, 1), 4), rr(0.2, 5, 3), dgauss(3, 1, 2), gaussians(4, 2))
	before := append([]terms.Term(nil), ts...)
	want, err := exact.Epsilon(context.Background(), ts, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	at, err := exact.Delta(context.Background(), ts, 1)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	answers := make([][2]exact.Value, 16)
	for i := range answers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			answers[i][0], _ = exact.Epsilon(context.Background(), ts, 1e-6)
			answers[i][1], _ = exact.Delta(context.Background(), ts, 1)
		}()
	}
	wait.Wait()
	for i, got := range answers {
		if got != [2]exact.Value{want, at} {
			t.Errorf("goroutine %d: %+v, want %+v and %+v", i, got, want, at)
		}
	}
	if !reflect.DeepEqual(ts, before) {
		t.Errorf("the terms are now %+v", ts)
	}
}
