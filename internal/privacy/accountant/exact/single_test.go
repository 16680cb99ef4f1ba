package exact_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/reference"
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
		var release terms.Term
		switch g.Fn {
		case "KRRDelta":
			release = rr(g.num("eps0"), int64(g.num("k")), 1)
		case "DiscreteGaussianDelta":
			release = dgauss(math.Sqrt(g.num("sigma2")), g.num("sens"), 1)
		case "DiscreteLaplaceDelta":
			release = dlap(1/g.num("a"), g.num("sens"), 1)
		default:
			t.Errorf("%s: no release answers %s", g.ID, g.Fn)
		}
		v, err := exact.Delta(context.Background(), list(release), g.num("eps"))
		if err != nil || !(math.Abs(v.Delta-g.value()) <= g.AbsTol+g.RelTol*g.value()+v.Error) {
			t.Errorf("%s %s %v = %.17g, want %.17g (%v)", g.ID, g.Fn, g.Params, v.Delta, g.value(), err)
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
		if got, err := exact.Delta(context.Background(), list(dlap(width, s, 1)), epsilon); err != nil || math.Abs(got.Delta-laplace) > 1e-12*laplace+1e-14+got.Error {
			t.Fatalf("laplace of scale %v, shift %d, epsilon %v: %v, want %v (%v)", width, shift, epsilon, got, laplace, err)
		}
		if got, err := exact.Delta(context.Background(), list(dgauss(width, s, 1)), epsilon); err != nil || math.Abs(got.Delta-gauss) > 1e-12*gauss+1e-14+got.Error {
			t.Fatalf("gaussian of sigma %v, shift %d, epsilon %v: %v, want %v (%v)", width, shift, epsilon, got, gauss, err)
		}
	})
}

// Compositions of pure parts against the optimal composition theorem, summed
// outcome by outcome: two algorithms that share the law of one response only.
func TestPureAgainstKFold(t *testing.T) {
	rows := 0
	for _, e := range []float64{0.05, 0.4, 1.5} {
		for _, n := range []int64{1, 7, 40} {
			for _, twice := range []int64{0, 1, 6} {
				ts, parts := list(ldp(e, n)), []reference.Guarantee{{Epsilon: e, Count: n}}
				if twice > 0 {
					ts, parts = append(ts, ldp(2*e, twice)), append(parts,
						reference.Guarantee{Epsilon: 2 * e, Count: twice})
				}
				for _, share := range []float64{0, 0.3, 0.8} {
					epsilon := share * e * float64(n+2*twice)
					want := reference.KFoldDelta(parts, epsilon)
					v, err := exact.Delta(context.Background(), ts, epsilon)
					if err != nil || v.Delta < want*(1-1e-13) || v.Delta > want*(1+1e-9)+2*v.Error {
						t.Fatalf("%+v at %v: %+v, want %v (%v)", parts, epsilon, v, want, err)
					}
					if want < 1e-12 || share == 0 {
						continue
					}
					rows++
					back, err := exact.Epsilon(context.Background(), ts, want)
					again := reference.KFoldEpsilon(parts, want)
					if err != nil || math.Abs(back.Epsilon-again) > 1e-9*(1+again) {
						t.Fatalf("%+v at %v: epsilon %+v, want %v (%v)", parts, want, back, again, err)
					}
				}
			}
		}
	}
	if rows < 40 {
		t.Errorf("only %d epsilons compared", rows)
	}
}
