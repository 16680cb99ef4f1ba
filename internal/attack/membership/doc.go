// Package membership turns what an attacker computed of candidates into how well it tells members
// from others. A candidate is a user, or an interaction of a user; a member was in the training
// data. The package sees numbers alone, so that anything can be attacked; what the numbers mean
// is said above it.
//
//	source                                                            here
//	Carlini et al., "Membership Inference Attacks From First          Online, Offline
//	  Principles", S&P 2022, arXiv 2112.03570, algorithm 1, and
//	  section VI with its global variance
//	the same, section III: rates at low false positive rates          metrics.ROC
//	Davison and Hinkley, "Bootstrap Methods and their Application",   Compare
//	  1997, section 3.8, strategy 1
//
// Departures: reference models of LiRA give a score, not the logit of a probability, since
// recommenders have no probability of a row. One variance is taken for all candidates, as the
// paper does with few models. A floor may look at the answers to choose its direction, so that
// what is left of an attack beyond it errs downward.
package membership
