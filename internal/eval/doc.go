// Package eval ranks items for samples in bounded memory and turns ranks into per-sample, per-user and
// mean scores.
//
// Ranking is full: every item of the scorer is a candidate unless Options says otherwise. The rank of
// target y is 1 + #{j : s_j > s_y} + #{j < y : s_j = s_y}, found by counting against the target's score,
// without sorting. A score that is not finite is an error that names the sample.
//
// Samples are scored in chunks. The size of a chunk depends only on the number of items, so memory is one
// chunk of scores for any number of samples, and results are the same bytes for any number of workers.
package eval
