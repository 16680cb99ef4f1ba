package rng

import (
	cryptorand "crypto/rand"
	"math/bits"
	"math/rand/v2"
	"sync"
)

// Source yields uniform 64-bit words; it is math/rand/v2's Source.
type Source interface{ Uint64() uint64 }

var (
	_ Source = (*Stream)(nil)
	_ Source = (*Secret)(nil)
)

// Secret is a source of cryptographic bits for one goroutine, for data that is released. It takes no seed and cannot be
// replayed; the zero value is ready. It must not be copied, and two goroutines must not use it at once, since both
// could get the same word. Crypto may be shared.
//
// ChaCha8 makes the words, a few hundred at a time, under a key that the operating system gives only for these words.
// The key is erased as soon as they are made, and a word as soon as it is given out. So whoever reads the memory learns
// nothing about words given out before, and of later words only the rest of the last few hundred.
type Secret struct {
	words [256]uint64
	left  int
	// gen and key are at rest zero. They are here and not on the stack, where a
	// compiler may leave out writes that are never read.
	gen rand.ChaCha8
	key [32]byte
}

// Uint64 returns the next 64 bits and forgets them.
func (s *Secret) Uint64() uint64 {
	if s.left == 0 {
		s.fill()
	}
	s.left--
	w := s.words[s.left]
	s.words[s.left] = 0
	return w
}

// IntN returns a uniform integer in [0, n) without bias, as Stream.IntN does. It panics if n <= 0.
func (s *Secret) IntN(n int) int {
	if n <= 0 {
		panic("rng: IntN of a non-positive bound")
	}
	bound := uint64(n)
	hi, lo := bits.Mul64(s.Uint64(), bound)
	for reject := -bound % bound; lo < reject; {
		hi, lo = bits.Mul64(s.Uint64(), bound)
	}
	return int(hi)
}

func (s *Secret) fill() {
	cryptorand.Read(s.key[:]) // fills it or ends the program: it never returns an error
	s.gen.Seed(s.key)
	clear(s.key[:])
	for i := range s.words {
		s.words[i] = s.gen.Uint64()
	}
	s.gen = rand.ChaCha8{}
	s.left = len(s.words)
}

// Crypto returns a source of cryptographic bits that is safe for concurrent use,
// see Secret, which is faster.
func Crypto() Source { return &shared{} }

// shared lends a Secret to one goroutine at a time, without a lock.
type shared struct{ pool sync.Pool }

// Uint64 implements Source.
func (c *shared) Uint64() uint64 {
	s, ok := c.pool.Get().(*Secret)
	if !ok {
		s = &Secret{}
	}
	w := s.Uint64()
	c.pool.Put(s)
	return w
}
