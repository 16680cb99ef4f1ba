package secure

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

func gaussianSampler(t testing.TB, sigma Ratio) GaussianSampler {
	t.Helper()
	g, err := NewGaussianSampler(sigma)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The sampled laws are the laws of the closed forms, in 64 and in 128 bits. Each
// comparison has a false alarm of 1e-9.
func TestDiscreteLaws(t *testing.T) {
	const n = 60_000
	src := mechanismtest.ChaCha(6)
	for _, s := range []struct {
		r     Ratio
		width int64
	}{{Ratio{1, 4}, 1}, {Ratio{1, 2}, 1}, {Ratio{2, 3}, 1}, {Ratio{1, 1}, 1}, {Ratio{3, 2}, 1}, {Ratio{355, 113}, 1}, {Ratio{10, 1}, 1}, {Ratio{100, 1}, 8},
		{Ratio{100003, 977}, 8}, {Ratio{1<<27 - 1, 1 << 10}, 1 << 13}, {Ratio{1 << 40, 1}, 1 << 36}, {Ratio{1<<53 - 1, 1 << 20}, 1 << 29}, {Ratio{1<<50 - 1, 1}, 1 << 46}} {
		g := gaussianSampler(t, s.r)
		law := DiscreteGaussianLaw{s.r.Float64()}
		mechanismtest.CheckLaw(t, "gaussian "+s.r.String(), n, s.width, func() int64 { return g.Sample(src) }, law.PMF)
		g.narrow = 0
		mechanismtest.CheckLaw(t, "wide gaussian "+s.r.String(), n/3, s.width, func() int64 { return g.Sample(src) }, law.PMF)
		l, err := NewLaplaceSampler(s.r)
		if err != nil {
			t.Fatal(err)
		}
		mechanismtest.CheckLaw(t, "laplace "+s.r.String(), n, s.width, func() int64 { return l.Sample(src) }, DiscreteLaplaceLaw{s.r.Float64()}.PMF)
	}
}

// Faults of a sampler that the battery must see, planted: it fails on each.
func TestDiscreteBatterySeesFaults(t *testing.T) {
	g := gaussianSampler(t, Ratio{3, 1})
	ten := gaussianSampler(t, Ratio{9, 1})
	slow, err := NewLaplaceSampler(Ratio{4, 1})
	if err != nil {
		t.Fatal(err)
	}
	src := mechanismtest.ChaCha(7)
	fixed := g.Sample(src)
	for name, draw := range map[string]func() int64{
		"variance for deviation": func() int64 { return ten.Sample(src) },
		"proposals not rejected": func() int64 { return slow.Sample(src) },
		"zero counted twice": func() int64 { // -0 is not drawn again
			x, negative, ok := geometric(src, 4)
			for !ok || !g.accept(src, x.lo) {
				x, negative, ok = geometric(src, 4)
			}
			if negative {
				return -int64(x.lo)
			}
			return int64(x.lo)
		},
		"drawn once":  func() int64 { return fixed },
		"no sign":     func() int64 { return max(g.Sample(src), -g.Sample(src)) },
		"off by one":  func() int64 { return g.Sample(src) + 1 },
		"coarse grid": func() int64 { return g.Sample(src) &^ 1 },
		"rounded normal": func() int64 { // a continuous law on the same grid, of a variance that is a twelfth larger
			s := rng.Seed(src.Uint64()).Stream("n")
			return int64(math.Round(0.8 * s.NormFloat64()))
		},
	} {
		law := DiscreteGaussianLaw{3}
		if name == "rounded normal" {
			law.Sigma = 0.8
		}
		if mechanismtest.CheckLaw(mechanismtest.Quiet{TB: t}, name, 60_000, 1, draw, law.PMF) {
			t.Errorf("%s: passed", name)
		}
	}
}

// The quotient of the acceptance in 128 bits is that of big integers.
func TestDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, maxTerm).Draw(t, "n")
		d := rapid.Uint64Range(1, maxTerm).Draw(t, "d")
		g, err := NewGaussianSampler(Ratio{n, d})
		if err != nil {
			if n/d < maxSteps {
				t.Fatal(err)
			}
			return
		}
		k := rapid.Uint64().Draw(t, "k")
		if rapid.Bool().Draw(t, "near") {
			k %= 8 * g.t
		}
		i, f := g.divide(k)
		j, h := g.divideBig(k)
		if i != j || f != h || !f.less(g.unit) {
			t.Fatalf("%d/%d at %d: %d rest %v, want %d rest %v", n, d, k, i, f, j, h)
		}
		if k < g.narrow {
			a := k*g.slope.lo - g.centre.lo
			if k*g.slope.lo < g.centre.lo {
				a = -a
			}
			if i != a/g.unit.lo || f != (wide{0, a % g.unit.lo}) {
				t.Fatalf("%d/%d at %d in 64 bits differs", n, d, k)
			}
		}
	})
}

