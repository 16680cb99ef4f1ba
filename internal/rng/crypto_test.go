package rng

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"
	"testing"
)

// Every word is new, also over the ends of the buffer and from several goroutines
// at once. A repeat among n words has probability n²/2^65, here below 1e-10.
func TestSecretWordsAreNew(t *testing.T) {
	const workers, each = 4, 5000
	c := Crypto()
	for name, sources := range map[string]func() Source{
		"shared":   func() Source { return c },
		"one each": func() Source { return &Secret{} },
	} {
		words := make([][]uint64, workers)
		var wg sync.WaitGroup
		for i := range words {
			wg.Go(func() {
				s := sources()
				for range each {
					words[i] = append(words[i], s.Uint64())
				}
			})
		}
		wg.Wait()
		seen := map[uint64]bool{}
		for _, list := range words {
			for _, w := range list {
				if seen[w] {
					t.Fatalf("%s: %#x twice", name, w)
				}
				seen[w] = true
			}
		}
	}
}

// What was given out is not kept, nor what it was made with.
func TestSecretForgets(t *testing.T) {
	var s Secret
	for range 3*len(s.words) + 7 {
		w := s.Uint64()
		for i := s.left; i < len(s.words); i++ {
			if s.words[i] != 0 {
				t.Fatalf("after %#x: word %d is kept", w, i)
			}
		}
		if s.key != [32]byte{} || s.gen != (rand.ChaCha8{}) {
			t.Fatal("the key is kept")
		}
	}
}

// Every fill has a key of its own: words after the same number of draws of sources
// that begin alike are unlike.
func TestSecretKeysAreFresh(t *testing.T) {
	var a Secret
	a.Uint64()
	b := a // copied against the rules, to have two alike
	for range len(a.words) - 1 {
		if a.Uint64() != b.Uint64() {
			t.Fatal("a copy is not one")
		}
	}
	if a.Uint64() == b.Uint64() { // 2^-64
		t.Error("a new key follows from the state before")
	}
}

// Each bit is fair and any two of one word are independent: each of 64 + 2016
// counts within 7.6 standard deviations (3e-14 each, 1e-10 in all).
func TestSecretBits(t *testing.T) {
	const n, limit = 20000, 7.6
	var s Secret
	var ones [64]int
	var pairs [64][64]int
	for range n {
		w := s.Uint64()
		for i := range ones {
			ones[i] += int(w >> i & 1)
		}
		for i := 1; i < 64; i++ {
			x := w ^ bits.RotateLeft64(w, -i)
			for j := range 64 {
				pairs[i][j] += int(x >> j & 1)
			}
		}
	}
	far := func(got int) bool { d := float64(got) - n/2; return d*d > limit*limit*n/4 }
	for i, got := range ones {
		if far(got) {
			t.Errorf("bit %d was 1 in %d of %d", i, got, n)
		}
	}
	for i := 1; i < 64; i++ {
		for j, got := range pairs[i] {
			if far(got) {
				t.Errorf("bits %d and %d were unlike in %d of %d", j, (i+j)%64, got, n)
			}
		}
	}
}

func TestSecretAllocatesNothing(t *testing.T) {
	var s Secret
	if n := testing.AllocsPerRun(1000, func() { s.Uint64() }); n != 0 {
		t.Errorf("%v allocations a word", n)
	}
}

func BenchmarkSecret(b *testing.B) {
	for name, s := range map[string]Source{"secret": &Secret{}, "shared": Crypto(), "chacha8": rand.NewChaCha8([32]byte{})} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.Uint64()
			}
		})
	}
}

// Integers below a bound that is no power of two have one law: chi-square of 7 cells, false alarm 1e-9.
func TestSecretIntN(t *testing.T) {
	const draws = 140_000
	var s Secret
	chi := 0.0
	counts := [7]float64{}
	for range draws {
		counts[s.IntN(7)]++
	}
	for _, n := range counts {
		chi += (n - draws/7) * (n - draws/7) / (draws / 7)
	}
	if limit := 6 + 2*math.Sqrt(6*20.8) + 2*20.8; chi > limit { // Laurent and Massart 2000, lemma 1
		t.Errorf("chi-square is %g, want at most %g: %v", chi, limit, counts)
	}
	defer func() {
		if recover() == nil {
			t.Error("a bound of 0")
		}
	}()
	s.IntN(0)
}
