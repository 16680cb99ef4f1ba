// Package stats says how much of a difference may be chance: intervals for a mean, paired tests between two models
// with scores on the same users, and the correction for many tests at once.
//
// Scores of two models on the same users are paired, so only their differences are tested. A p-value is
// two-sided unless its name says otherwise.
//
// Random numbers come from the caller as a math/rand/v2 Source, so that a report repeats bit for bit.
package stats
