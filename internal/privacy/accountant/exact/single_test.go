package exact_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/accountant/classic"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/terms"
)

// Values of 50-digit arithmetic at parameters far from those of the other files.
func TestSinglesFarOut(t *testing.T) {
	b, err := os.ReadFile("testdata/more.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Entries []golden }
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Entries) != 25 {
		t.Errorf("%d rows, want 25", len(f.Entries))
	}
	for _, g := range f.Entries {
		var got float64
		var err error
		switch g.Fn {
		case "KRRDelta":
			got, err = exact.ResponseDelta(g.num("eps0"), int64(g.num("k")), g.num("eps"))
		case "DiscreteGaussianDelta":
			got, err = exact.DiscreteGaussianDelta(math.Sqrt(g.num("sigma2")), g.num("eps"), int64(g.num("sens")))
		case "DiscreteLaplaceDelta":
			got, err = exact.DiscreteLaplaceDelta(1/g.num("a"), g.num("eps"), int64(g.num("sens")))
		default:
			t.Errorf("%s: no function answers %s", g.ID, g.Fn)
		}
		if err != nil || !(math.Abs(got-g.value()) <= g.AbsTol+g.RelTol*g.value()) {
			t.Errorf("%s %s %v = %.17g, want %.17g (%v)", g.ID, g.Fn, g.Params, got, g.value(), err)
		}
	}
}

// Integer noise against the definition: the sum of max(0, P(k) - e^epsilon
// P(k+shift)) over the grid.
func TestDiscreteSingles(t *testing.T) {
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
		if got, err := exact.DiscreteLaplaceDelta(width, epsilon, shift); err != nil || math.Abs(got-laplace) > 1e-12*laplace+1e-14 {
			t.Fatalf("laplace of scale %v, shift %d, epsilon %v: %v, want %v (%v)", width, shift, epsilon, got, laplace, err)
		}
		if got, err := exact.DiscreteGaussianDelta(width, epsilon, shift); err != nil || math.Abs(got-gauss) > 1e-12*gauss+1e-14 {
			t.Fatalf("gaussian of sigma %v, shift %d, epsilon %v: %v, want %v (%v)", width, shift, epsilon, got, gauss, err)
		}
	})
	// Coarse limits: no noise tells everything, no shift to speak of nothing.
	if d, err := exact.DiscreteGaussianDelta(1e-3, 1, 1); err != nil || math.Abs(d-1) > 1e-12 {
		t.Errorf("without noise: %v, %v", d, err)
	}
	if d, err := exact.DiscreteGaussianDelta(1, 1e3, 1); err != nil || d != 0 {
		t.Errorf("a delta of e^-500000: %v, %v", d, err)
	}
	if d, err := exact.DiscreteGaussianDelta(2, 0.5, 1e6); err != nil || math.Abs(d-1) > 1e-12 {
		t.Errorf("a shift beyond all noise: %v, %v", d, err)
	}
}

// The closed forms and the composition, which knows nothing of them, agree on
// single releases.
func TestSinglesAgainstComposition(t *testing.T) {
	for _, eps := range []float64{0, 0.2, 1} {
		for name, c := range map[string]struct {
			closed func() (float64, error)
			ts     []terms.Term
		}{
			"discrete gaussian": {func() (float64, error) { return exact.DiscreteGaussianDelta(3, eps, 2) }, list(dgauss(3, 2, 1))},
			"discrete laplace":  {func() (float64, error) { return exact.DiscreteLaplaceDelta(3, eps, 5) }, list(dlap(3, 5, 1))},
			"laplace":           {func() (float64, error) { return exact.LaplaceDelta(2, 3, eps) }, list(plain(laplace(2, 3), 1))},
			"two categories":    {func() (float64, error) { return exact.ResponseDelta(1.5, 2, eps) }, list(rr(1.5, 2, 1))},
			"nine categories":   {func() (float64, error) { return exact.ResponseDelta(1.5, 9, eps) }, list(rr(1.5, 9, 1))},
		} {
			d, err := c.closed()
			v, err1 := exact.Delta(c.ts, eps)
			if err != nil || err1 != nil || !(d > 0) || math.Abs(v.Delta/d-1) > 1e-11 {
				t.Errorf("%s at %v: %v, composed %+v (%v, %v)", name, eps, d, v, err, err1)
			}
		}
	}
}

