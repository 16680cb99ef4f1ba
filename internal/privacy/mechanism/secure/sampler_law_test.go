package secure

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// Faults of the Laplace sampler, planted, that the battery of the Gaussian one must
// see as well.
func TestDiscreteLaplaceBatterySeesFaults(t *testing.T) {
	draws := func(r Ratio) func(src rng.Source) int64 {
		l := mechanismtest.Must(NewLaplaceSampler(r))
		return l.Sample
	}
	right, gauss := draws(Ratio{5, 2}), gaussianSampler(t, Ratio{7, 2})
	src := mechanismtest.ChaCha(9)
	fixed := right(src)
	pmf := DiscreteLaplaceLaw{2.5}.PMF
	if !mechanismtest.CheckLaw(t, "right", 40_000, 1, func() int64 { return right(src) }, pmf) {
		t.Error("the right sampler fails: the faults below would tell nothing")
	}
	squared, half, inverse := draws(Ratio{25, 4}), draws(Ratio{5, 4}), draws(Ratio{2, 5})
	one, two := draws(Ratio{3, 1}), draws(Ratio{2, 1})
	for name, draw := range map[string]func() int64{
		"scale squared":             func() int64 { return squared(src) },
		"half the scale":            func() int64 { return half(src) },
		"rate for scale":            func() int64 { return inverse(src) },
		"rounded up":                func() int64 { return one(src) },
		"rounded down":              func() int64 { return two(src) },
		"a normal of that variance": func() int64 { return gauss.Sample(src) },
		"the larger of two":         func() int64 { return max(right(src), right(src)) },
		"zeros drawn again": func() int64 {
			for {
				if k := right(src); k != 0 {
					return k
				}
			}
		},
		"-0 not drawn again": func() int64 { // 0 twice as often as it should be
			x, negative, ok := geometric(src, 5)
			for !ok {
				x, negative, ok = geometric(src, 5)
			}
			if k := int64(x.lo / 2); !negative {
				return k
			} else {
				return -k
			}
		},
		"one-sided":     func() int64 { return max(right(src), -right(src)) },
		"drawn once":    func() int64 { return fixed },
		"off by one":    func() int64 { return right(src) - 1 },
		"tails cut off": func() int64 { return max(-5, min(5, right(src))) },
	} {
		if mechanismtest.CheckLaw(mechanismtest.Quiet{TB: t}, name, 40_000, 1, draw, pmf) {
			t.Errorf("%s: passed", name)
		}
	}
}

// A sampler is a function of its ratio as a number and of the words it reads: an
// unreduced ratio has the same law, the same words give the same draws.
func TestSamplersDependOnTheNumber(t *testing.T) {
	for _, c := range []struct{ a, b Ratio }{{Ratio{1, 1}, Ratio{1 << 20, 1 << 20}}, {Ratio{3, 2}, Ratio{999, 666}}, {Ratio{10, 1}, Ratio{1 << 50 / 5, 1 << 50 / 50}}} {
		if math.Abs(c.a.Float64()-c.b.Float64()) > 1e-12 {
			t.Fatalf("%v is not %v", c.a, c.b)
		}
		src := mechanismtest.ChaCha(3)
		law := DiscreteGaussianLaw{c.a.Float64()}
		g := gaussianSampler(t, c.b)
		mechanismtest.CheckLaw(t, "gaussian "+c.b.String(), 20_000, 1, func() int64 { return g.Sample(src) }, law.PMF)
		l := mechanismtest.Must(NewLaplaceSampler(c.b))
		mechanismtest.CheckLaw(t, "laplace "+c.b.String(), 20_000, 1, func() int64 { return l.Sample(src) }, DiscreteLaplaceLaw{c.a.Float64()}.PMF)
		h := gaussianSampler(t, c.a)
		x, y, z := mechanismtest.ChaCha(4), mechanismtest.ChaCha(4), mechanismtest.ChaCha(5)
		same, other := 0, 0
		for range 200 {
			k := h.Sample(x)
			if k == h.Sample(y) {
				same++
			}
			if k == h.Sample(z) {
				other++
			}
		}
		if same != 200 || other == 200 {
			t.Errorf("%v: %d of 200 draws are those of the same words, %d of other words", c.a, same, other)
		}
	}
}

