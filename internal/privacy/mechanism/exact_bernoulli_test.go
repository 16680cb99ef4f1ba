package mechanism

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/rng"
)

// chacha is a good generator with a fixed key: tests repeat.
func chacha(key byte) rng.Source { return rand.NewChaCha8([32]byte{key}) }

// script answers with the given words, then with those of a generator.
type script struct {
	words []uint64
	used  int
	then  rng.Source
}

func (s *script) Uint64() uint64 {
	s.used++
	if len(s.words) == 0 {
		return s.then.Uint64()
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// compare decides w 2^-64 + v 2^-128 < f/b in big integers, and whether the digits
// up to there leave it open.
func compare(w, v uint64, f, b *big.Int) (less, open bool) {
	u := new(big.Int).Lsh(new(big.Int).SetUint64(w), 64)
	u.Add(u, new(big.Int).SetUint64(v))
	at := new(big.Int).Lsh(f, 128)
	lo := new(big.Int).Mul(u, b)
	hi := new(big.Int).Mul(u.Add(u, big.NewInt(1)), b)
	return hi.Cmp(at) <= 0, lo.Cmp(at) < 0 && hi.Cmp(at) > 0
}

// near returns a word near the first 64 digits of f/b, or any.
func near(t *rapid.T, f, b *big.Int) uint64 {
	if rapid.Bool().Draw(t, "any") {
		return rapid.Uint64().Draw(t, "word")
	}
	q := new(big.Int).Lsh(f, 64)
	return q.Quo(q, b).Uint64() + rapid.Uint64Range(0, 4).Draw(t, "off") - 2
}

// The digit by digit comparison is that of the numbers, ties included.
func TestBernoulliComparesNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "b")
		if rapid.Bool().Draw(t, "small") {
			b = b%1000 + 1
		}
		f := rapid.Uint64Range(0, b).Draw(t, "f")
		bf, bb := new(big.Int).SetUint64(f), new(big.Int).SetUint64(b)
		w, v := near(t, bf, bb), rapid.Uint64().Draw(t, "v")
		want, open := compare(w, v, bf, bb)
		if got := bernoulli(&script{words: []uint64{w, v}, then: chacha(1)}, f, b); got != want && !open {
			t.Fatalf("%d/%d with %x %x: %v", f, b, w, v, got)
		}
		if got := bernoulliWide(&script{words: []uint64{w, v}, then: chacha(1)}, wide{0, f}, wide{0, b}); got != want && !open {
			t.Fatalf("wide %d/%d with %x %x: %v", f, b, w, v, got)
		}
		if f == 1 {
			if got := belowInverse(&script{words: []uint64{v}, then: chacha(1)}, w, b); got != want && !open {
				t.Fatalf("1/%d with %x %x: %v", b, w, v, got)
			}
		}
	})
}

func TestBernoulliWideComparesNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := wide{rapid.Uint64Range(0, 1<<62).Draw(t, "hi"), rapid.Uint64Min(1).Draw(t, "lo")}
		f := wide{rapid.Uint64Range(0, b.hi).Draw(t, "fhi"), rapid.Uint64().Draw(t, "flo")}
		if b.less(f) {
			f, b = b, f
		}
		bf, bb := f.big(), b.big()
		w, v := near(t, bf, bb), rapid.Uint64().Draw(t, "v")
		want, open := compare(w, v, bf, bb)
		if got := bernoulliWide(&script{words: []uint64{w, v}, then: chacha(1)}, f, b); got != want && !open {
			t.Fatalf("%v/%v with %x %x: %v", f, b, w, v, got)
		}
	})
}

// K of a word, by the definition: K > k if and only if the uniform number is below
// 1/k!. All thresholds and their neighbours, where the second word decides.
func TestBernoulliExp1AtItsThresholds(t *testing.T) {
	factorial := new(big.Int).SetInt64(1)
	var words []uint64
	for k := int64(2); k <= 12; k++ {
		factorial.Mul(factorial, big.NewInt(k))
		q := new(big.Int).Lsh(big.NewInt(1), 64)
		at := q.Quo(q, factorial).Uint64()
		words = append(words, at-2, at-1, at, at+1, at+2)
	}
	words = append(words, 0, 1, math.MaxUint64)
	for _, w := range words {
		for _, v := range []uint64{0, 1 << 62, 1 << 63, math.MaxUint64 - 1} {
			k, f := int64(1), big.NewInt(1)
			for ; k <= 12; k++ {
				if less, open := compare(w, v, big.NewInt(1), f.Mul(f, big.NewInt(k))); !less && !open {
					break
				}
			}
			got := bernoulliExp1(&script{words: []uint64{w, v}, then: chacha(2)})
			if k <= 12 && got != (k%2 == 1) {
				t.Errorf("%x %x: %v, want K = %d", w, v, got, k)
			}
		}
	}
	// Above 12 coins of 1/13, 1/14, ... follow.
	if bernoulliExp1(&script{words: []uint64{5, 0, math.MaxUint64}, then: chacha(2)}) { // 13 succeeds, 14 fails
		t.Error("K = 14 counts as odd")
	}
	if !bernoulliExp1(&script{words: []uint64{5, math.MaxUint64}, then: chacha(2)}) {
		t.Error("K = 13 counts as even")
	}
}

