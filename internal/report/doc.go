// Package report shows results: aligned text, Markdown, CSV, JSON, and one
// self-contained HTML page with figures.
//
// Two rules hold for every comparison and are enforced here. A number is never
// shown without its floor (random, popularity, majority) under the same
// protocol. And the difference to a paper's printed number is shown only where
// the evidence allows it, on real data with the authors' split (level A) or with
// counts equal to the paper's (level B).
package report