// Sums: of n discrete Laplace values the variance is n times one's and the
// characteristic function its power; the difference of two geometric numbers is one.
// Exact laws by convolution, none of them a closed form of ours.
func TestDiscreteLaplaceIsADifferenceOfGeometrics(t *testing.T) {
	for _, b := range []float64{0.3, 1, 2.5} {
		r := math.Exp(-1 / b)
		geometric := make([]float64, 400)
		for i := range geometric {
			geometric[i] = (1 - r) * math.Pow(r, float64(i))
		}
		law := DiscreteLaplaceLaw{b}
		for k := int64(-20); k <= 20; k++ {
			p := 0.0
			for i, x := range geometric {
				if j := int64(i) - k; j >= 0 && j < 400 {
					p += x * geometric[j]
				}
			}
			if math.Abs(p-law.PMF(k)) > 1e-14 {
				t.Errorf("b %g: P(%d) is %g, the difference has %g", b, k, law.PMF(k), p)
			}
		}
	}
}

// The privacy of one draw, from the probabilities alone: a shift by one step changes
// a discrete Laplace probability by e^(1/b) at most and everywhere, and a discrete
// normal one by exp((2k+1)/(2 sigma²)); both laws are symmetric and fall from 0.
func TestDiscreteLawsUnderAShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := math.Exp(rapid.Float64Range(-1, 4).Draw(t, "log scale"))
		k := rapid.Int64Range(-200, 200).Draw(t, "k")
		g, l := DiscreteGaussianLaw{s}, DiscreteLaplaceLaw{s}
		if g.PMF(k) != g.PMF(-k) || l.PMF(k) != l.PMF(-k) {
			t.Fatalf("not symmetric at %d", k)
		}
		if p, q := l.PMF(k), l.PMF(k+1); p > 1e-280 && q > 1e-280 {
			if d := math.Abs(math.Abs(math.Log(p/q)) - 1/s); d > 1e-9 {
				t.Fatalf("scale %g: from %d to %d by e^%g, want e^±%g", s, k, k+1, math.Log(p/q), 1/s)
			}
		}
		if p, q := g.PMF(k), g.PMF(k+1); p > 1e-280 && q > 1e-280 {
			if want := (2*float64(k) + 1) / (2 * s * s); math.Abs(math.Log(p/q)-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("sigma %g: from %d to %d by e^%g, want e^%g", s, k, k+1, math.Log(p/q), want)
			}
		}
		if a := max(k, -k); g.PMF(a) < g.PMF(a+1) || l.PMF(a) < l.PMF(a+1) {
			t.Fatalf("rises from %d", a)
		}
	})
}

// Ratios stand for the number they were made of, through String and Float64 too;
// what has no short binary fraction, or no place, is refused.
func TestRatiosAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Ldexp(float64(rapid.Int64Range(1, 1<<30).Draw(t, "m")), rapid.IntRange(-45, 22).Draw(t, "e"))
		r, err := RatioOf(x)
		if err != nil {
			t.Fatal(err)
		}
		exact, ok := new(big.Rat).SetString(r.String())
		if !ok || exact.Cmp(mechanismtest.Rat(x)) != 0 || r.Float64() != x || r.Validate() != nil {
			t.Fatalf("%v became %s", x, r)
		}
		if r.Den&(r.Den-1) != 0 || r.Den > 1 && r.Num%2 == 0 {
			t.Fatalf("%s is not reduced", r)
		}
	})
	for _, x := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1<<53 + 2, 0x1p-54, math.Pi * 0x1p-10, 5e-324} {
		if r, err := RatioOf(x); err == nil || !mechanismtest.ContainsAll(err.Error(), "ratio") {
			t.Errorf("%v became %v (%v)", x, r, err)
		}
	}
	for _, r := range []Ratio{{}, {1, 0}, {0, 1}, {maxTerm + 1, 1}, {1, maxTerm + 1}} {
		if err := r.Validate(); err == nil || !mechanismtest.ContainsAll(err.Error(), r.String(), "2^53") {
			t.Errorf("%v: %v", r, err)
		}
	}
}

