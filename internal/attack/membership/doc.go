// Package membership computes scores of candidates for membership from those of reference models.
// A candidate is a user, or an interaction of a user; a member was in the training data. The
// package sees numbers alone, so that anything can be attacked; what the numbers mean is said
// above it.
//
//	source                                                            here
//	Carlini et al., "Membership Inference Attacks From First          Online, Offline
//	  Principles", S&P 2022, arXiv 2112.03570, algorithm 1, and
//	  section VI with its global variance
//	Zarifzadeh et al., "Low-Cost High-Power Membership Inference      Relative, RelativeOffline, Correction
//	  Attacks", ICML 2024, arXiv 2312.03262: RMIA
//
// RMIA compares the likelihood of the model under a target x with that under samples z of the population:
//
//	LR(x, z) = [Pr(x|theta) / Pr(x)] / [Pr(z|theta) / Pr(z)],    score of x = share of z with LR(x, z) >= gamma
//
// Departures: reference models of LiRA give a score, not the logit of a probability, since
// recommenders have no probability of a row. One variance is taken for all candidates, as the
// paper does with few models. RMIA's Pr(x|theta) is the probability that the same score is the logit
// of, where the paper has the softmax of a class. The population of a candidate is all the other candidates, members
// among them, where the paper has samples that no model was trained on: it moves every score alike, and changes no
// order. Pr(z) is computed as Pr(x) is.
package membership