func TestDiscreteSamplersRefuse(t *testing.T) {
	for _, bad := range []Ratio{{}, {0, 1}, {1, 0}, {maxTerm + 1, 1}, {1, maxTerm + 1}, {maxSteps, 1}, {maxTerm, 2}} {
		if _, err := NewGaussianSampler(bad); err == nil {
			t.Errorf("gaussian %v was accepted", bad)
		}
		if _, err := NewLaplaceSampler(bad); err == nil {
			t.Errorf("laplace %v was accepted", bad)
		}
	}
	if _, ok := signed(0, true); ok {
		t.Error("-0 was accepted")
	}
	if _, ok := signed(1<<62, false); ok {
		t.Error("2^62 was accepted")
	}
	// A geometric part beyond 4096 scales is drawn again: words that make every
	// coin of exp(-1) succeed.
	s := &script{then: mechanismtest.ChaCha(8)}
	s.words = append(s.words, 1) // u = 0, positive: exp(0)
	s.words = append(s.words, math.MaxUint64)
	for range 1 << 12 {
		s.words = append(s.words, 1<<62) // K = 3
	}
	s.words = append(s.words, math.MaxUint64)
	if _, _, ok := geometric(s, 10); ok || len(s.words) != 0 {
		t.Errorf("4096 scales were accepted, or %d words are left", len(s.words))
	}
}

func readGoldens(t *testing.T, category string, want int) []mechanismtest.Golden {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../../testdata/goldens", category+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Count   int
		Entries []mechanismtest.Golden
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	if f.Count != want || len(f.Entries) != want {
		t.Fatalf("%s: %d rows, header says %d, want %d", category, len(f.Entries), f.Count, want)
	}
	return f.Entries
}

// Closed forms against values of 50-digit arithmetic. Rows of delta and of the
// Rényi divergence are the accountants' and are counted out by name.
func TestGoldenNoiseLaws(t *testing.T) {
	tested, others, worst := 0, 0, 0.0
	for _, g := range append(readGoldens(t, "discrete_noise", 37), readGoldens(t, "laplace", 23)...) {
		d := DiscreteGaussianLaw{math.Sqrt(g.Number("sigma2"))}
		m := channel.Laplace{Scale: g.Number("sens") / g.Number("eps")}
		var got float64
		switch g.Fn {
		case "DiscreteGaussianZ":
			got = d.Normaliser()
		case "DiscreteGaussianVariance":
			got = d.Variance()
		case "DiscreteGaussianPMF":
			got = d.PMF(int64(g.Number("x")))
		case "DiscreteLaplaceVariance":
			got = DiscreteLaplaceLaw{1 / g.Number("a")}.Variance()
		case "LaplaceScale":
			b, err := channel.LaplaceScale(g.Number("eps"), g.Number("sens"))
			if err != nil {
				t.Error(err)
			}
			got = b
		case "LaplaceVariance":
			got = m.Variance()
		case "LaplaceTail":
			got = m.Tail(g.Number("t"))
		case "DiscreteGaussianDelta", "DiscreteLaplaceDelta", "LaplaceRDP", "LaplaceDelta":
			others++
			continue
		default:
			t.Fatalf("unknown row %s", g.Fn)
		}
		tested++
		if e := math.Abs(got-g.Value) / g.Value; !(e <= g.RelTol) {
			t.Errorf("%s %v = %v, want %v", g.Fn, g.Params, got, g.Value)
		} else {
			worst = max(worst, e)
		}
	}
	t.Logf("%d rows, worst relative error %.1e; %d rows of accountants", tested, worst, others)
	if tested != 31 || others != 29 {
		t.Errorf("%d rows tested and %d left out, want 31 and 29", tested, others)
	}
}

// The closed forms agree with plain sums over the law, on both sides of the switch
// between the two series.
func TestClosedFormsAreSums(t *testing.T) {
	for _, s := range []float64{0.05, 0.3, 0.7, 0.999, 1, 1.001, 2.5, 30} {
		g, l := DiscreteGaussianLaw{s}, DiscreteLaplaceLaw{s}
		var mass, square, lapMass, lapSquare, squares, size, sum float64
		for k := int64(-4000); k <= 4000; k++ {
			p, q, x := g.PMF(k), l.PMF(k), float64(k)
			mass, square = mass+p, square+p*x*x
			lapMass, lapSquare = lapMass+q, lapSquare+q*x*x
			squares += p * math.Exp(0.3*x*x/s/s)
			size += q * math.Exp(0.3*math.Abs(x)/s)
			sum += q * math.Exp(-0.6*x/s)
		}
		for name, pair := range map[string][2]float64{
			"gaussian mass": {mass, 1}, "variance": {square, g.Variance()}, "laplace mass": {lapMass, 1}, "laplace variance": {lapSquare, l.Variance()},
			"squares": {math.Log(squares), g.LogSquares(0.3)}, "sizes": {math.Log(size), l.LogSizes(0.3)}, "sum": {math.Log(sum), l.LogSum(-0.6)},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-11*(1e-3+math.Abs(pair[1])) {
				t.Errorf("s %g: %s is %v, want %v", s, name, pair[1], pair[0])
			}
		}
		if v := g.Variance(); !(v <= s*s) {
			t.Errorf("s %g: variance %v is above its square", s, v)
		}
	}
}
