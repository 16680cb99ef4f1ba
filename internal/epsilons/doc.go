// Package epsilons compares the epsilon that a paper claims with the account of its releases.
//
// A file of configs/epsilon lists the settings of a paper: the claim with its place in the text, and up to three
// readings of the same setting. Written follows the text, Released follows the authors' program, and Repaired would
// keep the claim. A paper says with a Source of its own what each of them releases (package papers). This package
// prices that: the exact epsilon, a certified bracket around it and, where the paper has one, its own formula. No
// result stands in the files.
//
// An epsilon here is that of what noise covers. Where a reading leaves anything open, the epsilon of the whole run is
// infinite, and the row says what is open and why.
//
// A finished run and a configuration have rows too: those of the account that the run wrote, or that its task forecasts
// (run.Planner).
package epsilons
