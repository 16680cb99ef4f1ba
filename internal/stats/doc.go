// Package stats says how much of a difference is noise: intervals for a mean, paired tests between two
// models scored on the same users, and the correction for asking many questions at once.
//
// Two rules of use. Scores of two models on the same users are paired, so only their differences are
// tested. And a p-value here is two-sided unless its name says otherwise.
//
// Random numbers come from the caller as a math/rand/v2 Source, so that a report repeats bit for bit.
package stats