// Compositions of pure parts against the optimal composition theorem, summed
// outcome by outcome: two algorithms that share the law of one response only.
func TestPureAgainstKFold(t *testing.T) {
	rows := 0
	for _, e := range []float64{0.05, 0.4, 1.5} {
		for _, n := range []int64{1, 7, 40} {
			for _, twice := range []int64{0, 1, 6} {
				ts, parts := list(ldp(e, n)), []classic.Term{{Epsilon: e, Count: n}}
				if twice > 0 {
					ts, parts = append(ts, ldp(2*e, twice)), append(parts, classic.Term{Epsilon: 2 * e, Count: twice})
				}
				for _, share := range []float64{0, 0.3, 0.8} {
					epsilon := share * e * float64(n+2*twice)
					want, err := classic.KFoldDelta(parts, epsilon)
					if err != nil {
						t.Fatal(err)
					}
					v, err := exact.Delta(ts, epsilon)
					if err != nil || v.Delta < want*(1-1e-13) || v.Delta > want*(1+1e-9)+2*v.Error {
						t.Fatalf("%+v at %v: %+v, want %v (%v)", parts, epsilon, v, want, err)
					}
					if want < 1e-12 || share == 0 {
						continue
					}
					rows++
					back, err := exact.Epsilon(ts, want)
					again, err1 := classic.KFoldEpsilon(parts, want)
					if errors.Join(err, err1) != nil || math.Abs(back.Epsilon-again) > 1e-9*(1+again) {
						t.Fatalf("%+v at %v: epsilon %+v, want %v (%v, %v)", parts, want, back, again, err, err1)
					}
				}
			}
		}
	}
	if rows < 40 {
		t.Errorf("only %d epsilons compared", rows)
	}
}

// Every wrong argument is an error that names it, and no number comes with it.
func TestSinglesRefuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		want string
		call func() (float64, error)
	}{
		{"scale is 0", func() (float64, error) { return exact.LaplaceDelta(0, 1, 1) }},
		{"sensitivity is +Inf", func() (float64, error) { return exact.LaplaceDelta(1, inf, 1) }},
		{"epsilon is NaN", func() (float64, error) { return exact.LaplaceDelta(1, 1, nan) }},
		{"response: epsilon is -1", func() (float64, error) { return exact.ResponseDelta(-1, 2, 1) }},
		{"categories are 1", func() (float64, error) { return exact.ResponseDelta(1, 1, 1) }},
		{"epsilon is NaN", func() (float64, error) { return exact.ResponseDelta(1, 2, nan) }},
		{"scale is +Inf", func() (float64, error) { return exact.DiscreteLaplaceDelta(inf, 1, 1) }},
		{"shift is 0", func() (float64, error) { return exact.DiscreteLaplaceDelta(1, 1, 0) }},
		{"shift is", func() (float64, error) { return exact.DiscreteLaplaceDelta(1, 1, 1<<53+1) }},
		{"epsilon is +Inf", func() (float64, error) { return exact.DiscreteLaplaceDelta(1, inf, 1) }},
		{"sigma is 0", func() (float64, error) { return exact.DiscreteGaussianDelta(0, 1, 1) }},
		{"sigma is 1e+08", func() (float64, error) { return exact.DiscreteGaussianDelta(1e8, 1, 1) }},
		{"shift is -1", func() (float64, error) { return exact.DiscreteGaussianDelta(1, 1, -1) }},
		{"epsilon is -1", func() (float64, error) { return exact.DiscreteGaussianDelta(1, -1, 1) }},
	} {
		got, err := c.call()
		if err == nil || got != 0 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v, %v", c.want, got, err)
		}
	}
}