// Frequencies within 6.11 standard deviations: false alarm 1e-9 each.
func TestBernoulliExp(t *testing.T) {
	src := chacha(3)
	const n = 100_000
	see := func(name string, p float64, coin func() bool) {
		t.Helper()
		got := 0
		for range n {
			if coin() {
				got++
			}
		}
		if d := math.Abs(float64(got) - n*p); d > 6.11*math.Sqrt(n*p*(1-p))+13 {
			t.Errorf("%s: %d of %d, want a share of %g", name, got, n, p)
		}
	}
	for _, x := range []Ratio{{0, 1}, {1, 1000}, {1, 3}, {999, 1000}, {1, 1}, {3, 2}, {7, 1}, {1<<52 + 1, 1 << 53}, {3 << 40, 1 << 40}} {
		see(x.String(), math.Exp(-x.Float64()), func() bool {
			ok, err := BernoulliExp(src, x)
			if err != nil {
				t.Fatal(err)
			}
			return ok
		})
	}
	see("exp(-1/2)", math.Exp(-0.5), func() bool { return bernoulliExpHalf(src) })
	for _, r := range []float64{0, 0.25, 0.75} {
		f := uint64(r * (1 << 40))
		coin := func() bool { return bernoulli(src, f, 1<<40) }
		for i := range uint64(3) {
			z := float64(i) + r
			see("gaussParts", math.Exp(-z*z/2), func() bool { return gaussParts(src, i, coin) })
		}
		see("gaussTail64", math.Exp(-r*r/2), func() bool { return gaussTail64(src, f, 1<<40) })
	}
	if _, err := BernoulliExp(src, Ratio{1, 0}); err == nil {
		t.Error("a denominator of 0 was accepted")
	}
}

// Coins of small probability late in a series: what no sample would show. The
// scripts make all coins before succeed (word 0), then one fail.
func TestSeriesCountTheirCoins(t *testing.T) {
	fail := uint64(math.MaxUint64)
	zeros := func(n int) *script { return &script{words: append(make([]uint64, n), fail), then: chacha(4)} }
	for k := 1; k <= 40; k++ {
		words := k - 1 // one word to a coin of f/(k b) ...
		if k > 16 {
			words = 15 + 2*(k-16) // ... and two from 16 on
		}
		if got := bernoulliExp(zeros(words), 1, 2); got != (k%2 == 1) {
			t.Errorf("bernoulliExp with K = %d: %v", k, got)
		}
		if got := bernoulliExpHalf(zeros(k - 1)); got != (k%2 == 1) {
			t.Errorf("bernoulliExpHalf with K = %d: %v", k, got)
		}
		words = 2 * (k - 1)
		if k > 8 {
			words = 14 + 3*(k-8)
		}
		if got := gaussTail64(zeros(words), 1, 2); got != (k%2 == 1) {
			t.Errorf("gaussTail64 with K = %d: %v", k, got)
		}
	}
}

func TestRatioOf(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want Ratio
	}{{1, Ratio{1, 1}}, {0.75, Ratio{3, 4}}, {1 << 53, Ratio{1 << 53, 1}}, {0x1p-53, Ratio{1, 1 << 53}}, {1 + 0x1p-52, Ratio{1<<52 + 1, 1 << 52}}} {
		got, err := RatioOf(c.x)
		if err != nil || got != c.want || got.Float64() != c.x || got.Validate() != nil {
			t.Errorf("%g: %v, %v", c.x, got, err)
		}
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), 0x1p54, 0x1p-54, 1e-9} {
		if r, err := RatioOf(bad); err == nil {
			t.Errorf("%g became %v", bad, r)
		}
	}
	for _, bad := range []Ratio{{0, 1}, {1, 0}, {maxTerm + 1, 1}, {1, maxTerm + 1}} {
		if bad.Validate() == nil {
			t.Errorf("%v is valid", bad)
		}
	}
}

func TestBelowIsUniform(t *testing.T) {
	src := chacha(5)
	counts := make([]int, 7)
	for range 70_000 {
		counts[below(src, 7)]++
	}
	checkCounts(t, "below", counts, func(int) float64 { return 1.0 / 7 })
	// 2^64 is 1 mod 3: the word 0 alone is refused.
	s := &script{words: []uint64{0, math.MaxUint64}, then: src}
	if v := below(s, 3); v != 2 || s.used != 2 {
		t.Errorf("%d after %d words, want 2 after 2", v, s.used)
	}
}
