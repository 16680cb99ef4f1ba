// Package rng gives named random streams from one seed.
//
// A stream is identified by (seed, name, index...). Its values depend only on
// that identity and on the position in the stream: not on earlier draws from other
// streams, not on the number of workers. Adding a stream never changes another.
//
//	noise := rng.Seed(7).Stream("aggregate", epoch)
//	row := noise.Sub(step, user)  // a child stream, no allocation
//	row.Normals32(dst)
//
// The generator is Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011): a keyed bijection of a 128-bit
// counter. 64 bits of a stream's identity are the key and 64 are the upper half
// of the counter; the lower half counts blocks of 128 bits. Identities come
// from the bijection itself under a key of another domain, so children of one
// parent never share both halves, and two streams with unrelated names share
// an identity with probability 2^-128.
//
// Stream is a value: a copy has the same identity and a position of its own.
// Methods that draw have pointer receivers and are not safe for concurrent use;
// give each goroutine its own Sub.
//
// The bits are the same on every processor. Normals drawn in bulk are computed
// by a vector kernel where one exists (AVX-512, AVX2) and agree with plain Go
// within 1e-5 relative; PRIVREC_SIMD=off|avx2|avx512 forces a path.
//
// Philox is not a cryptographic generator, and floating-point normals have a
// finite support: both are for research. Draw from Secret or Crypto for data that
// is released.
package rng
