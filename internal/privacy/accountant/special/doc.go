// Package special holds the functions that every accountant needs and that lose
// their digits when they are written down as they are defined: the tails of the
// normal distribution far out, sums and differences of numbers known by their
// logarithms, binomial coefficients by theirs.
//
// Everything here is a pure function of its arguments. Where a result is a
// probability it is accurate relative to itself, not to one: a delta of 1e-300
// has as many right digits as one of 0.1.
package special
