// Package membership computes scores of candidates for membership from those of reference models.
// A candidate is a user, or an interaction of a user; a member was in the training data. The
// package sees numbers alone, so that anything can be attacked; what the numbers mean is said
// above it.
//
//	source                                                            here
//	Carlini et al., "Membership Inference Attacks From First          Online, Offline
//	  Principles", S&P 2022, arXiv 2112.03570, algorithm 1, and
//	  section VI with its global variance
//
// Departures: reference models of LiRA give a score, not the logit of a probability, since
// recommenders have no probability of a row. One variance is taken for all candidates, as the
// paper does with few models.
package membership
