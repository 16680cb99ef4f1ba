// Package numeric has the searches that accountants, audits and mechanisms share, and the functions that lose digits if
// they are computed as they are defined: sums and differences of numbers given by their logarithms, tails of the normal
// distribution far out, logarithms of factorials and of binomial coefficients.
//
// All functions are pure. A result that is a probability is accurate relative to itself, not to one: a delta of 1e-300
// has as many right digits as one of 0.1.
package numeric