// exp(-x) exp(-y) = exp(-(x+y)): two coins in a row are the coin of the sum, for
// small ratios and large, proper and not; each count is within the band that a
// binomial leaves with probability 2e-9 (Bernstein). The coins 1-x and e^-(x²) are
// not within it.
func TestBernoulliExpIsMultiplicative(t *testing.T) {
	const n = 60_000
	for _, c := range []struct{ x, y, sum Ratio }{
		{Ratio{1, 3}, Ratio{1, 6}, Ratio{1, 2}}, {Ratio{2, 3}, Ratio{1, 3}, Ratio{1, 1}}, {Ratio{0, 1}, Ratio{7, 5}, Ratio{7, 5}},
		{Ratio{1<<60 - 1, 1 << 60}, Ratio{1, 1 << 60}, Ratio{1, 1}}, {Ratio{5, 4}, Ratio{5, 4}, Ratio{5, 2}},
	} {
		src := mechanismtest.ChaCha(12)
		toss := func(r Ratio) bool { return mechanismtest.Must(BernoulliExp(src, r)) }
		p := math.Exp(-c.sum.Float64())
		both := mechanism.Proportion{What: "two coins", P: p}
		one := mechanism.Proportion{What: "one coin", P: p}
		for range n {
			a := toss(c.x)
			b := toss(c.y)
			both.Count(a && b)
			one.Count(toss(c.sum))
		}
		for _, check := range []mechanism.Proportion{both, one} {
			if err := check.Check("exp", math.Log(1e9)); err != nil {
				t.Errorf("%v + %v: %v", c.x, c.y, err)
			}
			for name, wrong := range map[string]float64{"1-x": max(0, 1-c.sum.Float64()), "x squared": math.Exp(-c.sum.Float64() * c.sum.Float64())} {
				check.P = wrong
				if math.Abs(wrong-p) > 0.02 && check.Check("exp", math.Log(1e9)) == nil {
					t.Errorf("%v: %s passes", c.sum, name)
				}
			}
		}
	}
	if _, err := BernoulliExp(mechanismtest.ChaCha(1), Ratio{1, 0}); err == nil || !mechanismtest.ContainsAll(err.Error(), "denominator 0") {
		t.Errorf("a ratio without denominator: %v", err)
	}
	words := &Meter{Src: mechanismtest.ChaCha(1)}
	if yes, err := BernoulliExp(words, Ratio{0, 5}); !yes || err != nil {
		t.Errorf("exp(0) is %v (%v)", yes, err)
	}
	for _, far := range []Ratio{{1 << 62, 1}, {math.MaxUint64, 1}, {math.MaxUint64, 3}} { // ends at the first failure
		words := &Meter{Src: mechanismtest.ChaCha(2)}
		if yes, err := BernoulliExp(words, far); yes || err != nil || words.N > 200 {
			t.Errorf("exp(-%v) is %v after %d words (%v)", far, yes, words.N, err)
		}
	}
}

// Even draws of few bits: below over every n up to 40, by counts.
func TestUniformDrawsOfSmallRanges(t *testing.T) {
	src := mechanismtest.ChaCha(8)
	for _, n := range []uint64{1, 2, 3, 7, 40} {
		counts := make([]int, n)
		for range 8000 {
			counts[below(src, n)]++
		}
		mechanismtest.CheckCounts(t, "below", counts, func(int) float64 { return 1 / float64(n) })
	}
}
