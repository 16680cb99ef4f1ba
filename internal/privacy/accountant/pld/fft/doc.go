// Package fft computes discrete Fourier transforms of real sequences, with proved bounds of their
// rounding.
//
// # Transform
//
// A real sequence of length n is the complex one of length m = n/2 whose real parts are the entries
// at even places and whose imaginary parts are those at odd places. That is transformed in the order of
// Stockham (Van Loan, Computational Frameworks for the Fast Fourier Transform, section 1.7): every
// stage reads and writes whole rows, and no bits are reversed. Stages have radix 4, and the last has radix
// 2 if the logarithm of m is odd. The coefficients Z of the complex sequence give those of the real
// one,
//
//	X[k] = (Z[k] + conj Z[m-k])/2 - i w^k (Z[k] - conj Z[m-k])/2,   w = exp(-2 pi i/n)
//
// # Rounding
//
// Let u be 2^-53 and S the sum of the absolute entries of the sequence. The computed coefficients are
// within Error(n) S of the exact ones, each of them, as long as nothing overflows or underflows.
//
// Twiddles. Each is computed by itself, from an angle of at most pi/4, and put into its octant by
// symmetry. The angle is the rounded 2 pi times a power of two, times an integer: wrong by 2 units,
// so by less than 1.6 u. Sine and cosine are wrong by less than 2 u each. So a twiddle is wrong by less than
// 1.6 u + 2 sqrt(2) u < 5 u.
//
// Stages. Let V of a number within the transform be the sum of the absolute entries that reach it; no
// number is above its V. A stage adds numbers of disjoint entries, so that the V of a sum is the sum of the V. Of
// a number within e V, a stage makes one that is within (e + c u) V: two additions are wrong by at
// most u V each, and a complex product by sqrt(5) u V (Brent, Percival, Zimmermann, "Error bounds on
// complex floating-point multiplication", 2007) and by the error of the twiddle, 5 u V. The factors
// 1, -1, i, -i are exact. So c is less than 10, terms of u² included, and after s stages every Z[k] is within 10 s u S,
// as the absolute entries of the complex sequence sum to at most S.
//
// Last step. X[k] takes Z[k] and conj Z[m-k] with the factors (1 - i w^k)/2 and (1 + i w^k)/2, whose
// absolute values sum to at most sqrt(2). So the error of the stages grows to 15 s u S at most. The step itself
// adds to that two additions and a product, and two additions before: less than 15 u S.
//
// The way back makes Z of X by the same factors, twice as large: the absolute values of Z sum to at most sqrt(2) times
// those of all n coefficients. Stages with these add 15 s u S, where S is the sum over
// all n coefficients, and the first step again less than 15 u S.
//
// With s at most log2(n)/2, that is less than 32 u for each stage and for one more, which is Error.
//
// # Low coefficients
//
// Low computes the first coefficients only. Blocks of a length b have one centre each. Within a
// block, with t from -1 to 1 over it and a = pi k b/n the half angle that coefficient k turns over it, the
// expansion of Jacobi and Anger
//
//	exp(-i a t) = J_0(a) + 2 sum over p of (-i)^p J_p(a) T_p(t)
//
// turns a coefficient into twelve sums of the blocks' Chebyshev moments, each of which is
// one transform of length n/b. As |J_p(a)| <= (a/2)^p/p!, and a/2 is at most pi/16 here, the orders left out are
// less than 2e-17 of S. A moment of r blocks at the same place of the period is a sum of at most b/2 + 1 + r
// terms of both halves of a block, and wrong by as many units of the sum of absolute entries. T_p comes from three
// terms, and is wrong by less than 3 p² u; with the factors 2 J_p(a) all of that is less than 3 u S. The
// factors sum to at most 2 exp(pi/16) - 1 < 1.44, and their errors, those of the turn to
// the centre and of twelve sums are less than 37 u S. So a coefficient is within
//
//	(1.44 (Error(n/b) + (b/2 + 8 + r) u) + 40 u + 2e-17) S
package fft
