package pld

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/numeric"
)

// One release of every kind, in both directions: the bracket holds the hockey
// stick that the tails and atoms give directly, and epsilon inverts it.
func TestOneRelease(t *testing.T) {
	for name, x := range pairs(t) {
		for _, eps := range []float64{0, 0.01, 0.2, 0.65, 1.5} {
			bs, err := brackets(context.Background(), []term{{x, 1}}, query{eps: eps}, Options{Bins: 1 << 14}, false)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			remove := exactDelta(x, eps)
			add := 1 - math.Exp(eps) + math.Exp(eps)*exactDelta(x, -eps)
			for i, want := range []float64{remove, add} {
				b := bs[min(i, len(bs)-1)]
				tol := 1e-9*want + 1e-14*math.Exp(eps)
				if b.Lower > want+tol || b.Upper < want-tol {
					t.Errorf("%s, direction %d, epsilon %g: %g to %g, want %g", name, i, eps, b.Lower, b.Upper, want)
				}
			}
			if remove < 1e-9 || eps == 0 {
				continue
			}
			bs, err = brackets(context.Background(), []term{{x, 1}}, query{delta: remove, solve: true}, Options{Bins: 1 << 14}, false)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if b := bs[0]; b.Lower > eps*(1+1e-9) || b.Upper < eps*(1-1e-9) {
				t.Errorf("%s, delta %g: %g to %g, want %g", name, remove, b.Lower, b.Upper, eps)
			}
		}
	}
}

// Unsampled Gaussians against the closed form of Balle and Wang, theorem 8.
func TestGaussianClosedForm(t *testing.T) {
	check(t, func(t *rapid.T) {
		mu := logUniform(t, "mu", 1e-3, 8)
		n := rapid.Int64Range(1, 1000).Draw(t, "steps")
		eps := rapid.Float64Range(0, mu*mu/2+4*mu).Draw(t, "epsilon")
		sigma := math.Sqrt(float64(n)) / mu
		b, err := DeltaBracket(context.Background(), []terms.Term{gaussianTerm(1, sigma, 1, privacy.AddRemove, n)}, eps, small)
		if err != nil {
			t.Fatal(err)
		}
		a := mu/2 - eps/mu
		want := math.Exp(numeric.LogPhi(a)) * numeric.MillsDifference(-a, mu)
		if a > 0 {
			want = numeric.Upper(-a) - math.Exp(eps)*numeric.Upper(mu-a)
		}
		if tol := 1e-9*want + 1e-14; b.Lower > want+tol || b.Upper < want-tol || b.Upper-b.Lower > 0.02*want+1e-9 {
			t.Fatalf("mu %g, epsilon %g: %g to %g, want %g", mu, eps, b.Lower, b.Upper, want)
		}
	})
}

// Randomized response against the binomial sum of Kairouz, Oh and Viswanath.
func TestResponseBinomial(t *testing.T) {
	check(t, func(t *rapid.T) {
		e := logUniform(t, "epsilon of one", 1e-3, 2)
		n := rapid.IntRange(1, 300).Draw(t, "steps")
		eps := rapid.Float64Range(0, float64(n)*e).Draw(t, "epsilon")
		b, err := DeltaBracket(context.Background(), []terms.Term{{Leaf: privacy.PureLDP{Epsilon: e, Unit: user}, Rate: 1, Relation: privacy.Replace, Count: int64(n)}}, eps, small)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for k := range n + 1 {
			if loss := float64(2*k-n) * e; loss > eps {
				log := numeric.LogBinomial(n, k) + float64(k)*e - float64(n)*math.Log1p(math.Exp(e))
				want += math.Exp(log) * -math.Expm1(eps-loss)
			}
		}
		if tol := 1e-9*want + 1e-300; b.Lower > want+tol || b.Upper < want-tol {
			t.Fatalf("%d times %g, epsilon %g: %g to %g, want %g", n, e, eps, b.Lower, b.Upper, want)
		}
	})
}

// Composition in both directions against direct convolution of a law of few
// atoms, which rests on neither tilt nor transform.
func TestConvolution(t *testing.T) {
	x, err := discreteLaplace(3, 2)
	if err != nil {
		t.Fatal(err)
	}
	x = x.sampled(0.3)
	const n = 6
	for _, eps := range []float64{0, 0.1, 0.3, 0.7} {
		bs, err := brackets(context.Background(), []term{{x, n}}, query{eps: eps}, Options{Bins: 1 << 16}, false)
		if err != nil {
			t.Fatal(err)
		}
		for i, atoms := range [][]atom{x.atoms, swapped(x.atoms)} {
			want := convolve(atoms, n, 0, 1, eps)
			if b := bs[i]; b.Lower > want*(1+1e-9) || b.Upper < want*(1-1e-9) || b.Upper-b.Lower > 0.01*want {
				t.Errorf("direction %d, epsilon %g: %g to %g, want %g", i, eps, b.Lower, b.Upper, want)
			}
		}
	}
}

func convolve(atoms []atom, n int, loss, p, eps float64) float64 {
	if n == 0 {
		return p * max(0, -math.Expm1(eps-loss))
	}
	s := 0.0
	for _, a := range atoms {
		s += convolve(atoms, n-1, loss+a.loss, p*a.p, eps)
	}
	return s
}
