package descent

import (
	"math"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// coin returns true with probability exactly q, since a float64 is a fraction of whole numbers. It compares the digits
// of a uniform number in base 2^64 with those of q until they differ.
func coin(src *rng.Secret, q float64) bool {
	if q >= 1 {
		return true
	}
	for {
		high, rest := digit(q)
		if w := src.Uint64(); w != high || rest == 0 {
			return w < high
		}
		q = rest
	}
}

// digit returns the first digit of q < 1 in base 2^64, and the rest times 2^64. Both are exact.
func digit(q float64) (high uint64, rest float64) {
	x := math.Ldexp(q, 64) // normal, also where q is not
	f := math.Floor(x)
	return uint64(f), x - f
}

// sample draws Poisson samples from cryptographic bits: every one of n examples is in a batch with probability exactly
// rate, independently of all others and of all other batches.
type sample struct {
	n    int64
	rate float64
	src  rng.Secret

	batches, examples int64   // drawn so far
	last              []int32 // every second time, the batch before
	paired, common    int64   // examples of it, and those that were in the next one too
}

// draw overwrites to with the examples of the next batch, ascending, and returns it.
func (s *sample) draw(to []int32) []int32 {
	to = to[:0]
	high, rest := uint64(0), 0.0
	if s.rate < 1 {
		high, rest = digit(s.rate)
	}
	for i := range s.n {
		// coin, without its loop where the first digit decides.
		if s.rate < 1 {
			w := s.src.Uint64()
			if w > high || w == high && (rest == 0 || !coin(&s.src, rest)) {
				continue
			}
		}
		to = append(to, int32(i))
	}
	s.batches++
	s.examples += int64(len(to))
	if s.batches%2 == 1 {
		s.last = append(s.last[:0], to...)
	} else {
		s.paired += int64(len(s.last))
		s.common += mechanism.Common(s.last, to)
	}
	return to
}

// sampleTails is the number of one-sided events of a check.
const sampleTails = 4

// check returns an error if the batches of this process do not fit their law: how many examples they had, and how many
// of one batch were in the next too. Correct ones pass with probability at least 1 - 4 exp(-x).
func (s *sample) check(purpose string, x float64) error {
	total := mechanism.Proportion{What: "number of examples in batches", N: s.batches * s.n, Got: s.examples, P: s.rate}
	if err := total.Check(purpose, x); err != nil {
		return err
	}
	both := mechanism.Proportion{What: "number of examples in two batches in a row", N: s.paired, Got: s.common,
		P: s.rate}
	return both.Check(purpose, x)
}
