// Package definition computes ranking metrics as other programs define them. One list has a nDCG@10 of 0.08 in one
// library and of 0.09 in another, because they differ in the discount, in the ideal list, in the divisors of Recall and
// MAP, in the averaged users, and in the treatment of ties, of short lists and of items that a list repeats.
//
// [Of] returns a [Definition] by name: privrec (as package metrics), recbole, lenskit, elliot, ranx or trec_eval. Each
// is a file of this package, whose comments give the formulas and where the library has them. What a library lacks or
// cannot compute is left out with the reason, never filled in.
//
// # Notation
//
// L is the list of a user after ordering, l_i its item at position i, from 1. T is the set of the user's relevant
// items, those of the truth with a gain of 1 or more. h_i is 1 where l_i is in T, else 0. g_i is the gain of l_i, 0
// outside T. U are the users that are averaged.
//
// The numbers agree to 1e-6 with those of the libraries on lists with ties, short lists, repeated items and users
// without truth or without a list: internal/evaluation/conformance_test.go holds them to what
// scripts/reference/metrics.py found.
package definition
