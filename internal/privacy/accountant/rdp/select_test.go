package rdp_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/rng"
)

// generating is the probability generating function of a law, from its sum over the numbers of
// runs: Papernot and Steinke 2022, definition 1, and nothing of the code under test.
func generating(eta, gamma float64) func(x float64) float64 {
	return func(x float64) float64 {
		if eta == 0 {
			return math.Log(1-(1-gamma)*x) / math.Log(gamma)
		}
		return (math.Pow(1-(1-gamma)*x, -eta) - 1) / (math.Pow(gamma, -eta) - 1)
	}
}

var laws = []struct{ eta, gamma float64 }{{0, 0.05}, {1, 0.1}, {-0.5, 0.01}, {2, 0.2}, {0.5, 0.9}, {1e-12, 0.05}}

// Means and draws against the generating function: its slope at 1, and its coefficients.
func TestSelectionLaw(t *testing.T) {
	for _, l := range laws {
		s, f := rdp.Selection{Eta: l.eta, Gamma: l.gamma}, generating(math.Round(l.eta*1e6)/1e6, l.gamma)
		const h = 1e-6
		near(t, fmt.Sprintf("mean of %v", s), s.Mean(), (f(1)-f(1-2*h))/(2*h), 1e-3)
		back, err := rdp.SelectionFor(l.eta, s.Mean())
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprintf("gamma of %v", s), back.Gamma, l.gamma, 1e-6)
		// Every probability of the first runs is the length of the draws that give it.
		const n = 1 << 16
		count := map[int64]float64{}
		for i := range n {
			count[s.Draw((float64(i)+0.5)/n)]++
		}
		for _, x := range []float64{0, 0.3, 0.8, 0.95} {
			sum := 0.0
			for k, c := range count {
				sum += c / n * math.Pow(x, float64(k))
			}
			if math.Abs(sum-f(x)) > 2.0/n*30 { // each of about 30 steps is at most a draw off
				t.Errorf("%v at %v: %v, want %v", s, x, sum, f(x))
			}
		}
	}
}

// The bound holds, and is near, for what it bounds: the exact divergence of the best of a random
// number of draws from small laws. P(best <= y) is the generating function at P(one <= y).
func TestSelectionBoundsTheBest(t *testing.T) {
	stream := rng.Seed(1).Stream("select")
	nearest := math.Inf(1)
	for trial := range 300 {
		l := laws[trial%len(laws)]
		n := 2 + stream.IntN(5)
		p, q := make([]float64, n), make([]float64, n)
		sp, sq := 0.0, 0.0
		for i := range p {
			p[i] = 0.001 + math.Pow(stream.Float64(), 3)
			q[i] = p[i] * math.Exp((stream.Float64()-0.5)*2)
			sp, sq = sp+p[i], sq+q[i]
		}
		for i := range p {
			p[i], q[i] = p[i]/sp, q[i]/sq
		}
		c := discrete(p, q)
		bound, err := rdp.Selection{Eta: l.eta, Gamma: l.gamma}.Curve(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		f := generating(math.Round(l.eta*1e6)/1e6, l.gamma)
		exact := discrete(best(f, p), best(f, q))
		for _, alpha := range []float64{1.5, 2, 4, 16, 100, math.Inf(1)} {
			e, b := exact(alpha), bound(alpha)
			if e > b*(1+1e-9) {
				t.Fatalf("eta %v gamma %v, order %v: %v above the bound %v", l.eta, l.gamma, alpha, e, b)
			}
			nearest = math.Min(nearest, b/e)
		}
	}
	if nearest > 1.5 {
		t.Errorf("the bound is never nearer than %v times the exact divergence", nearest)
	}
}

// best is the law of the largest of a random number of draws.
func best(f func(float64) float64, p []float64) []float64 {
	out, sum, before := make([]float64, len(p)), 0.0, f(0)
	for i := range p {
		sum += p[i]
		now := f(math.Min(sum, 1))
		out[i], before = now-before, now
	}
	return out
}

// discrete is the larger Rényi divergence of two laws.
func discrete(p, q []float64) rdp.Curve {
	one := func(p, q []float64, alpha float64) float64 {
		s, kl, most := 0.0, 0.0, math.Inf(-1)
		for i := range p {
			r := math.Log(p[i] / q[i])
			most = math.Max(most, r)
			kl += p[i] * r
			s += p[i] * math.Exp((alpha-1)*r)
		}
		switch {
		case math.IsInf(alpha, 1):
			return most
		case alpha == 1:
			return kl
		case alpha > 300: // the sum overflows; the divergence is below the largest log-ratio
			return most
		}
		return math.Log(s) / (alpha - 1)
	}
	return func(alpha float64) float64 { return math.Max(one(p, q, alpha), one(q, p, alpha)) }
}

// A pure mechanism of epsilon costs (2+eta) epsilon: the corollary of theorem 2 for pure
// differential privacy. Its orders are infinite.
func TestSelectionOfPure(t *testing.T) {
	for _, eta := range []float64{-0.5, 0, 1, 3} {
		pure := must(rdp.PureDP(0.7))(t)
		s := must(rdp.SelectionFor(eta, 1e6))(t) // so many runs that no finite order helps
		c := must(s.Curve(context.Background(), pure))(t)
		near(t, fmt.Sprintf("eta %v", eta), c(math.Inf(1)), (2+eta)*0.7, 1e-9)
	}
}

// Gaussian runs, against theorem 2 minimised over a fine grid of both orders by a plain program
// (numpy), with the conversion of Canonne, Kamath and Steinke.
func TestSelectionOfGaussian(t *testing.T) {
	for _, c := range []struct{ sigma, eta, mean, delta, want float64 }{
		{2, 0, 10, 1e-6, 3.868385537438282},
		{4, 1, 16, 1e-6, 2.398538900107338},
		{1.5, -0.5, 100, 1e-5, 5.044831489002121},
	} {
		s := must(rdp.SelectionFor(c.eta, c.mean))(t)
		curve := must(s.Curve(context.Background(), must(rdp.Gaussian(c.sigma, 1))(t)))(t)
		near(t, fmt.Sprintf("%+v", c), must(rdp.Epsilon(context.Background(), curve, c.delta, rdp.Options{}))(t).Epsilon, c.want, 1e-5)
	}
}

// What is no law is refused.
func TestSelectionRefuses(t *testing.T) {
	one := must(rdp.Gaussian(1, 1))(t)
	for _, s := range []rdp.Selection{{-1, 0.5}, {math.NaN(), 0.5}, {0, 0}, {0, 1.1}, {math.Inf(1), 0.5}} {
		if c, err := s.Curve(context.Background(), one); err == nil || c != nil {
			t.Errorf("%+v was taken", s)
		}
	}
	for _, mean := range []float64{0.5, math.NaN(), 1e10} {
		if _, err := rdp.SelectionFor(0, mean); err == nil {
			t.Errorf("mean %v was taken", mean)
		}
	}
	if c := must(rdp.Selection{Eta: 0, Gamma: 1}.Curve(context.Background(), one))(t); c(3) != one(3) {
		t.Error("one run costs more than one run")
	}
}
