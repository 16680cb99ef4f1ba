package secure

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

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

// near returns two words near the first 128 digits of f/b, or any.
func near(r *rand.Rand, f, b *big.Int) (w, v uint64) {
	if r.IntN(4) == 0 {
		return r.Uint64(), r.Uint64()
	}
	q := new(big.Int).Lsh(f, 128)
	q.Quo(q, b)
	q.Add(q, big.NewInt(r.Int64N(5)-2)) // the second word decides, up or down
	if r.IntN(2) == 0 {
		q.Add(q, new(big.Int).Lsh(big.NewInt(r.Int64N(3)-1), 64)) // or the first
	}
	return new(big.Int).Rsh(q, 64).Uint64(), new(big.Int).And(q, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

// sized is a number of up to so many bits, all sizes alike.
func sized(r *rand.Rand, bits int) uint64 { return r.Uint64() >> (64 - 1 - r.IntN(bits)) }

// The digit by digit comparison is that of the numbers, ties included.
func TestBernoulliComparesNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40_000 {
		b := max(1, sized(r, 64))
		f := r.Uint64N(b)
		if r.IntN(3) == 0 {
			f = min(1, b-1)
		}
		bf, bb := new(big.Int).SetUint64(f), new(big.Int).SetUint64(b)
		w, v := near(r, bf, bb)
		want, open := compare(w, v, bf, bb)
		if open {
			continue
		}
		if got := bernoulli(&script{words: []uint64{w, v}, then: mechanismtest.ChaCha(1)}, f, b); got != want {
			t.Fatalf("%d/%d with %x %x: %v", f, b, w, v, got)
		}
		if got := bernoulliWide(&script{words: []uint64{w, v}, then: mechanismtest.ChaCha(1)}, wide{0, f}, wide{0, b}); got != want {
			t.Fatalf("wide %d/%d with %x %x: %v", f, b, w, v, got)
		}
		if f == 1 {
			if got := belowInverse(&script{words: []uint64{v}, then: mechanismtest.ChaCha(1)}, w, b); got != want {
				t.Fatalf("1/%d with %x %x: %v", b, w, v, got)
			}
		}
	}
}

func TestBernoulliWideComparesNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 40_000 {
		b, f := wide{sized(r, 63), r.Uint64()}, wide{sized(r, 63), r.Uint64()}
		if b.less(f) {
			f, b = b, f
		}
		if f == b {
			continue
		}
		bf, bb := f.big(), b.big()
		w, v := near(r, bf, bb)
		want, open := compare(w, v, bf, bb)
		if got := bernoulliWide(&script{words: []uint64{w, v}, then: mechanismtest.ChaCha(1)}, f, b); got != want && !open {
			t.Fatalf("%v/%v with %x %x: %v", f, b, w, v, got)
		}
	}
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
			got := bernoulliExp1(&script{words: []uint64{w, v}, then: mechanismtest.ChaCha(2)})
			if k <= 12 && got != (k%2 == 1) {
				t.Errorf("%x %x: %v, want K = %d", w, v, got, k)
			}
		}
	}
	// Above 12 coins of 1/13, 1/14, ... follow.
	if bernoulliExp1(&script{words: []uint64{5, 0, math.MaxUint64}, then: mechanismtest.ChaCha(2)}) { // 13 succeeds, 14 fails
		t.Error("K = 14 counts as odd")
	}
	if !bernoulliExp1(&script{words: []uint64{5, math.MaxUint64}, then: mechanismtest.ChaCha(2)}) {
		t.Error("K = 13 counts as even")
	}
}

// Frequencies within 6.11 standard deviations: false alarm 1e-9 each.
func TestBernoulliExp(t *testing.T) {
	src := mechanismtest.ChaCha(3)
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
	zeros := func(n int) *script {
		return &script{words: append(make([]uint64, n), fail), then: mechanismtest.ChaCha(4)}
	}
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
	src := mechanismtest.ChaCha(5)
	counts := make([]int, 7)
	for range 70_000 {
		counts[below(src, 7)]++
	}
	mechanismtest.CheckCounts(t, "below", counts, func(int) float64 { return 1.0 / 7 })
	// 2^64 is 1 mod 3: the word 0 alone is refused.
	s := &script{words: []uint64{0, math.MaxUint64}, then: src}
	if v := below(s, 3); v != 2 || s.used != 2 {
		t.Errorf("%d after %d words, want 2 after 2", v, s.used)
	}
}
