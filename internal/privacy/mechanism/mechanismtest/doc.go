// Package mechanismtest has helpers for the tests of mechanisms: ledgers, comparisons of counts
// with laws (chi-square, with a false alarm of 1e-9), rational numbers, and the values of
// testdata. Programs do not import it.
package mechanismtest
