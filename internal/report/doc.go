// Package report shows results: as aligned text, Markdown, CSV, JSON, and one self-contained
// HTML page with figures.
//
// This package enforces two rules for every comparison. First, a number is shown only with its
// floor (random, popularity, majority) under the same protocol. Second, the difference to a
// paper's printed number is shown only where the evidence allows it: on real data with the
// authors' split (level A) or with counts equal to the paper's (level B).
package report
